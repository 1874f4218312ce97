/**
 * Convergence of several runs of one task: the mean of minimum steps / own steps. A failed run, or one without a step, counts 0. The
 * evaluator takes a group of runs, so it has its own contract.
 */
import type { JsonObject } from '../../src/model/json.ts';
import { numberOf, quotient, rational, sum } from '../matching/rational.ts';
import { count } from '../explain/explanation.ts';
import { requestCount, type AgentTrace } from '../../src/model/agent-trace.ts';
import { executedCalls, notCarried } from './calls.ts';

export interface GroupRun {
  /** Number of tool calls, or of any unit that is the same for every run. */
  readonly steps: number;
  /** Defaults to a successful run. */
  readonly success?: boolean;
}

export interface ConvergenceOptions {
  /** Known minimum of steps. Defaults to the minimum of the successful runs. */
  readonly optimalSteps?: number;
}

export type GroupOutcome =
  | { readonly kind: 'scored'; readonly score: number; readonly explanation: string; readonly details: JsonObject }
  | { readonly kind: 'skipped'; readonly reason: 'no_runs' | 'too_large'; readonly explanation: string; readonly details: JsonObject };

/** Limit of runs per group. */
const runsMax = 100_000;

/** The details always contain the number of runs, as a single run is its own optimum. */
export function convergence(runs: readonly GroupRun[], { optimalSteps }: ConvergenceOptions = {}): GroupOutcome {
  if (runs.length === 0)
    return {
      kind: 'skipped',
      reason: 'no_runs',
      explanation: 'There is no run to compare.',
      details: { runs: 0, optimal_steps: null, share_on_optimal_path: null },
    };
  if (runs.length > runsMax)
    return {
      kind: 'skipped',
      reason: 'too_large',
      explanation: `${runs.length} runs are more than the ${runsMax} that are compared.`,
      details: { runs: runs.length },
    };
  const arrived = runs.filter(({ steps, success = true }) => success && Number.isFinite(steps) && steps > 0);
  const optimal =
    optimalSteps ??
    arrived.reduce<number | undefined>((least, { steps }) => (least === undefined || steps < least ? steps : least), undefined);
  const onPath = optimal === undefined ? 0 : arrived.filter(({ steps }) => steps <= optimal).length;
  const score = optimal === undefined ? 0 : scoreOf(runs.length, arrived, optimal);
  return {
    kind: 'scored',
    score,
    explanation: explained(runs.length, arrived.length, onPath, optimal),
    details: { runs: runs.length, succeeded: arrived.length, optimal_steps: optimal ?? null, share_on_optimal_path: onPath / runs.length },
  };
}

/** Sums runs of equal length as one fraction, so the work grows with the number of lengths. */
function scoreOf(total: number, arrived: readonly GroupRun[], optimal: number): number {
  const times = new Map<number, number>();
  for (const { steps } of arrived) times.set(steps, (times.get(steps) ?? 0) + 1);
  const shares = [...times].map(([steps, runs]) => (steps <= optimal ? rational(runs) : rational(runs * optimal, steps)));
  return numberOf(quotient(sum(shares), rational(total)));
}

function explained(total: number, succeeded: number, onPath: number, optimal: number | undefined): string {
  if (optimal === undefined) return `None of ${count(total, 'run')} succeeded with a step.`;
  const failed = total - succeeded;
  return `${onPath} of ${count(total, 'run')} took the shortest way of ${count(optimal, 'step')} or fewer${failed === 0 ? '' : `, ${failed} failed or took no step`}.`;
}

export interface GroupRunOptions {
  /** Unit of steps. Default: tool calls. */
  readonly steps?: 'tool_calls' | 'tool_and_model_calls';
}

/** Counts the tool calls that ran. A run without an error succeeded. `undefined` when the spans carry no tool calls. */
export function groupRun(trace: AgentTrace, { steps = 'tool_calls' }: GroupRunOptions = {}): GroupRun | undefined {
  if (notCarried(trace) !== undefined) return undefined;
  const models = steps === 'tool_calls' ? 0 : requestCount(trace.modelCalls);
  return { steps: executedCalls(trace).length + models, success: trace.status === 'ok' };
}
