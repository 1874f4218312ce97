/** A span with the attributes that a case gives, as a collector sees it. */
import { parseSpanId, parseTraceId } from '../../src/model/ids.ts';
import type { SpanId, TraceId } from '../../src/model/ids.ts';
import { isJsonObject, member, plainText } from '../../src/model/json.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { Attributed, Span } from '../../src/model/span.ts';

export function span(given: JsonObject): Span {
  const attributes = member(given, 'attributes');
  return {
    ...attributed(isJsonObject(attributes) ? attributes : {}),
    resource: attributed({}),
    scope: { ...attributed({}), name: 'conformance', version: '' },
    traceId: traceId(),
    spanId: spanId(),
    parentSpanId: undefined,
    traceState: '',
    flags: 1,
    name: plainText(member(given, 'name') ?? ''),
    kind: 1,
    startUnixNano: 1n,
    endUnixNano: 2n,
    status: { code: 'unset', message: '' },
    events: [],
    links: [],
    wireBytes: 0,
  };
}

function attributed(attributes: JsonObject): Attributed {
  return { attribute: (key) => member(attributes, key), attributeKeys: () => Object.keys(attributes) };
}

function traceId(): TraceId {
  const id = parseTraceId('1'.padStart(32, '0'));
  if (id === undefined) throw new Error('no trace id');
  return id;
}

function spanId(): SpanId {
  const id = parseSpanId('1'.padStart(16, '0'));
  if (id === undefined) throw new Error('no span id');
  return id;
}
