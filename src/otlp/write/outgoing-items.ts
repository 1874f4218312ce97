/** A span of ours, made of plain values, on its way to a backend. */
import type { SpanId, TraceId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';

export interface SentSpan {
  /** Attributes of the resource under which it stands. */
  readonly resource: JsonObject;
  readonly traceId: TraceId;
  readonly spanId: SpanId;
  /** Undefined: it is the first of its trace. */
  readonly parentSpanId: SpanId | undefined;
  /** As it came with the span that it is about. */
  readonly traceState: string;
  readonly name: string;
  /** Internal when left out. */
  readonly kind?: 'client';
  /** True: its trace is of ours. Elsewise its parent is in another process. */
  readonly ownTrace?: true;
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
  readonly attributes: JsonObject;
  readonly events: readonly SentEvent[];
  readonly links: readonly SentLink[];
  /** What failed in it; undefined: nothing. */
  readonly fault?: string;
}

export interface SentEvent {
  readonly name: string;
  readonly timeUnixNano: bigint;
  readonly attributes: JsonObject;
}

export interface SentLink {
  readonly traceId: TraceId;
  readonly spanId: SpanId;
  readonly traceState: string;
}

/** Writes spans, or records, one at a time, and puts them together to a request. */
export interface OtlpWriter<Item> {
  readonly contentType: string;
  /** A part of a request: at least one item. The same items give the same bytes. Throws on what cannot be written. */
  write(...items: readonly Item[]): Buffer;
  /** Of any number of parts: with none, nothing is in it. */
  request(parts: readonly Buffer[]): Buffer;
}

export const scopeName = 'tracejury';
/** OTLP's numbers of kinds. */
export const spanKinds = { internal: 1, client: 3 } as const;
/** OTLP's number of the status of what failed. */
export const errorStatus = 2;
/** W3C sampled; and of the parent or the linked span it is known (0x100) that it is in another process (0x200). */
export const sampledRemote = 0x301;
/** The same of a parent that is of ours. */
const sampledHere = 0x101;

export function flagsOf({ ownTrace }: SentSpan): number {
  return ownTrace === true ? sampledHere : sampledRemote;
}

/** A log record of ours, made of plain values, on its way to a backend. */
export interface SentRecord {
  /** Attributes of the resource under which it stands. */
  readonly resource: JsonObject;
  /** The span that it is about. */
  readonly traceId: TraceId;
  readonly spanId: SpanId;
  readonly timeUnixNano: bigint;
  readonly severity: keyof typeof severities;
  readonly eventName: string;
  /** For people: what a list of records shows of it. */
  readonly body: string;
  readonly attributes: JsonObject;
}

/** OTLP's numbers of severities. */
export const severities = { INFO: 9, WARN: 13, ERROR: 17 } as const;
/** W3C sampled. */
export const recordFlags = 1;
