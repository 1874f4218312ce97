/** Shared by routes with lists of runs: the parameters of the filter, and a page as JSON. */
import type { JsonObject } from '../../model/json.ts';
import { present } from '../../model/present.ts';
import * as api from '../../model/resource.ts';
import { searchTerms, searchWordsMax } from '../../model/search-words.ts';
import { conditionsOfQuery } from '../../model/store/run-filter.ts';
import type { RunFilter, Store } from '../../model/store/store.ts';
import type { Micros } from '../../model/timestamp.ts';
import { type ApiDeps, conditionParameters, list, nextOf, type Parameters, QueryFault, runPageOf, timeAt } from './route.ts';
import { run, runRowJson } from './run-json.ts';

export const time = { type: 'string', maxLength: 40, description: 'A time in RFC 3339.' } as const;
export const { trace: traceId, tenant } = conditionParameters;

export const runFilters = {
  ...conditionParameters,
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
  return { ...conditionsOfQuery(query), ...present({ from: timeAt(query, 'from'), to: timeAt(query, 'to') }) };
}

export function searchedJson({ searchedTo: at }: { readonly searchedTo?: Micros | undefined }): JsonObject {
  return { searched_to: at === undefined ? null : api.timeOf(at) };
}

export async function runsPage(store: Store, filter: RunFilter, query: Parameters): Promise<JsonObject> {
  const page = await store.runs({ ...filter, ...runPageOf(query) });
  return { runs: page.runs.map(runRowJson), next: nextOf(page.next), ...searchedJson(page), unindexed: page.unindexed ?? null };
}
