/** The contract of a backend with scores of its own: how they are written there, what is needed for it, and what it cannot take. */
import type { JsonValue } from '../../model/json.ts';
import type { ExportOutcome } from '../exporter.ts';
import type { NativeScore } from './score-api-score.ts';
import type { Answer } from '../delivery/http-request.ts';

/** A value that an entry of the configuration gives, or else the first of these environment variables that is set. */
export interface NativeKey {
  readonly variables: readonly string[];
  readonly isRequired?: true;
  readonly preset?: string;
  /** What the text of a variable means, where that is not the text itself. Undefined: nothing. */
  readonly ofVariable?: (text: string) => string | undefined;
}

export const nativeKeyNames = ['api_key', 'public_key', 'user', 'project', 'workspace', 'scores'] as const;
export type NativeKeyName = (typeof nativeKeyNames)[number];

/** Of `endpoint` and the keys what was given; a key that is not there was neither written nor is it in the environment. */
export interface NativeSettings {
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly keys: { readonly [name in NativeKeyName]?: string };
}

export interface NativeAccount extends NativeSettings {
  /** What look-ups have told that outlives a request, such as the id of a project by its name. It is emptied after a failure. */
  readonly known: Map<string, string>;
}

export interface NativeRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Behind the endpoint, from the slash on. */
  readonly path: string;
  readonly body?: JsonValue;
  /** What of the answer is kept, where it is more than a few words. */
  readonly answerBytesMax?: number;
}

/** `only`: ids of the scores that a failure is about, where the answer tells; all others are written. */
export type NativeOutcome = ExportOutcome & { readonly only?: ReadonlySet<string> };

/** Sends one request; resolves, never rejects. */
export type NativeCall = (request: NativeRequest) => Promise<Answer>;

export interface NativeBackend {
  readonly id: string;
  /** As its makers write it. */
  readonly title: string;
  readonly endpoint: NativeKey;
  readonly keys: { readonly [name in NativeKeyName]?: NativeKey };
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
  headers(settings: NativeSettings): { readonly [name: string]: string };
  /** A request that changes nothing, and that is answered well only when the credentials are right. */
  readonly probe: NativeRequest;
  /** Writes all of them or tells what went wrong. The same scores again change nothing. */
  write(scores: readonly NativeScore[], call: NativeCall, account: NativeAccount): Promise<NativeOutcome>;
  /** For a dry run: the answer to a look-up when the spans are there and nothing of ours is. `{}` when left out. */
  supposed?(request: NativeRequest): JsonValue;
}
