/** The share of an agent's runs that an evaluator can score, and what the others lack; for the service and for files. */
import type { AgentTrace, Run } from '../../model/agent-trace.ts';
import type { Decision } from '../../model/verdict.ts';
import { lackOf, mainDialect } from './missing-data.ts';

/** The outcome of one pair of run and evaluator. Empty texts are absent. */
export interface Attempt {
  readonly agent: string;
  readonly dialect: string;
  /** The evaluator's configured name. */
  readonly name: string;
  readonly outcome: 'scored' | 'skipped' | 'failed';
  readonly reason: string;
  /** The missing data; empty when the run simply has nothing to evaluate. */
  readonly need: string;
}

/** `undefined` when the evaluator did not run, because of a condition, sampling or a budget. */
export function attemptOf(
  run: Pick<Run, 'dialects' | 'configuredDialect'> & { readonly trace: Pick<AgentTrace, 'agent'> },
  ended: { readonly name: string; readonly decision: Decision; readonly reason?: string },
): Attempt | undefined {
  const { name, decision, reason } = ended;
  if (decision !== 'scored' && decision !== 'skipped' && decision !== 'failed') return undefined;
  const skippedFor = decision === 'skipped' ? (reason ?? '') : '';
  return {
    agent: run.trace.agent ?? '',
    dialect: mainDialect(run),
    name,
    outcome: decision,
    reason: skippedFor,
    need: lackOf(skippedFor) ?? '',
  };
}

/** Numbers of runs of one evaluator, agent and dialect. */
export interface Share {
  readonly agent: string;
  readonly dialect: string;
  readonly name: string;
  /** All runs that the evaluator got: scored, failed and skipped. */
  readonly looked: number;
  readonly scored: number;
  readonly failed: number;
  /** Sorted by number of runs, descending. */
  readonly skipped: readonly { readonly reason: string; readonly need: string; readonly runs: number }[];
}

/** In order of the first appearance of agents, and of evaluators within an agent. */
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
