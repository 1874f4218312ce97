/** Reports once for each agent of a tenant that its first runs lack data for evaluation, and which setting supplies it. */
import type { Carried } from '../../../collectors/collector.ts';
import type { ScoredRun } from '../../model/scored-run.ts';
import type { AgentTrace, Run } from '../../model/agent-trace.ts';
import type { Tenant } from '../../model/ids.ts';
import { isCarried, lackOf, lackTexts, mainDialect, placesOf, missingDataOf } from './missing-data.ts';

export interface ContentNotice {
  readonly agent: string;
  readonly dialect: string;
  readonly missing: Carried;
  /** Configured names of the skipped evaluators. */
  readonly evaluators: readonly string[];
  readonly lookedForIn: readonly string[];
  readonly todo: string;
  readonly message: string;
}

/** A single run may end early or fail; several with the same gap show how the agent is instrumented. */
export const runsBeforeNotice = 3;
/** Limit of pairs of agent and dialect of one tenant. Later ones get no notice, but metrics count them. */
export const agentsWatchedMax = 500;
const agentCharsMax = 200;
const placesMax = 5;

/** Number of runs that lacked the data; `settled` once the data was there or the notice was given. */
type Watched = Map<Carried, number | 'settled'>;

export function contentNotices(): (item: ScoredRun) => readonly ContentNotice[] {
  const agentsOf = new Map<Tenant, Map<string, Watched>>();

  function watched(tenant: Tenant, agent: string, dialect: string): Watched | undefined {
    const agents = agentsOf.get(tenant) ?? new Map<string, Watched>();
    agentsOf.set(tenant, agents);
    const key = JSON.stringify([agent, dialect]);
    const known = agents.get(key);
    if (known !== undefined || agents.size >= agentsWatchedMax) return known;
    const fresh: Watched = new Map();
    agents.set(key, fresh);
    return fresh;
  }

  return ({ run, decisions }) => {
    // An evicted run lacks what had not arrived.
    if (run.revision !== 1 || run.completeness === 'evicted') return [];
    const agent = (run.trace.agent ?? '').slice(0, agentCharsMax).toWellFormed();
    const dialect = mainDialect(run);
    const own = watched(run.tenant, agent, dialect);
    if (own === undefined) return [];
    for (const field of fields) if (isThere[field](run.trace)) own.set(field, 'settled');
    const skipped = Map.groupBy(
      decisions.flatMap(({ name, decision, reason }) => (decision === 'skipped' ? [{ name, lack: lackOf(reason ?? '') }] : [])),
      ({ lack }) => lack,
    );
    return [...skipped].flatMap(([lack, some]) => {
      if (lack === undefined || !isCarried(lack)) return [];
      const runs = own.get(lack) ?? 0;
      if (runs === 'settled') return [];
      own.set(lack, runs + 1 < runsBeforeNotice ? runs + 1 : 'settled');
      return runs + 1 < runsBeforeNotice ? [] : [notice(lack, { agent, dialect, run, evaluators: some.map(({ name }) => name) })];
    });
  };
}

function notice(
  missing: Carried,
  { run, ...about }: Pick<ContentNotice, 'agent' | 'dialect' | 'evaluators'> & { readonly run: Run },
): ContentNotice {
  return {
    ...about,
    missing,
    lookedForIn: placesOf(missing, run.dialects).slice(0, placesMax),
    todo: missingDataOf(missing, run.dialects) ?? 'docs/reference/dialects.md lists the attributes that are read.',
    message: `evaluators skip the first runs of an agent: their spans carry no ${lackTexts[missing].replace(/^the /, '')}`,
  };
}

const isThere: { readonly [field in Carried]: (trace: AgentTrace) => boolean } = {
  input: ({ input }) => input !== undefined,
  final_response: ({ finalResponse }) => finalResponse !== undefined,
  tool_calls: ({ toolCalls }) => toolCalls.length > 0,
  tool_arguments: ({ toolCalls }) => toolCalls.some((call) => call.arguments !== undefined || call.argumentsText !== undefined),
  tool_results: ({ toolCalls }) => toolCalls.some(({ result, error }) => result !== undefined || error !== undefined),
  tool_definitions: ({ toolDefinitions }) => toolDefinitions.length > 0,
  tokens: ({ tokens }) => tokens !== undefined,
};

const fields = Object.keys(isThere) as readonly Carried[];
