/** Identifiers. Each is branded and made only by its parser, so a value of the type is known to be well formed. */
import { createHash } from 'node:crypto';

declare const brand: unique symbol;
export type Brand<T, Name extends string> = T & { readonly [brand]: Name };

/** 32 lower-case hex digits, not all zero. */
export type TraceId = Brand<string, 'TraceId'>;
/** 16 lower-case hex digits, not all zero. */
export type SpanId = Brand<string, 'SpanId'>;
/** Whose spans they are: the name of the token that they came with; the empty text without tokens. */
export type Tenant = Brand<string, 'Tenant'>;

const TRACE_ID = /^[0-9a-f]{32}$/;
const SPAN_ID = /^[0-9a-f]{16}$/;

/** The trace id in lower case, or undefined when the text is not 32 hex digits or is all zero. */
export function parseTraceId(text: string): TraceId | undefined {
  const lower = text.toLowerCase();
  return TRACE_ID.test(lower) && lower !== '00000000000000000000000000000000' ? (lower as TraceId) : undefined;
}

/** The span id in lower case, or undefined when the text is not 16 hex digits or is all zero. */
export function parseSpanId(text: string): SpanId | undefined {
  const lower = text.toLowerCase();
  return SPAN_ID.test(lower) && lower !== '0000000000000000' ? (lower as SpanId) : undefined;
}

/** Depends on the text alone, so every process computes the same one. The first digits of its SHA-256. */
export function derivedTraceId(text: string): TraceId {
  return sha256(text).slice(0, 32) as TraceId;
}

/** Likewise; `fromDigit` of the SHA-256 on. */
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

/** Ends a switch over a union: the compiler refuses it while a case is missing. */
export function unreachable(value: never): never {
  throw new Error(`unhandled case ${JSON.stringify(value)}`);
}
