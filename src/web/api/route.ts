/** The contract of a route of the API, and what routes are given to answer from. */
import type { JudgeInForce } from '../../analytics/judge-agreement.ts';
import type { RunKey } from '../../model/agent-trace.ts';
import type { Clock } from '../../model/clock.ts';
import type { EntryStatus } from '../../model/exporter-status.ts';
import type { Tenant, TraceId } from '../../model/ids.ts';
import { isJsonArray, type JsonObject, type JsonValue, parseJson } from '../../model/json.ts';
import type { Annotation, TakenAnnotation } from '../../model/store/annotation-store.ts';
import type { KeptSpans, RunFilter, RunPlace, Store } from '../../model/store/store.ts';
import type { Micros } from '../../model/timestamp.ts';
import type { VerdictWord } from '../../model/verdict.ts';
import type { UnrecognisedNotice } from '../../pipeline/reporting/recognition.ts';

/** The queues of exporters, as far as they are told of. */
export interface ExporterQueues {
  statuses(): readonly EntryStatus[];
  /** The rows of the store have changed. */
  recount(): Promise<void>;
}

export interface ApiDeps {
  readonly store: Store;
  /** Undefined: none are kept of the run's trace. */
  readonly spans: (key: RunKey) => Promise<KeptSpans | undefined>;
  readonly exporters: ExporterQueues;
  /** Keeps what was said of runs, and gives the fate of each. */
  readonly annotate: (annotations: readonly Annotation[]) => Promise<readonly TakenAnnotation[]>;
  /** Takes one back; whether it was there. */
  readonly unannotate: (id: string) => Promise<boolean>;
  /** How the limits of budgets stand, of judges and of evaluators. */
  readonly budgets: () => readonly BudgetRow[];
  /** Evaluators that ask a judge. */
  readonly judges: () => readonly JudgeInForce[];
  readonly clock: Clock;
  /** What is believed of samplers before the service, and how many runs have claimed more weight than that since the start. */
  readonly upstream: { readonly probabilityMin: number; readonly raised: () => number };
  /** Attempts of evaluators since the start of the process, by what came of them. */
  readonly evaluability: () => readonly JsonObject[];
  /** Services and scopes in whose spans no agent is recognised. */
  readonly unrecognised: () => readonly UnrecognisedNotice[];
}
export interface Route {
  /** Other than `get`: it changes something, and asks for a token that may do it. */
  readonly method: 'get' | 'post' | 'delete';
  /** Parameters in braces. */
  readonly path: string;
  readonly summary: string;
  readonly path_parameters: { readonly [name: string]: JsonObject };
  readonly query_parameters: { readonly [name: string]: JsonObject };
  /** What the token must be allowed where something changes; left out: to operate. */
  readonly may?: 'annotate';
  /** Absent: it takes none. `taken` is checked before the route is asked, which looks at the rest of `schema` by itself. */
  readonly body?: { readonly bytesMax: number; readonly taken: JsonObject; readonly schema: JsonObject };
  /** How an answer is marked that was not what one hopes for, and what that means; left out: 200. */
  readonly statuses?: { readonly of: (answer: JsonObject) => number; readonly meanings: { readonly [status: number]: string } };
  /** What the answer is, as JSON Schema. */
  readonly answer: JsonObject;
  /** Absent: the answer is JSON. Else a text of this type, to be saved as a file that ends so. */
  readonly file?: { readonly type: string; readonly ending: string };
  /** Lists of the answer that tell of all tenants: empty for whoever sees one alone. */
  readonly ofAllTenants?: readonly string[];
  /** Undefined: there is no such thing. */
  readonly handle: (parts: ApiDeps, parameters: Parameters, body: JsonValue) => Promise<JsonValue | undefined>;
}

/** A limit of the day, in its unit: US dollars, requests or tokens. */
export interface BudgetRow {
  /** Undefined: an evaluator's. */
  readonly judge: string | undefined;
  /** Undefined: a judge's. */
  readonly evaluator: string | undefined;
  /** The key of the configuration. */
  readonly limit: string;
  readonly most: number;
  readonly spent: number;
  readonly reserved: number;
  /** Of sample rates, what it leaves, 0..1. */
  readonly share: number;
}

// From the texts of a query to what the store is asked. What no schema can say is said here.

const dayMicros = 86_400_000_000;

/** A query that cannot be answered: which parameter, what is wrong, what would be right. */
export class QueryFault extends Error {
  readonly todo: string;

  constructor(message: string, todo: string) {
    super(message);
    this.name = 'QueryFault';
    this.todo = todo;
  }
}

/** It was there once, or might be: why it is not. */
export class NotKept extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'NotKept';
  }
}

/** Parameters after their schema: texts, and whole numbers where it says so. */
export interface Parameters {
  readonly [name: string]: string | number | undefined;
}

export function filterOf(query: Parameters): RunFilter {
  const [from, to] = [timeAt(query, 'from'), timeAt(query, 'to')];
  return {
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...named(query, 'agent', 'agent'),
    ...named(query, 'service', 'service'),
    ...named(query, 'version', 'version'),
    ...named(query, 'session', 'sessionId'),
    ...named(query, 'evaluator', 'evaluator'),
    ...tenantOf(query),
    ...(typeof query['trace'] === 'string' ? { traceId: query['trace'] as TraceId } : {}),
    ...(typeof query['annotated'] === 'string' ? { annotated: query['annotated'] === 'true' } : {}),
    ...(typeof query['verdict'] === 'string' ? { verdict: query['verdict'] as VerdictWord } : {}),
  };
}

export function named<Key extends string>(query: Parameters, name: string, key: Key): { readonly [K in Key]?: string } {
  const value = query[name];
  return typeof value === 'string' ? ({ [key]: value } as { readonly [K in Key]: string }) : {};
}

export function tenantOf({ tenant }: Parameters): { readonly tenant?: Tenant } {
  return typeof tenant === 'string' ? { tenant: tenant as Tenant } : {};
}

/** RFC 3339; undefined when it is not there. */
function timeAt(query: Parameters, name: string): Micros | undefined {
  const text = query[name];
  if (typeof text !== 'string') return undefined;
  const micros = parsedTime(text);
  if (micros === undefined)
    throw new QueryFault(
      `${name} is ${JSON.stringify(text)}, which is no time.`,
      'Write a date or a time as RFC 3339 does: 2026-11-21, or 2026-11-21T09:30:00Z.',
    );
  return micros;
}

/** From `from` on, before `to`: a day up to now where nothing is said. */
export function periodOf(query: Parameters, clock: Clock, usualMicros: Micros = dayMicros): { readonly from: Micros; readonly to: Micros } {
  const to = timeAt(query, 'to') ?? clock.nowMs() * 1_000;
  const from = timeAt(query, 'from') ?? to - usualMicros;
  if (from >= to) throw new QueryFault('from is not before to.', 'Give a from that lies before to.');
  return { from: Math.floor(from), to: Math.ceil(to) };
}

/** Undefined: it is no time as RFC 3339 writes it. To the millisecond. */
export function parsedTime(text: string): Micros | undefined {
  const ms = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms * 1_000;
}

/** Opaque to clients: where the page before it ended. */
export function cursorText({ startedAt, id }: RunPlace): string {
  return Buffer.from(JSON.stringify([startedAt, id])).toString('base64url');
}

export function placeOf(cursor: string): RunPlace {
  const value = parseJson(Buffer.from(cursor, 'base64url').toString());
  const [startedAt, id, ...more] = isJsonArray(value ?? null) ? (value as readonly unknown[]) : [];
  if (
    typeof startedAt !== 'number' ||
    typeof id !== 'number' ||
    more.length > 0 ||
    !Number.isSafeInteger(startedAt) ||
    !Number.isSafeInteger(id)
  )
    throw new QueryFault('cursor is none of ours.', 'Give the value of "next" of the page before it, and the same filters.');
  return { startedAt, id };
}

/** Opaque to clients: how many entries the pages before it had. */
export function offsetText(offset: number): string {
  return Buffer.from(JSON.stringify([offset])).toString('base64url');
}

export function offsetOf(cursor: string): number {
  const value = parseJson(Buffer.from(cursor, 'base64url').toString());
  const [offset, ...more] = isJsonArray(value ?? null) ? (value as readonly unknown[]) : [];
  if (typeof offset !== 'number' || !Number.isSafeInteger(offset) || offset < 0 || more.length > 0)
    throw new QueryFault('cursor is none of ours.', 'Give the value of "next" of the page before it.');
  return offset;
}

// Pieces of the JSON Schemas of parameters and answers.

export const text: JsonObject = { type: 'string' };
export const count: JsonObject = { type: 'integer', minimum: 0 };
export const time: JsonObject = { type: 'string', format: 'date-time' };

export function object(properties: JsonObject, optional: JsonObject = {}): JsonObject {
  return { type: 'object', required: Object.keys(properties), properties: { ...properties, ...optional } };
}

export const textParameter = { type: 'string', maxLength: 1_000 } as const;
export const limitDefault = 50;
export const pages = {
  limit: { type: 'integer', minimum: 1, maximum: 200, default: limitDefault, description: 'Entries of one page.' },
  cursor: { ...textParameter, description: '`next` of the page before it.' },
} as const;

export function list(key: string, schema: string): JsonObject {
  return {
    type: 'object',
    required: [key, 'next'],
    properties: {
      [key]: { type: 'array', items: { $ref: `#/components/schemas/${schema}` } },
      next: { type: ['string', 'null'], description: 'Cursor of the next page; null: this is the last.' },
    },
  };
}
