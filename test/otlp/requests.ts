/** Random requests in one description, the source of the protobuf body, the JSON body and the spans that must be read. */
import fc from 'fast-check';
import type { AttributeValue } from '../../src/model/span.ts';
import { anyCharacter } from '../builders/any-character.ts';
import type { PlainAttributes } from './plain.ts';

/** One value: as the published messages hold it, as OTLP/JSON writes it, as it must be read. */
interface ValueCase {
  readonly proto: object;
  readonly json: object;
  readonly read: AttributeValue;
}

interface PairCase {
  readonly key: string;
  readonly value: ValueCase | undefined;
}

export interface RequestCase {
  readonly proto: object;
  readonly json: object;
  readonly read: readonly object[];
}

const int64 = fc.oneof(fc.integer(), fc.maxSafeInteger(), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));
const text = fc.oneof(
  fc.string({ unit: anyCharacter, maxLength: 12 }),
  fc.constantFrom('', '__proto__', 'constructor', 'input.value', '0'),
);
const key = fc.oneof(
  fc.string({ maxLength: 6 }),
  fc.constantFrom('a', 'b', '__proto__', 'constructor', 'hasOwnProperty', 'gen_ai.tool.name', ''),
);
const double = fc.double();
const time = fc.oneof(
  fc.constant(0n),
  fc.bigInt({ min: 1_700_000_000_000_000_000n, max: 1_900_000_000_000_000_000n }),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
);
const hexDigits = fc.constantFrom(...'0123456789abcdef');
const traceId = idOf(32);
const spanId = idOf(16);

const { value } = fc.letrec<{ value: ValueCase; list: ValueCase; map: ValueCase }>((tie) => ({
  value: fc.oneof({ depthSize: 'small', withCrossShrink: true }, fc.oneof(plainValues()), tie('list'), tie('map')),
  list: fc.array(tie('value'), { maxLength: 4 }).map((items) => ({
    proto: { arrayValue: { values: items.map((item) => item.proto) } },
    json: { arrayValue: { values: items.map((item) => item.json) } },
    read: items.map((item) => item.read),
  })),
  map: fc.array(fc.tuple(key, tie('value')), { maxLength: 4 }).map((members) => ({
    proto: { kvlistValue: { values: members.map(([name, item]) => ({ key: name, value: item.proto })) } },
    json: { kvlistValue: { values: members.map(([name, item]) => ({ key: name, value: item.json })) } },
    read: mapOf(members.map(([name, item]) => [name, item.read])),
  })),
}));

function plainValues(): fc.Arbitrary<ValueCase> {
  return fc.oneof(
    text.map((read) => ({ proto: { stringValue: read }, json: { stringValue: read }, read })),
    fc.boolean().map((read) => ({ proto: { boolValue: read }, json: { boolValue: read }, read })),
    int64.map((number) => ({ proto: { intValue: number.toString() }, json: { intValue: number.toString() }, read: exact(BigInt(number)) })),
    double.map((read) => ({ proto: { doubleValue: read }, json: { doubleValue: jsonDouble(read) }, read })),
    fc
      .uint8Array({ maxLength: 8 })
      .map((read) => ({ proto: { bytesValue: read }, json: { bytesValue: Buffer.from(read).toString('base64') }, read })),
    fc.constant({ proto: {}, json: {}, read: null }),
  );
}

const attributes = fc
  .array(fc.record<PairCase>({ key, value: fc.option(value, { nil: undefined, freq: 9 }) }), { maxLength: 6 })
  .map((pairs) => ({
    proto: pairs.map((pair) => (pair.value === undefined ? { key: pair.key } : { key: pair.key, value: pair.value.proto })),
    json: pairs.map((pair) => (pair.value === undefined ? { key: pair.key } : { key: pair.key, value: pair.value.json })),
    read: [...new Map(pairs.map((pair) => [pair.key, pair.value?.read ?? null] as const))] satisfies PlainAttributes,
  }));

const event = fc.record({ time, name: text, attributes }).map((it) => ({
  proto: { timeUnixNano: it.time.toString(), name: it.name, attributes: it.attributes.proto, droppedAttributesCount: 3 },
  json: { timeUnixNano: it.time.toString(), name: it.name, attributes: it.attributes.json, droppedAttributesCount: 3 },
  read: { name: it.name, timeUnixNano: it.time, attributes: it.attributes.read },
}));

const link = fc.record({ traceId, spanId, attributes }).map((it) => ({
  proto: { traceId: bytes(it.traceId), spanId: bytes(it.spanId), traceState: 'a=1', attributes: it.attributes.proto, flags: 1 },
  json: { traceId: it.traceId, spanId: it.spanId, traceState: 'a=1', attributes: it.attributes.json, flags: 1 },
  read: { traceId: it.traceId, spanId: it.spanId, attributes: it.attributes.read },
}));

const span = fc
  .record({
    traceId,
    spanId,
    parent: fc.option(spanId, { nil: undefined }),
    traceState: text,
    flags: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    dropped: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    name: text,
    kind: fc.constantFrom(0, 1, 2, 3, 4, 5),
    start: time,
    end: time,
    attributes,
    events: fc.array(event, { maxLength: 3 }),
    links: fc.array(link, { maxLength: 2 }),
    status: fc.option(fc.record({ code: fc.constantFrom(0, 1, 2), message: text }), { nil: undefined }),
  })
  .map((it) => {
    const both = {
      traceState: it.traceState,
      flags: it.flags,
      droppedAttributesCount: it.dropped,
      name: it.name,
      kind: it.kind,
      startTimeUnixNano: it.start.toString(),
      endTimeUnixNano: it.end.toString(),
      ...(it.status === undefined ? {} : { status: it.status }),
    };
    return {
      proto: {
        ...both,
        traceId: bytes(it.traceId),
        spanId: bytes(it.spanId),
        parentSpanId: bytes(it.parent ?? ''),
        attributes: it.attributes.proto,
        events: it.events.map((each) => each.proto),
        links: it.links.map((each) => each.proto),
      },
      json: {
        ...both,
        traceId: it.traceId,
        spanId: it.spanId.toUpperCase(),
        parentSpanId: it.parent ?? '',
        attributes: it.attributes.json,
        events: it.events.map((each) => each.json),
        links: it.links.map((each) => each.json),
      },
      read: {
        traceId: it.traceId,
        spanId: it.spanId,
        parentSpanId: it.parent,
        traceState: it.traceState,
        flags: it.flags,
        droppedAttributes: it.dropped === 0 ? undefined : it.dropped,
        name: it.name,
        kind: it.kind,
        startUnixNano: it.start,
        endUnixNano: it.end,
        status: { code: (['unset', 'ok', 'error'] as const)[it.status?.code ?? 0], message: it.status?.message ?? '' },
        attributes: it.attributes.read,
        events: it.events.map((each) => each.read),
        links: it.links.map((each) => each.read),
      },
    };
  });

const record = fc
  .record({
    traceId,
    spanId: fc.option(spanId, { nil: undefined }),
    time,
    observed: time,
    name: text,
    body: fc.option(value, { nil: undefined }),
    attributes,
  })
  .map((it) => {
    const both = {
      timeUnixNano: it.time.toString(),
      observedTimeUnixNano: it.observed.toString(),
      severityNumber: 9,
      severityText: 'INFO',
      eventName: it.name,
    };
    const named = it.attributes.read.find(([name]) => name === 'event.name')?.[1];
    return {
      proto: {
        ...both,
        traceId: bytes(it.traceId),
        spanId: bytes(it.spanId ?? ''),
        attributes: it.attributes.proto,
        ...(it.body === undefined ? {} : { body: it.body.proto }),
      },
      json: {
        ...both,
        traceId: it.traceId.toUpperCase(),
        spanId: it.spanId ?? '',
        attributes: it.attributes.json,
        ...(it.body === undefined ? {} : { body: it.body.json }),
      },
      read: {
        traceId: it.traceId,
        spanId: it.spanId,
        timeUnixNano: it.time === 0n ? it.observed : it.time,
        eventName: it.name || (typeof named === 'string' ? named : ''),
        body: it.body?.read,
        attributes: it.attributes.read,
      },
    };
  });

export const traceRequests: fc.Arbitrary<RequestCase> = requestOf(span, {
  resources: 'resourceSpans',
  scopes: 'scopeSpans',
  items: 'spans',
});
export const logsRequests: fc.Arbitrary<RequestCase> = requestOf(record, {
  resources: 'resourceLogs',
  scopes: 'scopeLogs',
  items: 'logRecords',
});

function requestOf(
  item: fc.Arbitrary<{ proto: object; json: object; read: object }>,
  names: { readonly resources: string; readonly scopes: string; readonly items: string },
): fc.Arbitrary<RequestCase> {
  const scope = fc.record({ name: text, version: text, attributes, items: fc.array(item, { maxLength: 3 }) }).map((it) => {
    const read = { name: it.name, version: it.version, attributes: it.attributes.read };
    return {
      proto: {
        scope: { name: it.name, version: it.version, attributes: it.attributes.proto },
        [names.items]: it.items.map((each) => each.proto),
        schemaUrl: 'x',
      },
      json: {
        scope: { name: it.name, version: it.version, attributes: it.attributes.json },
        [names.items]: it.items.map((each) => each.json),
        schemaUrl: 'x',
      },
      read: it.items.map((each) => ({ scope: read, ...each.read })),
    };
  });
  const block = fc.record({ attributes, scopes: fc.array(scope, { maxLength: 3 }) }).map((it) => ({
    proto: { resource: { attributes: it.attributes.proto }, [names.scopes]: it.scopes.map((each) => each.proto) },
    json: { resource: { attributes: it.attributes.json }, [names.scopes]: it.scopes.map((each) => each.json) },
    read: it.scopes.flatMap((each) => each.read).map((each) => ({ resource: it.attributes.read, ...each })),
  }));
  return fc.array(block, { maxLength: 3 }).map((all) => ({
    proto: { [names.resources]: all.map((each) => each.proto) },
    json: { [names.resources]: all.map((each) => each.json) },
    read: all.flatMap((each) => each.read),
  }));
}

function idOf(digits: number): fc.Arbitrary<string> {
  return fc.string({ unit: hexDigits, minLength: digits, maxLength: digits }).filter((hex) => /[1-9a-f]/.test(hex));
}

export function bytes(hex: string): Buffer {
  return Buffer.from(hex, 'hex');
}

function exact(number: bigint): number | bigint {
  return Number.isSafeInteger(Number(number)) ? Number(number) : number;
}

function jsonDouble(number: number): number | string {
  return Number.isFinite(number) && !Object.is(number, -0) ? number : Object.is(number, -0) ? '-0' : String(number);
}

function mapOf(members: readonly (readonly [string, AttributeValue])[]): { readonly [key: string]: AttributeValue } {
  const map: { [key: string]: AttributeValue } = Object.create(null);
  for (const [name, item] of members) map[name] = item;
  return map;
}
