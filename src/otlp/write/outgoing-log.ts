/** A log record of ours, made of plain values, on its way to a backend. */
import type { SpanId, TraceId } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';

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
