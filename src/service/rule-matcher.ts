/**
 * Finds the runs that rules of the configuration choose. It tests each scored run where the run is at hand, and hands those that match on in
 * batches, after the store has them. It never slows the pipeline: what has no room is dropped and counted. The store keeps each match from the
 * transaction that writes the run until it is handled, so a process that dies leaves it to another one.
 */
import type { RunKey } from '../model/agent-trace.ts';
import type { ScoredRun } from '../model/scored-run.ts';
import type { NewRuleMatch, RuleKind } from '../model/store/rule-match-store.ts';
import type { Store, StoredRun } from '../model/store/store.ts';
import { shares } from '../model/shares.ts';
import { type ItemId, upTo, type Watermark } from '../model/watermark.ts';
import { residualOf } from '../pipeline/evaluation/residual.ts';
import { evaluatorsIn, type RunExpression } from '../pipeline/evaluation/run-expression.ts';
import { factsOf, factsOfRow, holds } from '../pipeline/evaluation/run-facts.ts';
import { sampleDecision } from '../pipeline/evaluation/sampling.ts';
import { periodicTask } from '../runtime/periodic-task.ts';
import type { RestingContext } from '../telemetry/context.ts';

/** Chooses runs. */
export interface ChoosingRule {
  readonly name: string;
  readonly when: RunExpression;
  /** A share 0..1 of the traces. */
  readonly sample: number;
}

/** Numbers of runs by outcome. */
export type RuleOutcomes = ReadonlyMap<string, number>;

export interface RuleMatcherOptions<Rule extends ChoosingRule> extends Omit<RestingContext, 'telemetry'> {
  readonly kind: RuleKind;
  readonly store: Pick<Store, 'run' | 'isDurable' | 'ruleMatches'>;
  /** True when this matcher handles the matches that other processes have left in the store. */
  readonly takesLeft: () => boolean;
  /** The rules in force. */
  readonly rules: () => readonly Rule[];
  /** The store has the runs up to here. */
  readonly settled: () => Watermark;
  /** True when runs come faster than the store writes them, so matching runs wait. */
  readonly isBehind: () => boolean;
  /** Applies the rule to runs of one tenant. */
  readonly keep: (rule: Rule, runs: readonly StoredRun[]) => Promise<RuleOutcomes>;
  /** Counts runs of a rule: those of `keep`, dropped ones and failed ones. */
  readonly count: (rule: string, outcome: string, runs: number) => void;
  /** Runs that wait. Default: `waitingMax`. */
  readonly runsMax?: number;
}

export interface RuleMatcher {
  /**
   * Never waits, never throws. `id`: of the item in the order of delivery. Gives the matches that wait for the store; the transaction that
   * writes the run writes them.
   */
  offer(item: ScoredRun, id: ItemId): readonly NewRuleMatch[];
  /** Handles what the store has until the deadline. A durable store keeps the rest, otherwise it is dropped. May be called twice. */
  stop(deadlineMs: number): Promise<void>;
}

/** Shared by the tenants. */
export const waitingMax = 10_000;
const everyMs = 1_000;
/** Runs of one batch: the store answers other questions between two of its runs. */
const batchRuns = 100;
const restAtStopMs = 20;
/** Between two looks for matches that others have left. */
const lookEveryMs = 15_000;
/** A match that is older than this is taken over: its process has died, or is far behind. Handling it twice changes nothing. */
const leftAfterMs = 60_000;

interface WaitingRun {
  readonly rule: string;
  readonly run: RunKey;
  /** The part of the condition that was unknown when the run came. */
  readonly residual: RunExpression;
  readonly id: ItemId;
}

type Match = Omit<WaitingRun, 'id'>;

export function ruleMatcher<Rule extends ChoosingRule>(options: RuleMatcherOptions<Rule>): RuleMatcher {
  const { kind, store, rules, settled, isBehind, keep, clock, sleep, onFault, runsMax = waitingMax } = options;
  const beganMs = clock.nowMs();
  let lookedMs = -Infinity;
  /** Oldest first. */
  const waiting = new Map<string, WaitingRun>();
  const room = shares(runsMax);
  let stopped: Promise<void> | undefined;

  function count(rule: string, outcome: string, runs = 1): void {
    if (runs > 0) options.count(rule, outcome, runs);
  }

  /** Returns false when there is no room. */
  function put(one: WaitingRun, isSure: boolean): boolean {
    const key = keyOf(one);
    const before = waiting.get(key);
    // A run that has matched stays matched, even if a later verdict leaves it open.
    const kept = before !== undefined && !isSure ? { ...before, id: one.id } : one;
    if (before === undefined && (!room.mayTake(one.run.tenant) || stopped !== undefined)) {
      count(one.rule, 'dropped');
      return false;
    }
    remove(key);
    waiting.set(key, kept);
    room.take(one.run.tenant);
    return true;
  }

  function remove(key: string): void {
    const one = waiting.get(key);
    if (one !== undefined) room.giveBack(one.run.tenant);
    waiting.delete(key);
  }

  /** The next batch that the store has, without what no rule in force keeps any more. */
  function due(): readonly WaitingRun[] {
    const mark = settled();
    const batch: WaitingRun[] = [];
    for (const [key, one] of waiting) {
      if (batch.length === batchRuns) break;
      if (upTo(one.id) > mark) continue;
      remove(key);
      batch.push(one);
    }
    return batch;
  }

  async function work(): Promise<void> {
    if (isBehind()) return;
    for (let batch = due(); batch.length > 0; batch = due()) await handle(batch);
    if (options.takesLeft() && store.isDurable && stopped === undefined && clock.nowMs() - lookedMs >= lookEveryMs) await takeLeft();
  }

  async function handle(batch: readonly Match[]): Promise<void> {
    const inForce = new Map(rules().map((rule) => [rule.name, rule]));
    for (const [name, runs] of Map.groupBy(batch, ({ rule }) => rule)) {
      const rule = inForce.get(name);
      if (rule === undefined) continue;
      for (const of of Map.groupBy(runs, ({ run }) => run.tenant).values()) {
        try {
          const matching = await matchingOf(store, of);
          if (matching.length > 0) for (const [outcome, number] of await keep(rule, matching)) count(name, outcome, number);
        } catch (error) {
          count(name, 'failed', of.length);
          onFault(error);
        }
      }
    }
    await store.ruleMatches.handled(kind, batch);
  }

  /** At first all of former processes, then those that are old. */
  async function takeLeft(): Promise<void> {
    const before = Math.floor((lookedMs === -Infinity ? beganMs : clock.nowMs() - leftAfterMs) * 1_000);
    lookedMs = clock.nowMs();
    for (let isMore = true; isMore && stopped === undefined && !isBehind();) {
      const left = await store.ruleMatches.left({ kind, before, limit: batchRuns });
      const own = left.map(({ rule, run, residual }) => ({ rule, run, residual: readResidual(residual) }));
      for (const one of own) remove(keyOf(one));
      await handle(own);
      isMore = left.length === batchRuns;
    }
  }

  const hasWork = (): boolean => waiting.size > 0;
  const working = periodicTask({ everyMs, sleep, rest: options.rest, hasWork, work, onFault, restsFirst: true });

  async function end(deadlineMs: number): Promise<void> {
    await working.stop();
    for (let left = deadlineMs; waiting.size > 0 && left > 0; left -= restAtStopMs) {
      await work().catch(onFault);
      if (waiting.size > 0) await sleep(restAtStopMs);
    }
    if (!store.isDurable) for (const { rule } of waiting.values()) count(rule, 'dropped');
    waiting.clear();
  }

  return {
    offer(item, id) {
      const { run, evaluations } = item;
      const inForce = rules();
      if (inForce.length === 0 || run.partOf !== undefined) return [];
      const { tenant, traceId, spanId, traceState } = run;
      const verdicts = new Map(evaluations.map(({ key, verdict }) => [key.name, verdict]));
      // A verdict of a judge comes separately, and the store has the others.
      const facts = factsOf(run, item.answered === true ? new Map() : verdicts);
      const at = Math.floor(clock.nowMs() * 1_000);
      return inForce.flatMap(({ name, when, sample }): readonly NewRuleMatch[] => {
        if (!sampleDecision({ traceId, traceState, rate: sample }).sampled) return [];
        const residual = residualOf(when, facts);
        const isSure = holds(residual, facts);
        const waits =
          (item.answered === true ? !isSure && looksAt(residual, verdicts) : isSure) &&
          put({ rule: name, run: { tenant, traceId, spanId }, residual, id }, isSure);
        return waits ? [{ kind, rule: name, at, residual: isSure ? null : JSON.stringify(residual) }] : [];
      });
    },
    stop: (deadlineMs) => (stopped ??= end(deadlineMs)),
  };
}

function keyOf({ rule, run: { tenant, traceId, spanId } }: Pick<Match, 'rule' | 'run'>): string {
  return JSON.stringify([rule, tenant, traceId, spanId]);
}

/** As `offer` has written it. */
function readResidual(text: string | null): RunExpression {
  return text === null ? { kind: 'and', terms: [] } : (JSON.parse(text) as RunExpression);
}

/** True when one of these verdicts may decide the residual condition. */
function looksAt(residual: RunExpression, verdicts: ReadonlyMap<string, unknown>): boolean {
  const { names, judges } = evaluatorsIn(residual);
  return (judges && verdicts.size > 0) || names.some((name) => verdicts.has(name));
}

async function matchingOf(store: Pick<Store, 'run'>, waiting: readonly Match[]): Promise<readonly StoredRun[]> {
  const matching: StoredRun[] = [];
  for (const { run, residual } of waiting) {
    const stored = await store.run(run);
    if (stored !== undefined && holds(residual, factsOfRow(stored))) matching.push(stored);
  }
  return matching;
}
