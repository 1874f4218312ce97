/** Shared by routes with lists of runs: the parameters of the filter, and a page as JSON. */
import { type RunStatus, runStatuses } from '../../model/agent-trace.ts';
import type { TraceId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { issueIdPattern } from '../../model/store/issue-store.ts';
import type { RunFilter, Store } from '../../model/store/store.ts';
import { searchTerms, searchWordsMax } from '../../model/search-words.ts';
import { verdictWords, type VerdictWord } from '../../model/verdict.ts';
import * as api from '../../model/resource.ts';
import type { Micros } from '../../model/timestamp.ts';
import {
  type ApiDeps,
  list,
  named,
  nextOf,
  type Parameters,
  QueryFault,
  runPageOf,
  runParameters,
  runsOf,
  textParameter,
  timeAt,
} from './route.ts';
import { run, runRowJson } from './run-json.ts';
import { present } from '../../model/present.ts';

export const time = { type: 'string', maxLength: 40, description: 'A time in RFC 3339.' } as const;
export const traceId = { type: 'string', pattern: '^[0-9a-f]{32}$', description: 'Trace id, lower-case hex.' } as const;
export const tenant = { ...textParameter, description: 'Name of the token of the spans; empty for spans without a token.' } as const;

export const runFilters = {
  ...runParameters,
  service: { ...textParameter, description: 'Name of the service.' },
  session: { ...textParameter, description: 'Session id.' },
  user: { ...textParameter, description: 'Id of the person or customer that the agent works for.' },
  environment: { ...textParameter, description: '`deployment.environment.name` of the resource.' },
  trace: traceId,
  tenant,
  status: {
    enum: runStatuses,
    description: 'Runs that ended well (`ok`), that ended in an error (`error`), or that wait for a person or another program (`paused`).',
  },
  evaluator: { ...textParameter, description: 'Runs with a verdict of this name.' },
  verdict: { enum: verdictWords, description: 'Runs with such a verdict, of `evaluator` or of any.' },
  annotated: { enum: ['true', 'false'], description: '`true`: runs with an annotation; `false`: the others.' },
  label: { ...textParameter, description: 'Runs with an annotation of this label, or `name=label`.' },
  text: {
    ...textParameter,
    description: `Runs whose input and final answer have all these words, at most ${searchWordsMax}; the last word may be the beginning of one.`,
  },
  tool: { ...textParameter, description: 'Runs with a call of this tool.' },
  issue: { type: 'string', pattern: issueIdPattern, description: 'Runs of the issue with this id.' },
  min_duration: { type: 'number', minimum: 0, description: 'Runs that took this number of seconds or longer.' },
  max_duration: { type: 'number', minimum: 0, description: 'Runs that took this number of seconds or less.' },
  min_cost: { type: 'number', minimum: 0, description: 'Runs of this cost in US dollars or more. A run of unknown cost matches no bound.' },
  max_cost: { type: 'number', minimum: 0, description: 'Runs of this cost in US dollars or less.' },
  from: { ...time, description: 'Runs that started at this time or later.' },
  to: { ...time, description: 'Runs that started before this time.' },
} as const;

/** The place where a list without an index stopped. */
export const searchedTo: JsonObject = {
  searched_to: api.orNull(
    api.time,
    'Start of the last examined run, when the page ends at the limit of examined runs: `next` goes on from there. Null otherwise.',
  ),
};

export const searchedRuns = list('runs', run, {
  ...searchedTo,
  unindexed: api.countOrNull('With `text`: at most this number of runs have words that are not in the index yet. Null without `text`.'),
});

/** Refuses a search for text that cannot find anything. */
export function searchableFilter({ searches }: Pick<ApiDeps, 'searches'>, query: Parameters): RunFilter {
  const filter = filterOf(query);
  if (filter.text === undefined) return filter;
  if (!searches()) throw new QueryFault('The service indexes no texts.', 'Set store.search to true, or leave text out.');
  const { words, prefix } = searchTerms(filter.text);
  const terms = words.length + (prefix === undefined ? 0 : 1);
  if (terms === 0) throw new QueryFault('text has no word.', 'Write letters or digits.');
  if (terms > searchWordsMax) throw new QueryFault(`text has more than ${searchWordsMax} words.`, 'Search for fewer words.');
  return filter;
}

export function filterOf(query: Parameters): RunFilter {
  const [from, to] = [timeAt(query, 'from'), timeAt(query, 'to')];
  return present({
    from,
    to,
    ...runsOf(query),
    ...named(query, 'service', 'service'),
    ...named(query, 'session', 'sessionId'),
    ...named(query, 'user', 'userId'),
    ...named(query, 'environment', 'environment'),
    ...named(query, 'evaluator', 'evaluator'),
    traceId: typeof query['trace'] === 'string' ? (query['trace'] as TraceId) : undefined,
    annotated: typeof query['annotated'] === 'string' ? query['annotated'] === 'true' : undefined,
    verdict: typeof query['verdict'] === 'string' ? (query['verdict'] as VerdictWord) : undefined,
    status: typeof query['status'] === 'string' ? (query['status'] as RunStatus) : undefined,
    ...named(query, 'tool', 'tool'),
    ...named(query, 'text', 'text'),
    ...named(query, 'label', 'label'),
    ...named(query, 'issue', 'issue'),
    ...measured(query, 'min_duration', 'minDuration', microsPerSecond),
    ...measured(query, 'max_duration', 'maxDuration', microsPerSecond),
    ...measured(query, 'min_cost', 'minCost'),
    ...measured(query, 'max_cost', 'maxCost'),
  });
}

const microsPerSecond = 1_000_000;

function measured<Key extends string>(query: Parameters, name: string, key: Key, unit = 1): { readonly [K in Key]?: number } {
  const value = query[name];
  return typeof value === 'number' ? ({ [key]: value * unit } as { readonly [K in Key]: number }) : {};
}

export function searchedJson({ searchedTo: at }: { readonly searchedTo?: Micros | undefined }): JsonObject {
  return { searched_to: at === undefined ? null : api.timeOf(at) };
}

export async function runsPage(store: Store, filter: RunFilter, query: Parameters): Promise<JsonObject> {
  const page = await store.runs({ ...filter, ...runPageOf(query) });
  return { runs: page.runs.map(runRowJson), next: nextOf(page.next), ...searchedJson(page), unindexed: page.unindexed ?? null };
}
