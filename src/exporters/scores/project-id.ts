/** The id of a project by its name, for backends whose requests want the id. It is asked for once, and again after a failure. */
import { isJsonArray, isJsonObject, member, parseJson, type JsonValue } from '../../model/json.ts';
import type { ExportOutcome } from '../exporter.ts';
import { exportOutcome } from '../delivery/export-outcome.ts';
import type { NativeAccount, NativeCall } from './score-api-backend.ts';
import { isUuid } from './score-api-score.ts';

export interface ProjectLookup {
  readonly call: NativeCall;
  readonly account: Pick<NativeAccount, 'keys' | 'known'>;
  /** Of the request that lists projects of this name. */
  readonly path: (name: string) => string;
  /** Where the list stands in the answer. */
  readonly listIn: (told: JsonValue) => JsonValue | undefined;
}

/** An entry may name the id itself. Empty: it names none. */
export async function projectId({
  call,
  account: {
    keys: { project = '' },
    known,
  },
  path,
  listIn,
}: ProjectLookup): Promise<string | ExportOutcome> {
  const found = project === '' || isUuid(project) ? project : known.get(project);
  if (found !== undefined) return found;
  const answer = await call({ method: 'GET', path: path(project) });
  const outcome = exportOutcome(answer);
  if (outcome.kind === 'failed' || answer.kind === 'unanswered') return outcome;
  const told = parseJson(answer.body.toString());
  const list = told === undefined ? undefined : listIn(told);
  const first = list !== undefined && isJsonArray(list) ? list[0] : undefined;
  const id = first !== undefined && isJsonObject(first) ? member(first, 'id') : undefined;
  // Projects are made with their first span. The id becomes part of paths and queries.
  if (typeof id !== 'string' || !isUuid(id)) return { kind: 'failed', retryable: true, isMissing: true, error: 'its project is not there' };
  known.set(project, id);
  return id;
}
