/** The same question for all runs of an agent together: which share could each evaluator score, and what did the others lack. */
import type { Run } from '../../model/agent-trace.ts';
import { attemptOf, sharesOf, type Attempt, type Share } from '../../pipeline/reporting/evaluability.ts';
import type { Evaluability } from './evaluability.ts';
import type { InspectedRun } from './inspected.ts';

/** The runs of one agent in one dialect. */
export interface AgentShares {
  readonly agent: string;
  /** Id of the main collector; empty when none read the run. */
  readonly dialect: string;
  /** All collectors that read any of the runs. */
  readonly dialects: readonly string[];
  readonly runs: number;
  readonly shares: readonly Share[];
  /** Every evaluator of every run, for what each lacked. */
  readonly evaluability: readonly Evaluability[];
}

interface RunAttempts {
  readonly run: Run;
  readonly evaluability: readonly Evaluability[];
  readonly attempts: readonly Attempt[];
}

/** By agent and dialect, in order of first run; sub-agents are agents like the others. */
export function agentShares(inspected: readonly InspectedRun[]): readonly AgentShares[] {
  const groups = Map.groupBy(flat(inspected).map(attemptsOf), ({ run, attempts }) =>
    JSON.stringify([run.trace.agent ?? '', attempts[0]?.dialect ?? '']),
  );
  return [...groups.values()].map((own) => {
    const attempts = own.flatMap((one) => one.attempts);
    return {
      agent: own[0]?.run.trace.agent ?? '',
      dialect: attempts[0]?.dialect ?? '',
      dialects: [...new Set(own.flatMap(({ run }) => run.dialects))],
      runs: own.length,
      shares: sharesOf(attempts),
      evaluability: own.flatMap(({ evaluability }) => evaluability),
    };
  });
}

function flat(inspected: readonly InspectedRun[]): readonly InspectedRun[] {
  return inspected.flatMap((one) => [one, ...flat(one.subRuns)]);
}

function attemptsOf({ run, evaluability }: InspectedRun): RunAttempts {
  return { run, evaluability, attempts: evaluability.flatMap((one) => attemptIn(run, one) ?? []) };
}

/** A judge that would be asked counts as scored: nothing is missing. */
function attemptIn(run: Run, { name, outcome }: Evaluability): Attempt | undefined {
  if (outcome.kind === 'needs_configuration') return undefined;
  if (outcome.kind === 'skipped') return attemptOf(run, { name, decision: 'skipped', reason: outcome.reason });
  return attemptOf(run, { name, decision: outcome.kind === 'would_ask' ? 'scored' : outcome.kind });
}
