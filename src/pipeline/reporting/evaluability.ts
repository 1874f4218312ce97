/** Which share of an agent's runs an evaluator can score, and what the others lack: the same counting for the service and for files. */
import type { AgentTrace, Run } from '../../model/agent-trace.ts';
import type { Decision } from '../../model/verdict.ts';
import { lackOf, mainDialect } from './missing-data.ts';

/** How one (run, evaluator) pair counts. Empty texts are absent. */
export interface Attempt {
  readonly agent: string;
  readonly dialect: string;
  /** The evaluator's configured name. */
  readonly name: string;
  readonly outcome: 'scored' | 'skipped' | 'failed';
  readonly reason: string;
  /** What was missing; empty where the evaluator had nothing to look at in this run, which is no fault of the instrumentation. */
  readonly need: string;
}

/** Undefined: the evaluator never looked at the run, because a condition, sampling or a budget kept it away. */
export function attemptOf(
  { trace, dialects }: Pick<Run, 'dialects'> & { readonly trace: Pick<AgentTrace, 'agent'> },
  ended: { readonly name: string; readonly decision: Decision; readonly reason?: string },
): Attempt | undefined {
  const { name, decision, reason } = ended;
  if (decision !== 'scored' && decision !== 'skipped' && decision !== 'failed') return undefined;
  const skippedFor = decision === 'skipped' ? (reason ?? '') : '';
  return {
    agent: trace.agent ?? '',
    dialect: mainDialect(dialects),
    name,
    outcome: decision,
    reason: skippedFor,
    need: lackOf(skippedFor) ?? '',
  };
}

/** What one evaluator could make of the runs of one agent in one dialect, in numbers of runs. */
export interface Share {
  readonly agent: string;
  readonly dialect: string;
  readonly name: string;
  /** scored + failed + all that were skipped. */
  readonly looked: number;
  readonly scored: number;
  readonly failed: number;
  /** The reasons with the most runs first. */
  readonly skipped: readonly { readonly reason: string; readonly need: string; readonly runs: number }[];
}

/** In the order in which agents, and of each agent evaluators, first come. */
export function sharesOf(attempts: readonly Attempt[]): readonly Share[] {
  const groups = Map.groupBy(attempts, ({ agent, dialect, name }) => JSON.stringify([agent, dialect, name]));
  return [...groups.values()].flatMap((own) => {
    const [first] = own;
    return first === undefined ? [] : [shareOf(first, own)];
  });
}

function shareOf({ agent, dialect, name }: Attempt, own: readonly Attempt[]): Share {
  const count = (outcome: Attempt['outcome']): number => own.filter((one) => one.outcome === outcome).length;
  const reasons = Map.groupBy(
    own.filter(({ outcome }) => outcome === 'skipped'),
    ({ reason, need }) => JSON.stringify([reason, need]),
  );
  const skipped = [...reasons.values()].flatMap((same) =>
    same[0] === undefined ? [] : [{ reason: same[0].reason, need: same[0].need, runs: same.length }],
  );
  return {
    agent,
    dialect,
    name,
    looked: own.length,
    scored: count('scored'),
    failed: count('failed'),
    skipped: skipped.sort((a, b) => b.runs - a.runs),
  };
}
