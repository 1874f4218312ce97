/** A span of a benchmark. */
import { parseSpanId, parseTraceId } from '../../../src/model/ids.ts';
import type { Attributed, AttributeValue, Span } from '../../../src/model/span.ts';

export interface SpanPlace {
  readonly trace: number;
  readonly id: number;
  readonly parent: number | undefined;
  readonly startMs: number;
  readonly endMs: number;
}

const resource = attributed({ 'service.name': 'scale' });
const scope = { ...attributed({}), name: 'scale', version: '' };

export function attributedSpan(
  { trace, id, parent, startMs, endMs }: SpanPlace,
  name: string,
  attributes: { readonly [key: string]: AttributeValue },
): Span {
  const traceId = parseTraceId(trace.toString(16).padStart(32, '0'));
  const spanId = hexSpanId(id);
  if (traceId === undefined || spanId === undefined) throw new Error('ids begin at one');
  return {
    ...attributed(attributes),
    resource,
    scope,
    traceId,
    spanId,
    parentSpanId: parent === undefined ? undefined : hexSpanId(parent),
    traceState: '',
    flags: 0x100,
    name,
    kind: 1,
    startUnixNano: nanos(startMs),
    endUnixNano: nanos(endMs),
    status: { code: 'unset', message: '' },
    events: [],
    links: [],
    wireBytes: 0,
  };
}

function hexSpanId(id: number): ReturnType<typeof parseSpanId> {
  return parseSpanId(id.toString(16).padStart(16, '0'));
}

function attributed(attributes: { readonly [key: string]: AttributeValue }): Attributed {
  const values = new Map(Object.entries(attributes));
  return { attribute: (key) => values.get(key), attributeKeys: () => [...values.keys()] };
}

function nanos(ms: number): bigint {
  return BigInt(Math.round(ms * 1_000)) * 1_000n;
}
