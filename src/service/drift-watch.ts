/**
 * Asks judges about fixed sets of runs again and again, and holds what they say beside what they said first. One question at a time, with a rest after each: runs come first.
 * Each answer is written before the next question goes, so a process that dies costs one question.
 */
import { createHash } from 'node:crypto';
import { driftCounts, driftFigures, driftWordOf } from '../analytics/drift.ts';
import type { Config, EvaluatorConfig } from '../config/config.ts';
import { promptOf } from '../judges/client/prompt.ts';
import type { Run } from '../model/agent-trace.ts';
import type { Clock, Sleep } from '../model/clock.ts';
import { type JsonObject, jsonText, type JsonValue, member } from '../model/json.ts';
import type { DriftAnswer, DriftMeasurement, DriftResult, DriftSeries, DriftStore, DriftWord } from '../model/store/drift-store.ts';
import type { Store } from '../model/store/store.ts';
import { expectedOf, type ToJudge } from '../pipeline/evaluation/evaluate.ts';
import { redactedRun } from '../pipeline/evaluation/redacted-run.ts';
import type { AskEnd } from '../pipeline/jury/judge-driver.ts';
import type { Redaction } from '../redaction/redaction.ts';
import { periodicTask } from '../runtime/periodic-task.ts';
import type { JudgePool } from './judge-pool.ts';
import { verdictWord } from '../stores/row-mapping.ts';
import type { MetricRegistry } from '../telemetry/registry.ts';
import type { Labels } from '../telemetry/telemetry.ts';

interface DriftWatchOptions {
  readonly store: Pick<Store, 'judgeDrift'>;
  /** Asked for each time. */
  readonly config: () => Pick<Config, 'evaluators' | 'judges'>;
  readonly redaction: () => Redaction | undefined;
  readonly ask: JudgePool['askAnew'];
  /** False: the service has too much to do. */
  readonly isCalm: () => boolean;
  readonly telemetry: Pick<MetricRegistry, 'add' | 'replace'>;
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly onFault: (error: unknown) => void;
}

export interface DriftWatch {
  /** Begins nothing more; what is being asked may end without it. */
  stop(): Promise<void>;
}

/** Until it is looked whether something is due. */
const idleMs = 30_000;
/** After a question that nobody was to be asked, or a fault of the store. */
const putOffMs = 60_000;
/** Between two questions: a look takes a tenth of the time until the next one, and no longer than it needs to. */
const spreadShare = 0.1;
const restMsMax = 10_000;
const restMsMin = 200;
/** Of the runs, those that must end otherwise than failed for a look to count. */
const answeredShareMin = 0.9;
/** Of one run in one look. */
const triesMax = 2;

export function driftWatch({
  store: { judgeDrift: store },
  config,
  redaction,
  ask,
  isCalm,
  telemetry,
  clock,
  sleep,
  onFault,
}: DriftWatchOptions): DriftWatch {
  const ended = new AbortController();
  const now = (): number => Math.floor(clock.nowMs() * 1_000);
  let read: { readonly config: unknown; readonly redaction: unknown; readonly watches: readonly Watch[] } | undefined;

  /** When a watch is looked at again, by its name: one whose judge is down holds up no other. */
  const notBefore = new Map<string, number>();

  /** What is asked is hashed once for each configuration. */
  function watches(): readonly Watch[] {
    const [current, own] = [config(), redaction()];
    if (read?.config !== current || read.redaction !== own) read = { config: current, redaction: own, watches: watchesOf(current, own) };
    return read.watches;
  }

  /** How long to rest after it; undefined: nothing is due. */
  async function step(watch: Watch): Promise<number | undefined> {
    const look = await current(watch);
    if (look === undefined) return undefined;
    const item = nextItem(watch, look);
    if (item === undefined || now() - look.beganAt > watch.everyMs * 1_000) {
      await close(watch, look);
      return 0;
    }
    const end = await asked(item);
    if (ended.signal.aborted) return 0;
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

  /** The look that is open, or is due and opened now. */
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

  /** It counts where enough runs got a verdict; a baseline as well. */
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

  /** Ends with the watch: a judge may take its time. */
  function asked({ run, work }: Watch['items'][number]): Promise<AskEnd> {
    return new Promise((resolve) => {
      const stopping = (): void => resolve({ kind: 'overload', reason: 'stopping' });
      ended.signal.addEventListener('abort', stopping, { once: true });
      ask(run, work, (end) => {
        ended.signal.removeEventListener('abort', stopping);
        resolve(end);
      });
    });
  }

  function count(watch: Watch, outcome: 'judged' | 'failed' | 'put_off'): void {
    telemetry.add('tracejury.judge.drift.questions', 1, { ...labelsOf(watch), 'tracejury.outcome': outcome });
  }

  /** One question of each watch that may be asked. Gives how long to rest. */
  async function round(): Promise<number> {
    const own = watches();
    for (const watch of own) {
      if ((notBefore.get(watch.name) ?? 0) > clock.nowMs()) continue;
      if (ended.signal.aborted || !isCalm()) break;
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
      ended.abort();
      await working.stop();
    },
  };
}

/** Those that were not asked about, then those that failed; undefined: there are none. */
function nextItem({ items }: Watch, { answers }: DriftMeasurement): Watch['items'][number] | undefined {
  const of = new Map(answers.map((answer) => [answer.run, answer]));
  return items.find(({ id }) => !of.has(id)) ?? items.find(({ id }) => of.get(id)?.word === 'error' && (of.get(id)?.tries ?? 0) < triesMax);
}

function labelsOf({ name, judge }: Watch): { readonly [label: string]: string } {
  return { 'gen_ai.evaluation.name': name, 'tracejury.judge': judge };
}

// The last look of each drift watch as gauges: what dashboards and alerts look at.

const directions: { readonly [word in DriftWord]: number } = { passes_more: 1, no_change_shown: 0, passes_less: -1 };

interface Kept {
  readonly labels: Labels;
  readonly look: DriftMeasurement;
}

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
  // After a baseline nothing can have changed yet.
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

/** Without runs to compare there is no share. */
function flipped({ labels, look: { look, result } }: Kept): readonly { readonly labels: Labels; readonly value: number }[] {
  const figures = result === undefined ? undefined : driftFigures(result.counts, { look, planned: result.planned });
  if (figures?.kind !== 'estimated' || figures.flipped.kind !== 'estimated') return [];
  const share = figures.flipped;
  return (['point', 'low', 'high'] as const).map((bound) => ({ labels: { ...labels, 'tracejury.bound': bound }, value: share[bound] }));
}

// What a drift watch asks whom: as long as it is the same, looks can be compared.

interface Watch {
  readonly name: string;
  /** As the judge is shown them, each with what is asked about it. */
  readonly items: readonly WatchedItem[];
  readonly everyMs: number;
  readonly planned: number | undefined;
  readonly judge: string;
  readonly model: string;
  /** Hashes and names, and no text of runs. */
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
        work: work({
          configured,
          judge: judgeConfig.name,
          ...(budget === undefined ? {} : { budget }),
          expected: expectedOf(whole),
          probability: 1,
        }),
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

/** In words; empty: nothing. */
function differences(before: JsonObject, now: JsonObject): readonly string[] {
  const differs = (key: string): boolean => jsonText(member(before, key) ?? null) !== jsonText(member(now, key) ?? null);
  const rows = (key: string, word: string): readonly string[] =>
    differs(key) ? [`${word} ${said(member(now, key))}, before ${said(member(before, key))}`] : [];
  const plain = (key: string, sentence: string): readonly string[] => (differs(key) ? [sentence] : []);
  const own = [...rows('evaluator', 'evaluator'), ...rows('version', 'version of the evaluator'), ...rows('threshold', 'threshold')];
  return [
    ...own,
    // Their hash is also made of what is told before it.
    ...(own.length === 0 ? plain('options', 'other options, of which a template is one, or another expectation') : []),
    ...rows('model', 'model'),
    ...plain('endpoint', 'another endpoint of the judge'),
    ...plain('settings', 'other settings of the judge'),
    ...plain('frame', 'this release puts questions in other words'),
    ...plain('runs', 'other runs in the dataset, or other rules of redact'),
    ...rows('baseline', 'baseline'),
  ];
}

function said(value: JsonValue | undefined): string {
  return typeof value === 'string' ? JSON.stringify(value) : jsonText(value ?? null);
}

function hashOf(value: JsonValue): string {
  return createHash('sha256')
    .update(jsonText(value, { sortKeys: true }))
    .digest('base64')
    .slice(0, 22);
}
