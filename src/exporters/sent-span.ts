/** A span of ours, made of plain values, on its way to a backend. */
import type { SpanId, TraceId } from '../model/ids.ts';
import type { JsonObject } from '../model/json.ts';

export interface SentSpan {
  /** Attributes of the resource under which it stands. */
  readonly resource: JsonObject;
  readonly traceId: TraceId;
  readonly spanId: SpanId;
  /** In another process. */
  readonly parentSpanId: SpanId;
  /** As it came with the span that it is about. */
  readonly traceState: string;
  readonly name: string;
  readonly startUnixNano: bigint;
  readonly endUnixNano: bigint;
  readonly attributes: JsonObject;
  readonly events: readonly SentEvent[];
  readonly links: readonly SentLink[];
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

/** Writes spans, one at a time, and puts them together to a request. */
export interface SpanWriter {
  readonly contentType: string;
  /** A part of a request. The same span gives the same bytes. Throws on what cannot be written. */
  write(span: SentSpan): Buffer;
  /** Of at least one part. */
  request(parts: readonly Buffer[]): Buffer;
}

export const scopeName = 'tracejury';
/** OTLP's number for a span that is neither sent nor received. */
export const internalKind = 1;
/** W3C sampled; and of the parent or the linked span it is known (0x100) that it is in another process (0x200). */
export const sampledRemote = 0x301;
