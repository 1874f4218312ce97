/** Items that exist more than once at the end of a trial. */
import { isJsonArray, type JsonObject } from '../../src/model/json.ts';

/**
 * A run twice, a second revision of a run to which nothing new came, two verdicts of one name, or a second span of scores. `taken`: ids of spans that
 * the backend has, by their trace.
 */
export function doubledIn(runs: readonly JsonObject[], taken: ReadonlyMap<string, ReadonlySet<string>>): number {
  const keys = runs.map((run) => `${String(run['trace_id'])}/${String(run['span_id'])}`);
  const twice = keys.length - new Set(keys).size;
  const revised = runs.filter(({ revision, completeness }) => revision !== 1 && completeness === 'complete').length;
  const verdicts = runs
    .map((run) => listOf(run, 'verdicts').map(({ name }) => String(name)))
    .filter((names) => new Set(names).size < names.length).length;
  const carriers = [...taken.values()].reduce((sum, spans) => sum + spans.size - 1, 0);
  return twice + revised + verdicts + carriers;
}

export function listOf(object: JsonObject, key: string): readonly JsonObject[] {
  const list = object[key];
  return list !== undefined && isJsonArray(list) ? (list as readonly JsonObject[]) : [];
}
