/** The contract of an API route, and helpers for its parameters and schemas. */
import type { Collector } from '../../../collectors/collector.ts';
import type { JudgeInForce } from '../../analytics/judge-agreement.ts';
import type { RunKey } from '../../model/agent-trace.ts';
import type { AlertNotes, AlertRow } from '../../model/alert.ts';
import type { Clock } from '../../model/clock.ts';
import type { DatasetExample } from '../../model/example.ts';
import type { EntryStatus } from '../../model/exporter-status.ts';
import type { Tenant } from '../../model/ids.ts';
import { isJsonArray, type JsonObject, type JsonValue, parseJson } from '../../model/json.ts';
import type { JudgeOutage } from '../../model/judge-outage.ts';
import { present } from '../../model/present.ts';
import type { ProcessKey } from '../../model/store/process-store.ts';
import type { Annotation, TakenAnnotation } from '../../model/store/annotation-store.ts';
import * as api from '../../model/resource.ts';
import type { RunReader } from '../run-reader.ts';
import { conditionsOfQuery, type RunCondition, type RunConditionName, runConditions } from '../../model/store/run-filter.ts';
import type { KeptSpans, RunPlace, Store, StoredRun } from '../../model/store/store.ts';
import type { ServiceStatus } from '../../model/service-status.ts';
import { type RunPeriod, type RunSplit, runSplits, splitValuesMax } from '../../model/store/verdict-rows.ts';
import type { Micros } from '../../model/timestamp.ts';
import type { EventSource } from '../event-streams.ts';
import type { EvaluatorKind } from '../../model/verdict.ts';
import type { UnrecognisedNotice } from '../../pipeline/reporting/recognition.ts';
import type { AnnotationQueues } from '../../queues/annotation-queues.ts';
import type { MetricFamily } from '../../telemetry/registry.ts';

export interface ExporterQueues {
  statuses(): readonly EntryStatus[];
  /** Counts again after the rows of the store have changed. */
  recount(): Promise<void>;
}

export interface ApiDeps {
  readonly store: Store;
  /** Resolves with `undefined` when the store has no spans of the run's trace. */
  readonly spans: (key: RunKey) => Promise<KeptSpans | undefined>;
  /** Reads the spans of runs for pages, and keeps the last runs in memory. */
  readonly runs: RunReader;
  readonly exporters: ExporterQueues;
  /** Stores annotations and resolves with the outcome of each. */
  readonly annotate: (annotations: readonly Annotation[]) => Promise<readonly TakenAnnotation[]>;
  /** Removes one annotation; resolves with `false` when there is none. */
  readonly unannotate: (id: string) => Promise<boolean>;
  /** Runs that people are to answer questions about. */
  readonly queues: AnnotationQueues;
  /** Drops what is learnt of one process; resolves with `false` when there is none. */
  readonly removeProcess: (key: ProcessKey) => Promise<boolean>;
  /** The example without what `redact` removes. */
  readonly redacted: (example: DatasetExample) => DatasetExample;
  /** True when `redact` may have changed the text. */
  readonly mayBeRedacted: (text: string) => boolean;
  /** The text without what `redact` removes. */
  readonly redactedText: (text: string) => string;
  /** True when the words of stored texts are indexed. */
  readonly searches: () => boolean;
  readonly budgets: () => readonly BudgetRow[];
  /** Evaluators with a judge. */
  readonly judges: () => readonly JudgeInForce[];
  /** Judges and endpoints of evaluators that do not answer. */
  readonly judgeOutages: () => readonly JudgeOutage[];
  /** In the order of the configuration. */
  readonly evaluators: () => readonly EvaluatorInForce[];
  readonly clock: Clock;
  /** The least probability that `tracestate` may claim, and the number of runs below it since the start. */
  readonly upstream: { readonly probabilityMin: number; readonly raised: () => number };
  /** Brings the sums by version up to date. Resolves with `false` when some are left for later. */
  readonly refreshVersions: () => Promise<boolean>;
  readonly alerts: () => readonly AlertRow[];
  readonly alertNotes: AlertNotes;
  /** The question that a judge gets about a run, or why there is none. `name`: of the configured evaluator. */
  readonly judgeQuestion?: (run: StoredRun, name: string) => Promise<JudgeQuestion | NoQuestion>;
  /** Collectors that the configuration describes. */
  readonly dialects?: () => readonly Collector[];
  /** Every metric since the start of the process. */
  readonly metrics: () => readonly MetricFamily[];
  /** Outcomes of evaluators since the start of the process. */
  readonly evaluability: () => readonly JsonObject[];
  /** Loads the demonstration. `busy`: it is being loaded; `refused`: the service accepts no spans now. */
  readonly loadDemo: () => Promise<DemoLoaded | 'busy' | 'refused'>;
  /** True when a request with spans needs a token. */
  readonly isIngestTokenNeeded: boolean;
  /** Services and scopes without a recognised agent. */
  readonly unrecognised: () => readonly UnrecognisedNotice[];
  readonly status: ServiceStatus;
}

/** Rights of a caller beside sending spans. */
export const rights = ['read', 'annotate', 'operate'] as const;
export type Right = (typeof rights)[number];

export interface Caller {
  /** Name of the token or the person; `undefined` for a caller with neither. */
  readonly name: string | undefined;
  /** True when an issuer of OpenID Connect names the person. */
  readonly isPerson: boolean;
  readonly rights: readonly Right[];
  /** The only tenant that the caller sees; `undefined`: all. */
  readonly tenant: Tenant | undefined;
  /** `undefined` for a caller without a cookie. */
  readonly session: { readonly antiForgery: string; readonly expiresAtMs: number } | undefined;
}

export type SignInWay = 'token' | 'oidc';

/** One request of a caller. */
export interface Visit extends Caller {
  /** True when reading requires a token or a sign-in. */
  readonly isSignInNeeded: boolean;
  readonly ways: readonly SignInWay[];
  /** Begins a session for the holder of a token that may read; the answer sets its cookie. */
  readonly signIn: (token: string) => Promise<Caller | 'refused' | 'too_many'>;
  /** Ends the session; the answer removes its cookie. */
  readonly signOut: () => Promise<void>;
  /** Where the service accepts spans, as the caller reaches it; `undefined` until it does. */
  readonly otlp: OtlpAddresses | undefined;
}

/** The addresses of the receivers. */
export interface OtlpAddresses {
  /** A URL. */
  readonly http: string;
  /** `host:port`, over TLS with `https://` in front. */
  readonly grpc: string;
}

export interface DemoLoaded {
  readonly spans: number;
  /** Without those of sub-agents. */
  readonly runs: number;
}

export interface Route {
  /** Methods other than `get` change something and need a token for it. */
  readonly method: 'get' | 'post' | 'put' | 'patch' | 'delete';
  /** Parameters in braces. */
  readonly path: string;
  readonly summary: string;
  readonly path_parameters: { readonly [name: string]: JsonObject };
  readonly query_parameters: { readonly [name: string]: JsonObject };
  /** Permission of the token for a change. Default: operate. */
  readonly may?: 'annotate';
  /** True when the route needs no token. */
  readonly isOpen?: true;
  /** True when the answer is not about tenants, so a token that sees one may have it. */
  readonly isOfTenants?: true;
  /** Fastify checks the body against `taken`; the route itself checks the rest of `schema`. */
  readonly body?: { readonly bytesMax: number; readonly taken: JsonObject; readonly schema: JsonObject };
  /** Statuses of answers beside 200. */
  readonly statuses?: { readonly of: (answer: JsonObject) => number; readonly meanings: { readonly [status: number]: string } };
  /** Statuses of refusals beside the usual ones, with their meaning; the route throws `Refusal`. */
  readonly refusals?: { readonly [status: number]: string };
  /** Why an answer is 404. Default: the store has no such run. */
  readonly missing?: { readonly message: string; readonly todo: string };
  /** JSON Schema of the answer. */
  readonly answer: JsonObject;
  /** For an answer that is a file instead of JSON: its content type and file name extension. */
  readonly file?: { readonly type: string; readonly ending: string };
  /** The same for values of the parameter `format`: the answer is then a text. */
  readonly formats?: { readonly [format: string]: { readonly type: string; readonly ending: string } };
  /** Name of the file of `formats`, without its extension. Default: the first part of the path. */
  readonly fileName?: (parameters: Parameters) => string;
  /** Lists of the answer about all tenants; they are empty for a token that sees one tenant. */
  readonly ofAllTenants?: readonly string[];
  /** For an answer that is a stream of server-sent events: its source. `lastId`: the last event that the client has had. */
  readonly events?: (parts: ApiDeps, parameters: Parameters, lastId: string | undefined) => EventSource;
  /** Resolves with `undefined` for 404. */
  readonly handle: (parts: ApiDeps, parameters: Parameters, body: JsonValue, visit: Visit) => Promise<JsonValue | FileAnswer | undefined>;
}

/** A route that needs these parts only, so a command can serve it without a listener. */
export interface RouteOver<Deps> extends Omit<Route, 'handle'> {
  readonly handle: (deps: Deps, parameters: Parameters, body: JsonValue, caller: Pick<Caller, 'name'>) => Promise<JsonValue | undefined>;
}

/** An entry of `evaluators`, as the configuration in force has it. */
export interface EvaluatorInForce {
  readonly name: string;
  readonly evaluator: string;
  readonly kind: EvaluatorKind;
  readonly version: number;
  readonly summary: string;
  /** Null for a metric without pass or fail. */
  readonly threshold: number | null;
  readonly target: 'run' | 'session';
  /** Names of its judges; empty for rules and endpoints. */
  readonly judges: readonly string[];
  /** 1 for rules. */
  readonly sampleRate: number;
  /** True when `when` chooses runs. */
  readonly isConditional: boolean;
}

/** A limit per day in US dollars, requests or tokens. */
export interface BudgetRow {
  /** `undefined` for the limit of an evaluator. */
  readonly judge: string | undefined;
  /** `undefined` for the limit of a judge. */
  readonly evaluator: string | undefined;
  /** The key of the configuration. */
  readonly limit: string;
  readonly most: number;
  readonly spent: number;
  readonly reserved: number;
  /** Factor on sample rates, 0..1. */
  readonly share: number;
}

/** Input of a judge. */
export interface JudgeQuestion {
  readonly instruction: string;
  readonly data: readonly { readonly title: string; readonly text: string }[];
  readonly answerSchema: JsonObject;
  /** True when the evaluator may ask more questions about the run. */
  readonly isFirstOfSeveral: boolean;
}

/** Why there is no question. `skipped`: the evaluator would skip the run. `not_in_spans`: the spans of the trace make no such run. */
export const noQuestionReasons = ['not_configured', 'no_judge', 'of_session', 'no_spans', 'too_large', 'not_in_spans', 'skipped'] as const;
export type NoQuestion = (typeof noQuestionReasons)[number];

const dayMicros = 86_400_000_000;

/** A wrong query: the message names the parameter and the fault, `todo` the remedy. */
export class QueryFault extends Error {
  readonly todo: string;

  constructor(message: string, todo: string) {
    super(message);
    this.name = 'QueryFault';
    this.todo = todo;
  }
}

/** A file with its own headers. */
export class FileAnswer {
  readonly text: string;
  readonly headers: { readonly [name: string]: string };

  constructor(text: string, headers: { readonly [name: string]: string } = {}) {
    this.text = text;
    this.headers = headers;
  }
}

/** The store has the run, but not the requested part of it. */
export class NotKept extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotKept';
  }
}

/** A request that the state of the store, or the content of its body, does not allow. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  readonly todo: string;

  constructor(status: number, { code, message, todo }: { readonly code: string; readonly message: string; readonly todo: string }) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.code = code;
    this.todo = todo;
  }
}

/** Checked parameters. */
export interface Parameters {
  readonly [name: string]: string | number | undefined;
}

export function named<Key extends string>(query: Parameters, name: string, key: Key): { readonly [K in Key]?: string } {
  const value = query[name];
  return typeof value === 'string' ? ({ [key]: value } as { readonly [K in Key]: string }) : {};
}

export function tenantOf({ tenant }: Parameters): { readonly tenant?: Tenant } {
  return typeof tenant === 'string' ? { tenant: tenant as Tenant } : {};
}

/** `undefined` when the parameter is absent. Throws for a text that is not RFC 3339. */
export function timeAt(query: Parameters, name: string): Micros | undefined {
  const text = query[name];
  if (typeof text !== 'string') return undefined;
  const micros = parsedTime(text);
  if (micros === undefined)
    throw new QueryFault(
      `${name} is ${JSON.stringify(text)}, which is not a time.`,
      'Write a date or a time in RFC 3339: 2026-11-21, or 2026-11-21T09:30:00Z.',
    );
  return micros;
}

/** From `from` on, before `to`. Default: the last day. */
export function periodOf(query: Parameters, clock: Clock, usualMicros: Micros = dayMicros): { readonly from: Micros; readonly to: Micros } {
  const to = timeAt(query, 'to') ?? clock.nowMs() * 1_000;
  const from = timeAt(query, 'from') ?? to - usualMicros;
  if (from >= to) throw new QueryFault('from is not before to.', 'Give a from that lies before to.');
  return { from: Math.floor(from), to: Math.ceil(to) };
}

/** Reads RFC 3339 to the millisecond; `undefined` for any other text. */
export function parsedTime(text: string): Micros | undefined {
  const ms = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms * 1_000;
}

/** The end of the previous page, opaque to clients. */
export function cursorText({ startedAt, id }: RunPlace): string {
  return opaque([startedAt, id]);
}

export function placeOf(cursor: string): RunPlace {
  const [startedAt, id, ...more] = cursorNumbers(cursor);
  if (startedAt === undefined || id === undefined || more.length > 0) throw unknownCursor();
  return { startedAt, id };
}

/** The number of entries on previous pages, opaque to clients. */
export function offsetText(offset: number): string {
  return opaque([offset]);
}

export function offsetOf(cursor: string): number {
  const [offset = -1, ...more] = cursorNumbers(cursor);
  if (offset < 0 || more.length > 0) throw unknownCursor();
  return offset;
}

function opaque(numbers: readonly number[]): string {
  return Buffer.from(JSON.stringify(numbers)).toString('base64url');
}

function cursorNumbers(cursor: string): readonly number[] {
  const value = parseJson(Buffer.from(cursor, 'base64url').toString());
  if (!isJsonArray(value ?? null)) return [];
  const numbers = (value as readonly unknown[]).filter((one) => typeof one === 'number' && Number.isSafeInteger(one)) as readonly number[];
  return numbers.length === (value as readonly unknown[]).length ? numbers : [];
}

function unknownCursor(): QueryFault {
  return new QueryFault('cursor is not from this API.', 'Give the value of "next" of the previous page, and the same filters.');
}

export const textParameter = { type: 'string', maxLength: 1_000 } as const;

function parameterOf({ schema, about }: RunCondition): JsonObject {
  const bounds = schema === undefined ? textParameter : 'type' in schema && schema.type === 'number' ? { ...schema, minimum: 0 } : schema;
  return { ...bounds, description: about };
}

/** The parameters of a filter of runs, beside its time. */
export const conditionParameters = Object.fromEntries(
  Object.entries(runConditions).map(([name, condition]) => [name, parameterOf(condition)]),
) as { readonly [Name in RunConditionName]: JsonObject };

/** The choice of runs for figures, beside their time. */
export const runParameters = {
  agent: conditionParameters.agent,
  version: conditionParameters.version,
  model: conditionParameters.model,
  prompt: conditionParameters.prompt,
} as const;

export const splitDescription = `Splits the figures by version of the agent, by its model, or by the hash of its system prompt. The ${splitValuesMax} values of the most runs are listed separately`;

/** The runs that `runParameters` name. */
export function runsOf(query: Parameters): Pick<RunPeriod, 'agent' | 'tenant' | 'version' | 'model' | 'prompt'> {
  const { agent, tenant, version, model, prompt } = conditionsOfQuery(query);
  return present({ agent, tenant, version, model, prompt });
}

/** The period of figures. */
export const periodParameters = {
  from: {
    type: 'string',
    maxLength: 40,
    description: 'Runs that started at this time or later, in RFC 3339; when left out, a day before `to`.',
  },
  to: { type: 'string', maxLength: 40, description: 'Runs that started before this time; now when left out.' },
} as const;

/** The body of a request that Fastify checks as a whole. */
export function bodyOf(properties: JsonObject, required: readonly string[], bytesMax: number): NonNullable<Route['body']> {
  const schema = { type: 'object', additionalProperties: false, required, properties };
  return { bytesMax, taken: schema, schema };
}

export const tenantParameter = {
  ...textParameter,
  description: 'Only runs of this tenant: the name of the token of their spans, empty for spans without a token.',
} as const;

/** Where figures are split, the value of the split. */
export const splitMembers: JsonObject = {
  version: api.textOrNull('With `by=version`.'),
  model: api.textOrNull('With `by=model`.'),
  prompt: api.textOrNull('Hash of the system prompt, set by `by=prompt`.'),
};

/** The value of the split has the split's name as key. */
export function splitJson(by: RunSplit | undefined, of: string | undefined): JsonObject {
  return by === undefined ? {} : { [by]: of ?? null };
}

export function splitIn(query: Parameters): { readonly by?: RunSplit } {
  const split = splitOf(query);
  return split === undefined ? {} : { by: split };
}

export function splitOf({ by }: Parameters): RunSplit | undefined {
  return runSplits.find((split) => split === by);
}

export const limitDefault = 50;
export const pages = {
  limit: { type: 'integer', minimum: 1, maximum: 200, default: limitDefault, description: 'Entries of one page.' },
  cursor: { ...textParameter, description: '`next` of the previous page.' },
} as const;

export const nextCursor: JsonObject = api.orNull(api.text, 'Cursor of the next page; null on the last page.');

/** A page of resources. */
export function list(key: string, { schema }: Pick<api.Shape, 'schema'>, more: JsonObject = {}): JsonObject {
  return api.object({ [key]: api.many(schema), next: nextCursor, ...more });
}

/** The wanted page of a list whose cursor is the number of entries before it, or of the last one. */
export function pageOf({ limit, cursor }: Parameters, usual = limitDefault): { readonly limit: number; readonly after?: number } {
  return { limit: Number(limit ?? usual), ...(typeof cursor === 'string' ? { after: offsetOf(cursor) } : {}) };
}

/** The wanted page of a list whose cursor is the place of a run. */
export function runPageOf({ limit, cursor }: Parameters): { readonly limit: number; readonly after?: RunPlace } {
  return { limit: Number(limit ?? limitDefault), ...(typeof cursor === 'string' ? { after: placeOf(cursor) } : {}) };
}

/** The cursor of the next page; null on the last page. */
export function nextOf(next: number | RunPlace | undefined): string | null {
  if (next === undefined) return null;
  return typeof next === 'number' ? offsetText(next) : cursorText(next);
}
