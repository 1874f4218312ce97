/** The contract of a backend with a score API: how to write scores, what that needs, and what the API cannot take. */
import { type JsonValue, member, parseJson } from '../../model/json.ts';
import type { ExportOutcome } from '../exporter.ts';
import { type ScoreApiScore, isUuid } from './score-api-score.ts';
import { type Answer, objectsIn } from '../delivery/http-client.ts';
import { exportOutcome } from '../delivery/export-outcome.ts';

/** A value that an entry of the configuration gives, or else the first of these environment variables that is set. */
export interface ScoreApiKey {
  readonly variables: readonly string[];
  readonly isRequired?: true;
  readonly preset?: string;
  /** Where it listens on a developer's machine. `init` writes it as the default of the variable. */
  readonly local?: string;
  /** What the text of a variable means, where that is not the text itself. Undefined: nothing. */
  readonly ofVariable?: (text: string) => string | undefined;
}

export const scoreApiKeyNames = ['api_key', 'public_key', 'user', 'project', 'workspace', 'scores'] as const;
export type ScoreApiKeyName = (typeof scoreApiKeyNames)[number];

/** Of `endpoint` and the keys what was given; a key that is not there was neither written nor is it in the environment. */
export interface ScoreApiSettings {
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly keys: { readonly [name in ScoreApiKeyName]?: string };
}

export interface ScoreApiAccount extends ScoreApiSettings {
  /** Cached answers of look-ups, such as the id of a project by its name. A failure clears the cache. */
  readonly known: Map<string, string>;
}

export interface ScoreApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Behind the endpoint, from the slash on. */
  readonly path: string;
  readonly body?: JsonValue;
  /** What of the answer is kept, where it is more than a few words. */
  readonly answerBytesMax?: number;
}

/** `only`: ids of the failed scores, when the answer names them; all others are written. */
export type ScoreApiOutcome = ExportOutcome & { readonly only?: ReadonlySet<string> };

/** Sends one request; resolves, never rejects. */
export type ScoreApiCall = (request: ScoreApiRequest) => Promise<Answer>;

export interface ScoreApiBackend {
  readonly id: string;
  /** As its makers write it. */
  readonly title: string;
  readonly endpoint: ScoreApiKey;
  readonly keys: { readonly [name in ScoreApiKeyName]?: ScoreApiKey };
  /** Where verdicts on a run, on a tool call and on a session stand. */
  readonly places: { readonly run: string; readonly toolCall: string; readonly session: string };
  /** What happens to the verdict of a revision: overwritten, or looked up and changed. */
  readonly revisions: string;
  /** Sentences: what of a verdict is lost there. */
  readonly cannotTake: readonly string[];
  /** Runs whose scores go together. */
  readonly itemsPerRequest: number;
  /** How long scores wait for others to go with, where it takes few requests. */
  readonly gatherMs?: number;
  headers(settings: ScoreApiSettings): { readonly [name: string]: string };
  /** A request that changes nothing, and that is answered well only when the credentials are right. */
  readonly probe: ScoreApiRequest;
  /** Writes all scores or resolves with the failure. Idempotent. */
  write(scores: readonly ScoreApiScore[], call: ScoreApiCall, account: ScoreApiAccount): Promise<ScoreApiOutcome>;
  /** For a dry run: the answer to a look-up when the spans are there and nothing of ours is. `{}` when left out. */
  supposed?(request: ScoreApiRequest): JsonValue;
}

export interface ProjectLookup {
  readonly call: ScoreApiCall;
  readonly account: Pick<ScoreApiAccount, 'keys' | 'known'>;
  /** Of the request that lists projects of this name. */
  readonly path: (name: string) => string;
  /** Where the list stands in the answer. */
  readonly listIn: (body: JsonValue) => JsonValue | undefined;
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
  const body = parseJson(answer.body.toString());
  const [first = {}] = objectsIn(body === undefined ? undefined : listIn(body));
  const id = member(first, 'id');
  // Projects are made with their first span. The id becomes part of paths and queries.
  if (typeof id !== 'string' || !isUuid(id)) return { kind: 'failed', retryable: true, isMissing: true, error: 'its project is not there' };
  known.set(project, id);
  return id;
}
