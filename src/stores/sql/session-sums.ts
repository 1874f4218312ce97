/** Figures of sessions, summed over their runs in the thread that has the file. */
import type { Tenant } from '../../model/ids.ts';
import { sessionAgentsMax, sessionRunsMax, type SessionRow } from '../../model/store/session-list.ts';
import { eachMark, marksByChar, type KnownMark } from './marks.ts';
import type { Statements } from './statements.ts';

export interface SessionsQuery {
  readonly sessions: readonly { readonly tenant: string; readonly id: string }[];
}

/** Runs of all sessions of one answer. It ends early behind the session that reaches it. */
const runsMax = 10_000;

const runsOfSession = `select started_us, ended_us, agent, input_tokens, output_tokens, cost_usd, marks, figures from runs
  where session_id = ? and +tenant = ? and part_of is null order by started_us desc, id desc limit ${sessionRunsMax + 1}`;

/** Sums of the first sessions, in their order: of at least one, and of all unless they have very many runs. */
export async function sessionSums(
  on: Statements,
  { sessions }: SessionsQuery,
  marks: readonly KnownMark[],
): Promise<readonly SessionRow[]> {
  const byChar = marksByChar(marks);
  const sums: SessionRow[] = [];
  let runs = 0;
  for (const { tenant, id } of sessions) {
    if (runs >= runsMax) break;
    const sum = newSum();
    for await (const rows of on.lists(runsOfSession, [id, tenant]))
      for (const row of rows as readonly unknown[] as readonly SummedRow[]) addRun(sum, row, byChar);
    runs += sum.turns;
    sums.push(rowOf(sum, { tenant: tenant as Tenant, id }));
  }
  return sums;
}

type SummedRow = readonly [
  startedAt: number,
  endedAt: number,
  agent: string | null,
  inputTokens: number | null,
  outputTokens: number | null,
  costUsd: number | null,
  marks: string,
  figures: Uint8Array | null,
];

interface Sum {
  turns: number;
  isWhole: boolean;
  startedAt: number;
  endedAt: number;
  runMicros: number;
  inputTokens: number | undefined;
  outputTokens: number | undefined;
  costUsd: number | undefined;
  worst: SessionRow['worst'];
  readonly agents: Set<string>;
}

function newSum(): Sum {
  return {
    turns: 0,
    isWhole: true,
    startedAt: Infinity,
    endedAt: 0,
    runMicros: 0,
    inputTokens: 0,
    outputTokens: 0,
    costUsd: 0,
    worst: undefined,
    agents: new Set(),
  };
}

function addRun(sum: Sum, row: SummedRow, byChar: ReadonlyMap<string, KnownMark>): void {
  if (sum.turns === sessionRunsMax) {
    sum.isWhole = false;
    return;
  }
  const [startedAt, endedAt, agent, inputTokens, outputTokens, costUsd, marks, figures] = row;
  sum.turns++;
  sum.startedAt = Math.min(sum.startedAt, startedAt);
  sum.endedAt = Math.max(sum.endedAt, endedAt);
  sum.runMicros += Math.max(0, endedAt - startedAt);
  sum.inputTokens = plus(sum.inputTokens, inputTokens);
  sum.outputTokens = plus(sum.outputTokens, outputTokens);
  sum.costUsd = plus(sum.costUsd, costUsd);
  if (agent !== null && sum.agents.size < sessionAgentsMax) sum.agents.add(agent);
  eachMark({ marks, figures }, byChar, ({ name, word }, score) => {
    if (word === null || score === undefined) return;
    const one = { name, verdict: word, score };
    if (sum.worst === undefined || isWorse(one, sum.worst)) sum.worst = one;
  });
}

function plus(sum: number | undefined, value: number | null): number | undefined {
  return sum === undefined || value === null ? undefined : sum + value;
}

type Worst = NonNullable<SessionRow['worst']>;

function isWorse(one: Worst, other: Worst): boolean {
  if ((one.verdict === 'fail') !== (other.verdict === 'fail')) return one.verdict === 'fail';
  // The order of the runs and their marks decides nothing.
  return one.score === other.score ? one.name < other.name : one.score < other.score;
}

function rowOf({ agents, ...sum }: Sum, session: Pick<SessionRow, 'tenant' | 'id'>): SessionRow {
  return { ...session, ...sum, agents: [...agents].toSorted() };
}
