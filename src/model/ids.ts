/** Identifiers. Only the parser of a branded type makes its values, so they are well-formed. */
import { createHash } from 'node:crypto';

declare const brand: unique symbol;
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** 32 lower-case hex digits, not all zero. */
export type TraceId = Brand<string, 'TraceId'>;
/** 16 lower-case hex digits, not all zero. */
export type SpanId = Brand<string, 'SpanId'>;
/** The name of the token that a request came with; empty without tokens. */
export type Tenant = Brand<string, 'Tenant'>;

const TRACE_ID = /^[0-9a-f]{32}$/;
const SPAN_ID = /^[0-9a-f]{16}$/;

/** The trace id in lower case; `undefined` when the text is not 32 hex digits or is all zero. */
export function parseTraceId(text: string): TraceId | undefined {
  const lower = text.toLowerCase();
  return TRACE_ID.test(lower) && lower !== '00000000000000000000000000000000' ? (lower as TraceId) : undefined;
}

/** The span id in lower case; `undefined` when the text is not 16 hex digits or is all zero. */
export function parseSpanId(text: string): SpanId | undefined {
  const lower = text.toLowerCase();
  return SPAN_ID.test(lower) && lower !== '0000000000000000' ? (lower as SpanId) : undefined;
}

/** The first digits of the text's SHA-256, so every process derives the same id. */
export function derivedTraceId(text: string): TraceId {
  return sha256(text).slice(0, 32) as TraceId;
}

/** 16 digits of the text's SHA-256 from `fromDigit` on. */
export function derivedSpanId(text: string, fromDigit = 0): SpanId {
  return sha256(text).slice(fromDigit, fromDigit + 16) as SpanId;
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

export function tenant(name: string): Tenant {
  return name as Tenant;
}

export const noTenant = tenant('');

/** Ends a switch over a union; the compiler rejects a missing case. */
export function unreachable(value: never): never {
  throw new Error(`unhandled case ${JSON.stringify(value)}`);
}
