/**
 * Measures the drift of judges: asks them about fixed sets of runs at an interval and compares the verdicts with the first ones. It asks one
 * question at a time and rests after each, for incoming runs come first. It stores each answer before the next question, so a crash costs one.
 */
import { createHash } from 'node:crypto';
import { driftCounts, driftFigures, driftWordOf } from '../analytics/drift.ts';
import type { Config, EvaluatorConfig } from '../config/config.ts';
import { promptOf } from '../judges/client/prompt.ts';
import type { Run } from '../model/agent-trace.ts';
import { type JsonObject, jsonText, type JsonValue, member } from '../model/json.ts';
import type { DriftAnswer, DriftMeasurement, DriftResult, DriftSeries, DriftStore, DriftWord } from '../model/store/drift-store.ts';
import type { Store } from '../model/store/store.ts';
import { expectedOf, type ToJudge } from '../pipeline/evaluation/evaluate.ts';
import { redactedRun } from '../pipeline/evaluation/redacted-run.ts';
import type { AskEnd } from '../pipeline/jury/judge-driver.ts';
import type { Redaction } from '../redaction/redaction.ts';
import { periodicTask } from '../runtime/periodic-task.ts';
import type { JudgePool } from './judge-pool.ts';
import { verdictWord } from '../model/verdict.ts';
import { type MetricRegistry, withdraw } from '../telemetry/registry.ts';
import type { Labels } from '../telemetry/telemetry.ts';
import type { TaskContext } from '../telemetry/context.ts';
import { present } from '../model/present.ts';

interface DriftWatchOptions extends Omit<TaskContext, 'telemetry'> {
  readonly store: Pick<Store, 'judgeDrift'>;
  /** The configuration in force. */
  readonly config: () => Pick<Config, 'evaluators' | 'judges'>;
  readonly redaction: () => Redaction | undefined;
  readonly ask: JudgePool['askAnew'];
  /** False while another process on the same store measures. Default: this process measures. */
  readonly isOwn?: () => boolean;
  /** `false` under pressure: the watch then asks nothing. */
  readonly isCalm: () => boolean;
  readonly telemetry: Pick<MetricRegistry, 'add' | 'replace'>;
}

export interface DriftWatch {
  /** Asks no further question, and does not wait for the one in progress. */
  stop(): Promise<void>;
}

/** Between two checks whether a measurement is due. */
const idleMs = 60_000;
/** After a question that no judge could take, or a fault of the store. */
const putOffMs = 60_000;
/** A measurement spreads its questions over this share of its interval. */
const spreadShare = 0.1;
const restMsMax = 10_000;
const restMsMin = 200;
/** A measurement counts when this share of its runs has a verdict other than failed. */
const answeredShareMin = 0.9;
/** Attempts for one run in one measurement. */
const triesMax = 2;

export function driftWatch({
  store: { judgeDrift: store },
  config,
  redaction,
  ask,
  isOwn = () => true,
  isCalm,
  telemetry,
  clock,
  sleep,
  onFault,
}: DriftWatchOptions): DriftWatch {
  const shutdown = new AbortController();
  const now = (): number => Math.floor(clock.nowMs() * 1_000);
  let read: { readonly config: unknown; readonly redaction: unknown; readonly watches: readonly Watch[] } | undefined;

  /** The time of the next step, by the name of the watch: a judge that is down delays no other. */
  const notBefore = new Map<string, number>();

  /** Hashes the questions once for each configuration. */
  function watches(): readonly Watch[] {
    const [current, own] = [config(), redaction()];
    if (read?.config !== current || read.redaction !== own) read = { config: current, redaction: own, watches: watchesOf(current, own) };
    return read.watches;
  }

  /** Gives the rest after the step; `undefined` when nothing is due. */
  async function step(watch: Watch): Promise<number | undefined> {
    const look = await current(watch);
    if (look === undefined) return undefined;
    const item = nextItem(watch, look);
    if (item === undefined || now() - look.beganAt > watch.everyMs * 1_000) {
      await close(watch, look);
      return 0;
    }
    const end = await asked(item);
    if (shutdown.signal.aborted) return 0;
    if (end.kind !== 'judged') {
      count(watch, 'put_off');
      return putOffMs;
    }
    const word = verdictWord(end.verdict);
    count(watch, word === 'error' ? 'failed' : 'judged');
    const before = look.answers.find(({ run }) => run === item.id);
    const answer: DriftAnswer = { run: item.id, word, tries: (before?.tries ?? 0) + 1 };
    const answered = { ...look, answers: [...look.answers.filter((one) => one !== before), answer] };
    if (nextItem(watch, answered) === undefined) await close(watch, answered);
    else await store.write(answered);
    return Math.max(restMsMin, Math.min(restMsMax, (watch.everyMs * spreadShare) / watch.items.length));
  }

  /** The open measurement, or a new one when it is due. */
  async function current(watch: Watch): Promise<DriftMeasurement | undefined> {
    const { name, asked: what, everyMs, planned } = watch;
    const [newest] = await store.looks({ name, limit: 1 });
    if (newest === undefined) return await opened(watch, { number: 1, beganAt: now(), asked: what, because: [] }, 0);
    const because = differences(newest.series.asked, what);
    const next = async (reasons: readonly string[]): Promise<DriftMeasurement> => {
      if (newest.state === 'open') await store.write({ ...newest, state: 'unfinished', endedAt: now() });
      return await opened(watch, { number: newest.series.number + 1, beganAt: now(), asked: what, because: reasons }, 0);
    };
    if (because.length > 0) return await next(because);
    if (newest.state === 'open') return newest;
    if (now() < newest.beganAt + everyMs * 1_000) return undefined;
    const number = newest.state === 'kept' ? newest.look + 1 : newest.look;
    return planned !== undefined && number > planned
      ? await next([`all planned looks (${planned}) are over`])
      : await opened(watch, newest.series, number);
  }

  async function opened({ name, items }: Watch, series: DriftSeries, look: number): Promise<DriftMeasurement> {
    const open: DriftMeasurement = {
      name,
      series,
      look,
      state: 'open',
      beganAt: now(),
      endedAt: undefined,
      runs: items.length,
      answers: [],
      result: undefined,
    };
    await store.write(open);
    return open;
  }

  /** A measurement without enough verdicts does not count; neither does a baseline. */
  async function close(watch: Watch, look: DriftMeasurement): Promise<void> {
    const isKept = look.answers.filter(({ word }) => word !== 'error').length >= look.runs * answeredShareMin;
    const result = isKept && look.look > 0 ? await resultOf(watch, look) : undefined;
    await store.write({ ...look, state: isKept ? 'kept' : 'unfinished', endedAt: now(), result });
    telemetry.add('tracejury.judge.drift.looks', 1, { ...labelsOf(watch), 'tracejury.outcome': isKept ? 'kept' : 'unfinished' });
    await publishDrift({ store, telemetry, watches: watches() });
  }

  async function resultOf({ name, planned }: Watch, { series, look, answers }: DriftMeasurement): Promise<DriftResult> {
    const baseline = await store.baseline(name, series.number);
    const [last] = (await store.looks({ name, state: 'kept', limit: 1 })).filter((one) => one.series.number === series.number);
    const counts = driftCounts(baseline?.answers ?? [], answers);
    const word = driftWordOf(counts, { look, planned });
    return { counts, planned, word, shown: word === 'no_change_shown' ? (last?.result?.shown ?? word) : word };
  }

  /** Resolves at the shutdown too: a judge may take long. */
  function asked({ run, work }: Watch['items'][number]): Promise<AskEnd> {
    return new Promise((resolve) => {
      const stopping = (): void => resolve({ kind: 'overload', reason: 'stopping' });
      shutdown.signal.addEventListener('abort', stopping, { once: true });
      ask(run, work, (end) => {
        shutdown.signal.removeEventListener('abort', stopping);
        resolve(end);
      });
    });
  }

  function count(watch: Watch, outcome: 'judged' | 'failed' | 'put_off'): void {
    telemetry.add('tracejury.judge.drift.questions', 1, { ...labelsOf(watch), 'tracejury.outcome': outcome });
  }

  /** Asks one question of each watch that is due. Gives the rest until the next round. */
  async function round(): Promise<number> {
    const own = watches();
    for (const watch of own) {
      if ((notBefore.get(watch.name) ?? 0) > clock.nowMs()) continue;
      if (shutdown.signal.aborted || !isCalm()) break;
      notBefore.set(watch.name, clock.nowMs() + ((await step(watch)) ?? idleMs));
    }
    for (const name of notBefore.keys()) if (!own.some((watch) => watch.name === name)) notBefore.delete(name);
    return Math.max(restMsMin, Math.min(idleMs, ...[...notBefore.values()].map((ms) => ms - clock.nowMs())));
  }

  let published: readonly Watch[] | undefined;
  let restMs = putOffMs;
  const working = periodicTask({
    everyMs: () => restMs,
    sleep,
    async work() {
      const own = watches();
      if (!isOwn()) {
        withdraw(telemetry, driftGauges);
        [published, restMs] = [undefined, putOffMs];
        return;
      }
      if (published !== own) await publishDrift({ store, telemetry, watches: own });
      published = own;
      restMs = await round();
    },
    onFault(error) {
      restMs = putOffMs;
      onFault(error);
    },
  });
  return {
    async stop() {
      shutdown.abort();
      await working.stop();
    },
  };
}

/** Runs without an answer first, then failed ones; `undefined` when neither is left. */
function nextItem({ items }: Watch, { answers }: DriftMeasurement): Watch['items'][number] | undefined {
  const of = new Map(answers.map((answer) => [answer.run, answer]));
  return items.find(({ id }) => !of.has(id)) ?? items.find(({ id }) => of.get(id)?.word === 'error' && (of.get(id)?.tries ?? 0) < triesMax);
}

function labelsOf({ name, judge }: Watch): { readonly [label: string]: string } {
  return { 'gen_ai.evaluation.name': name, 'tracejury.judge': judge };
}

const driftGauges = ['tracejury.judge.drift', 'tracejury.judge.drift.flipped', 'tracejury.judge.drift.looked'] as const;
const directions: { readonly [word in DriftWord]: number } = { passes_more: 1, no_change_shown: 0, passes_less: -1 };

interface Kept {
  readonly labels: Labels;
  readonly look: DriftMeasurement;
}

/** Publishes the last measurement of each watch as gauges. */
async function publishDrift({
  store,
  telemetry,
  watches,
}: {
  readonly store: Pick<DriftStore, 'looks'>;
  readonly telemetry: Pick<MetricRegistry, 'replace'>;
  readonly watches: readonly Watch[];
}): Promise<void> {
  const rows: Kept[] = [];
  for (const { name, judge, model } of watches) {
    const [look] = await store.looks({ name, state: 'kept', limit: 1 });
    if (look !== undefined)
      rows.push({ labels: { 'gen_ai.evaluation.name': name, 'tracejury.judge': judge, 'gen_ai.request.model': model }, look });
  }
  // A baseline has nothing to compare with and counts as no change.
  telemetry.replace(
    'tracejury.judge.drift',
    rows.map(({ labels, look: { result } }) => ({ labels, value: directions[result?.shown ?? 'no_change_shown'] })),
  );
  telemetry.replace('tracejury.judge.drift.flipped', rows.flatMap(flipped));
  telemetry.replace(
    'tracejury.judge.drift.looked',
    rows.map(({ labels, look: { endedAt = 0 } }) => ({ labels, value: endedAt / 1_000_000 })),
  );
}

/** Empty without runs to compare. */
function flipped({ labels, look: { look, result } }: Kept): readonly { readonly labels: Labels; readonly value: number }[] {
  const figures = result === undefined ? undefined : driftFigures(result.counts, { look, planned: result.planned });
  if (figures?.kind !== 'estimated' || figures.flipped.kind !== 'estimated') return [];
  const share = figures.flipped;
  return (['point', 'low', 'high'] as const).map((bound) => ({ labels: { ...labels, 'tracejury.bound': bound }, value: share[bound] }));
}

/** The judge and the questions of a drift watch. Measurements can be compared while `asked` is the same. */
interface Watch {
  readonly name: string;
  /** The runs after redaction, each with its question. */
  readonly items: readonly WatchedItem[];
  readonly everyMs: number;
  readonly planned: number | undefined;
  readonly judge: string;
  readonly model: string;
  /** Hashes and names, no text of runs. */
  readonly asked: JsonObject;
}

interface WatchedItem {
  readonly id: string;
  readonly run: Run;
  readonly work: ToJudge;
}

/** The watches of a configuration, in its order. */
function watchesOf({ evaluators, judges }: Pick<Config, 'evaluators' | 'judges'>, redaction: Redaction | undefined): readonly Watch[] {
  return evaluators.flatMap(({ configured, judge, drift, budget }: EvaluatorConfig): readonly Watch[] => {
    const judgeConfig = judges.find(({ name }) => name === judge);
    if (drift === undefined || judgeConfig === undefined || configured.kind !== 'judge') return [];
    const items = drift.runs.map((whole): WatchedItem => {
      const { run, work } = redactedRun(whole, redaction);
      return {
        id: whole.contentHash,
        run,
        work: work(present({ configured, judge: judgeConfig.name, budget, expected: expectedOf(whole), probability: 1 })),
      };
    });
    const { evaluator, threshold, optionsHash } = configured;
    const { baseUrl, model, temperature, answerTokensMax } = judgeConfig;
    const asked: JsonObject = {
      evaluator: evaluator.id,
      version: evaluator.version,
      threshold,
      options: optionsHash,
      model,
      endpoint: hashOf(baseUrl),
      settings: hashOf({ temperature: temperature ?? null, answer_tokens: answerTokensMax ?? null }),
      frame: hashOf(
        promptOf({ id: '', instruction: '', data: [], answerSchema: {} }, { nonce: '', blockCharsMax: 1, promptCharsMax: 1 }).system,
      ),
      runs: hashOf(items.map(({ id, run: { trace, expected } }) => [id, trace as unknown as JsonValue, expected ?? null])),
      baseline: drift.baseline,
    };
    return [{ name: configured.name, items, everyMs: drift.everyMs, planned: drift.looks, judge: judgeConfig.name, model, asked }];
  });
}

/** Descriptions of the differences; empty when there are none. */
function differences(before: JsonObject, now: JsonObject): readonly string[] {
  const differs = (key: string): boolean => jsonText(member(before, key) ?? null) !== jsonText(member(now, key) ?? null);
  const rows = (key: string, word: string): readonly string[] =>
    differs(key) ? [`${word} ${quoted(member(now, key))}, before ${quoted(member(before, key))}`] : [];
  const plain = (key: string, sentence: string): readonly string[] => (differs(key) ? [sentence] : []);
  const own = [...rows('evaluator', 'evaluator'), ...rows('version', 'version of the evaluator'), ...rows('threshold', 'threshold')];
  return [
    ...own,
    // The hash of the options covers evaluator, version and threshold too.
    ...(own.length === 0 ? plain('options', 'other options (a template is one), or another expectation') : []),
    ...rows('model', 'model'),
    ...plain('endpoint', 'another endpoint of the judge'),
    ...plain('settings', 'other settings of the judge'),
    ...plain('frame', 'this release puts questions in other words'),
    ...plain('runs', 'other runs in the dataset, or other rules of redact'),
    ...rows('baseline', 'baseline'),
  ];
}

function quoted(value: JsonValue | undefined): string {
  return typeof value === 'string' ? JSON.stringify(value) : jsonText(value ?? null);
}

function hashOf(value: JsonValue): string {
  return createHash('sha256')
    .update(jsonText(value, { sortKeys: true }))
    .digest('base64')
    .slice(0, 22);
}
