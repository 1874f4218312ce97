/** The contract of a backend with a score API: how to write scores, which settings that takes, and what the API cannot represent. */
import { type JsonValue, member, parseJson } from '../../model/json.ts';
import type { ExportOutcome } from '../exporter.ts';
import { type ScoreApiScore, isUuid } from './score-api-score.ts';
import { type Answer, objectsIn } from '../delivery/http-client.ts';
import { exportOutcome, missing } from '../delivery/export-outcome.ts';

/** A setting: the value of the configuration entry, or else the first of these environment variables that is set. */
export interface ScoreApiKey {
  readonly variables: readonly string[];
  readonly isRequired?: true;
  readonly preset?: string;
  /** Address on a developer's machine. `init` writes it as the default of the variable. */
  readonly local?: string;
  /** Converts the text of a variable; `undefined` ignores the variable. Default: the text itself. */
  readonly ofVariable?: (text: string) => string | undefined;
}

export const scoreApiKeyNames = ['api_key', 'public_key', 'user', 'project', 'workspace', 'scores'] as const;
export type ScoreApiKeyName = (typeof scoreApiKeyNames)[number];

/** The settings of one entry. A key is absent when neither the entry nor the environment has it. */
export interface ScoreApiSettings {
  /** Without a slash at the end. */
  readonly endpoint: string;
  readonly keys: { readonly [name in ScoreApiKeyName]?: string };
}

export interface ScoreApiAccount extends ScoreApiSettings {
  /** Cached look-ups, such as a project id by its name. A failure clears the cache. */
  readonly known: Map<string, string>;
}

export interface ScoreApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Path below the endpoint, from the slash on. */
  readonly path: string;
  readonly body?: JsonValue;
  /** Limit of the answer's body. Default: the limit of the HTTP client. */
  readonly answerBytesMax?: number;
}

/** `only`: ids of the failed scores, when the answer names them; the others are written. */
export type ScoreApiOutcome = ExportOutcome & { readonly only?: ReadonlySet<string> };

/** Sends one request; resolves, never rejects. */
export type ScoreApiCall = (request: ScoreApiRequest) => Promise<Answer>;

export interface ScoreApiBackend {
  readonly id: string;
  /** The product name as its vendor writes it. */
  readonly title: string;
  readonly endpoint: ScoreApiKey;
  readonly keys: { readonly [name in ScoreApiKeyName]?: ScoreApiKey };
  /** Where the verdicts on a run, a tool call and a session appear. */
  readonly places: { readonly run: string; readonly toolCall: string; readonly session: string };
  /** Describes how the verdict of a later revision replaces the earlier one. */
  readonly revisions: string;
  /** Sentences about what the backend loses of a verdict. */
  readonly cannotTake: readonly string[];
  /** Runs whose scores share a request. */
  readonly itemsPerRequest: number;
  /** How long scores wait for further ones, for a backend with a low rate limit. */
  readonly gatherMs?: number;
  headers(settings: ScoreApiSettings): { readonly [name: string]: string };
  /** A request without effect that succeeds only with valid credentials. */
  readonly probe: ScoreApiRequest;
  /** Writes all scores or resolves with the failure. Idempotent. */
  write(scores: readonly ScoreApiScore[], call: ScoreApiCall, account: ScoreApiAccount): Promise<ScoreApiOutcome>;
  /** Answers a look-up in a dry run as if the spans exist and have no scores. Default: `{}`. */
  supposed?(request: ScoreApiRequest): JsonValue;
}

export interface ProjectLookup {
  readonly call: ScoreApiCall;
  readonly account: Pick<ScoreApiAccount, 'keys' | 'known'>;
  /** Path of the request that lists projects of this name. */
  readonly path: (name: string) => string;
  /** Selects the list in the answer. */
  readonly listIn: (body: JsonValue) => JsonValue | undefined;
}

/** The id of the configured project, which the entry may give as a name or an id. The empty text when the entry has no project. */
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
  // A project is created with its first span. Paths and queries contain the id, so it must be a UUID.
  if (typeof id !== 'string' || !isUuid(id)) return missing('its project is not there');
  known.set(project, id);
  return id;
}
