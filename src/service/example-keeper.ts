/**
 * Keeps runs as examples of datasets, as the rules of the configuration say. It tests each scored run where the run is at hand, and does the
 * rest in batches, after the store has the run. It never slows the pipeline: what has no room is dropped and counted.
 */
import type { DatasetRule } from '../config/entries/dataset-rule.ts';
import { redactedExample } from '../datasets/redacted-example.ts';
import { exampleIdOf } from '../datasets/run-example.ts';
import { examplesOfRuns } from '../datasets/stored-runs.ts';
import type { RunKey } from '../model/agent-trace.ts';
import type { Clock, Sleep } from '../model/clock.ts';
import type { ScoredRun } from '../model/scored-run.ts';
import type { DatasetKey, DatasetOutcome, LeftOutReason } from '../model/store/dataset-store.ts';
import type { Store } from '../model/store/store.ts';
import { type ItemId, upTo, type Watermark } from '../model/watermark.ts';
import { residualOf } from '../pipeline/evaluation/residual.ts';
import { evaluatorsIn, type RunExpression } from '../pipeline/evaluation/run-expression.ts';
import { factsOf, factsOfRow, holds } from '../pipeline/evaluation/run-facts.ts';
import { sampleDecision } from '../pipeline/evaluation/sampling.ts';
import { mayBeRedacted } from '../redaction/settings.ts';
import { periodicTask } from '../runtime/periodic-task.ts';
import type { RunWriter } from '../stores/run-writer.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import type { ApiDeps } from '../web/api/route.ts';
import type { SettingsInForce } from './reloading.ts';

export interface ExampleKeeperOptions {
  readonly store: Store;
  /** The rules in force. */
  readonly rules: () => readonly DatasetRule[];
  /** Whether `redact` may have changed the text. */
  readonly mayBeRedacted: (text: string) => boolean;
  /** The store has the runs up to here. */
  readonly settled: () => Watermark;
  /** True: runs come faster than the store writes them, so examples wait. */
  readonly isBehind: () => boolean;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly onFault: (error: unknown) => void;
  /** Runs that wait. Default: `waitingMax`. */
  readonly runsMax?: number;
}

export interface ExampleKeeper {
  /** Never waits, never throws. `id`: of the item in the order of delivery. */
  offer(item: ScoredRun, id: ItemId): void;
  /** Keeps what the store has until the deadline, and drops the rest. May be called twice. */
  stop(deadlineMs: number): Promise<void>;
}

const waitingMax = 10_000;
const everyMs = 1_000;
/** Runs of one batch: the store answers other questions between two of its runs. */
const batchRuns = 100;
const restAtStopMs = 20;

type RuleOutcome = LeftOutReason | 'added' | 'changed' | 'unchanged' | 'no_example' | 'dropped' | 'failed';

interface WaitingRun {
  readonly rule: string;
  readonly run: RunKey;
  /** What the run was not known to meet when it came. */
  readonly residual: RunExpression;
  readonly id: ItemId;
}

export function exampleKeeper(options: ExampleKeeperOptions): ExampleKeeper {
  const { rules, settled, isBehind, telemetry, sleep, onFault, runsMax = waitingMax } = options;
  /** Oldest first. */
  const waiting = new Map<string, WaitingRun>();
  let stopped: Promise<void> | undefined;

  function count(rule: string, outcome: RuleOutcome, runs = 1): void {
    if (runs > 0) telemetry.add('tracejury.datasets.runs', runs, { 'tracejury.dataset': rule, 'tracejury.outcome': outcome });
  }

  function put(one: WaitingRun, isSure: boolean): void {
    const key = JSON.stringify([one.rule, one.run.tenant, one.run.traceId, one.run.spanId]);
    const before = waiting.get(key);
    // A run that has matched stays matched, whatever a later verdict leaves open.
    const kept = before !== undefined && !isSure ? { ...before, id: one.id } : one;
    if (before === undefined && (waiting.size >= runsMax || stopped !== undefined)) return count(one.rule, 'dropped');
    waiting.delete(key);
    waiting.set(key, kept);
  }

  /** The next batch that the store has, without what no rule in force keeps any more. */
  function due(): readonly WaitingRun[] {
    const mark = settled();
    const batch: WaitingRun[] = [];
    for (const [key, one] of waiting) {
      if (batch.length === batchRuns) break;
      if (upTo(one.id) > mark) continue;
      waiting.delete(key);
      batch.push(one);
    }
    return batch;
  }

  async function work(): Promise<void> {
    if (isBehind()) return;
    for (let batch = due(); batch.length > 0; batch = due()) {
      const inForce = new Map(rules().map((rule) => [rule.name, rule]));
      for (const [name, runs] of Map.groupBy(batch, ({ rule }) => rule)) {
        const rule = inForce.get(name);
        if (rule === undefined) continue;
        for (const of of Map.groupBy(runs, ({ run }) => run.tenant).values()) {
          try {
            for (const [outcome, number] of await keptOf(options, rule, of)) count(name, outcome, number);
          } catch (error) {
            count(name, 'failed', of.length);
            onFault(error);
          }
        }
      }
    }
  }

  const working = periodicTask({ everyMs, sleep, work, onFault, restsFirst: true });

  async function end(deadlineMs: number): Promise<void> {
    await working.stop();
    for (let left = deadlineMs; waiting.size > 0 && left > 0; left -= restAtStopMs) {
      await work().catch(onFault);
      if (waiting.size > 0) await sleep(restAtStopMs);
    }
    for (const { rule } of waiting.values()) count(rule, 'dropped');
    waiting.clear();
  }

  return {
    offer(item, id) {
      const { run, evaluations } = item;
      const inForce = rules();
      if (inForce.length === 0 || run.partOf !== undefined) return;
      const { tenant, traceId, spanId, traceState } = run;
      const verdicts = new Map(evaluations.map(({ key, verdict }) => [key.name, verdict]));
      // A verdict of a judge comes alone: the store knows the others.
      const facts = factsOf(run, item.answered === true ? new Map() : verdicts);
      for (const { name, when, sample } of inForce) {
        if (!sampleDecision({ traceId, traceState, rate: sample }).sampled) continue;
        const residual = residualOf(when, facts);
        const isSure = holds(residual, facts);
        if (item.answered === true ? !isSure && looksAt(residual, verdicts) : isSure)
          put({ rule: name, run: { tenant, traceId, spanId }, residual, id }, isSure);
      }
    },
    stop: (deadlineMs) => (stopped ??= end(deadlineMs)),
  };
}

/** How `redact` applies to examples that come over the API. */
export function exampleRedaction({
  config,
  redaction,
}: Pick<SettingsInForce, 'config' | 'redaction'>): Pick<ApiDeps, 'redacted' | 'mayBeRedacted'> {
  return {
    redacted: (example) => redactedExample(example, redaction()),
    mayBeRedacted: (text) => mayBeRedacted(config().redact)(text),
  };
}

/** The keeper of a service: by the rules in force, behind the writer of runs. */
export function examplesOfRules({
  settings,
  writer,
  ...deps
}: Pick<ExampleKeeperOptions, 'store' | 'telemetry' | 'clock' | 'sleep' | 'onFault'> & {
  readonly settings: Pick<SettingsInForce, 'config'>;
  readonly writer: Pick<RunWriter, 'settled' | 'isBehind'>;
}): ExampleKeeper {
  return exampleKeeper({
    ...deps,
    rules: () => settings.config().datasets,
    mayBeRedacted: (text) => mayBeRedacted(settings.config().redact)(text),
    settled: writer.settled,
    isBehind: writer.isBehind,
  });
}

/** Whether one of these verdicts may decide what is left. */
function looksAt(residual: RunExpression, verdicts: ReadonlyMap<string, unknown>): boolean {
  const { names, judges } = evaluatorsIn(residual);
  return (judges && verdicts.size > 0) || names.some((name) => verdicts.has(name));
}

/** The outcomes of runs of one tenant under one rule. */
async function keptOf(
  { store, mayBeRedacted, clock }: Pick<ExampleKeeperOptions, 'store' | 'mayBeRedacted' | 'clock'>,
  rule: DatasetRule,
  waiting: readonly WaitingRun[],
): Promise<ReadonlyMap<RuleOutcome, number>> {
  const outcomes = new Map<RuleOutcome, number>();
  const add = (outcome: RuleOutcome, runs: number): void => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + runs);
  const key: DatasetKey = { tenant: waiting[0]?.run.tenant ?? ('' as RunKey['tenant']), name: rule.name };
  const isFull = ((await store.datasets.dataset(key))?.examples ?? 0) >= rule.max;
  const matching: RunKey[] = [];
  for (const { run, residual } of waiting) {
    const stored = await store.run(run);
    if (stored === undefined || !holds(residual, factsOfRow(stored))) continue;
    // Reading a run with the turns before it costs more than this question.
    if (isFull && (await store.datasets.example(key, undefined, exampleIdOf(run))) === undefined) add('full', 1);
    else matching.push(run);
  }
  if (matching.length === 0) return outcomes;
  const [at, by] = [Math.floor(clock.nowMs() * 1_000), `rule ${rule.name}`];
  const made = await examplesOfRuns(store, matching, { origin: { rule: rule.name, at }, tags: rule.tags, isRedacted: mayBeRedacted });
  add('no_example', made.leftOut.length);
  if (made.examples.length === 0) return outcomes;
  const change = { put: made.examples, by, at, replaces: 'drafts', isDistinct: true, examplesMax: rule.max } as const;
  for (const [outcome, runs] of outcomesOf(await store.datasets.change(key, change), made.examples.length)) add(outcome, runs);
  return outcomes;
}

function outcomesOf(outcome: DatasetOutcome, examples: number): readonly (readonly [RuleOutcome, number])[] {
  if (outcome.kind !== 'written') return [['full', examples]];
  const { added, changed, unchanged, leftOut } = outcome;
  return [['added', added], ['changed', changed], ['unchanged', unchanged], ...leftOut.map(({ reason }) => [reason, 1] as const)];
}
