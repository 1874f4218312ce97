/** Ids of a span: what is valid, what is absent, and what rejects the span. */
import { parseSpanId, parseTraceId, type SpanId, type TraceId } from '../../model/ids.ts';
import type { AttributeValue } from '../../model/span.ts';
import { note, type RejectionReason, type Scan } from './decode-state.ts';

const NOTHING = /^0*$/;

/** The ids that a span must have; undefined after noting the fault. */
export function requiredIds(
  scan: Scan,
  traceIdHex: string,
  spanIdHex: string,
): { readonly traceId: TraceId; readonly spanId: SpanId } | undefined {
  const traceId = parseTraceId(traceIdHex);
  const spanId = parseSpanId(spanIdHex);
  if (traceId === undefined) note(scan, 'invalid_trace_id', fault('trace id', traceIdHex));
  if (spanId === undefined) note(scan, 'invalid_span_id', fault('span id', spanIdHex));
  return traceId === undefined || spanId === undefined ? undefined : { traceId, spanId };
}

/** An id that may be absent: empty, or as some exporters write it, eight zero bytes. */
export function optionalSpanId(scan: Scan, hex: string, reason: RejectionReason): SpanId | undefined {
  if (hex === '' || (hex.length === 16 && NOTHING.test(hex))) return undefined;
  const id = parseSpanId(hex);
  if (id === undefined) note(scan, reason, fault('span id', hex));
  return id;
}

/** The trace id of a log record, `none` when the record belongs to no trace, undefined after noting the fault. */
export function recordTraceId(scan: Scan, hex: string): TraceId | 'none' | undefined {
  if (hex === '' || (hex.length === 32 && NOTHING.test(hex))) return 'none';
  const id = parseTraceId(hex);
  if (id === undefined) note(scan, 'invalid_trace_id', fault('trace id', hex));
  return id;
}

/** The event name of a record that has it in the attribute `event.name`, as exporters wrote it before the field existed. */
export function eventNameIn(value: AttributeValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

function fault(what: string, hex: string): string {
  return NOTHING.test(hex) && hex !== '' ? `a ${what} of zeros only` : `a ${what} of ${hex.length} hex digits that is not one`;
}
