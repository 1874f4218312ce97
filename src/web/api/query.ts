/** From the texts of a query to what the store is asked. What no schema can say is said here. */
import type { Clock } from '../../model/clock.ts';
import { isJsonArray, parseJson } from '../../model/json.ts';
import type { Tenant, TraceId } from '../../model/ids.ts';
import type { RunFilter, RunPlace } from '../../model/store/store.ts';
import type { VerdictWord } from '../../model/verdict.ts';
import type { Micros } from '../../model/timestamp.ts';

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
export function timeAt(query: Parameters, name: string): Micros | undefined {
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
