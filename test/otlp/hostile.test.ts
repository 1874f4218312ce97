/** Input that is rejected by itself, that refuses the whole body, and that is tolerated. */
import { describe, expect, test } from 'vitest';
import { JuryError } from '../../src/model/errors.ts';
import { defaultOtlpLimits, type OtlpLimits } from '../../src/otlp/read/limits.ts';
import { readLogs, readTraces } from '../../src/otlp/read/read.ts';
import { deepList, field } from '../hostile/bodies.ts';
import { logsRequest, traceRequest } from './descriptors.ts';

const T = '0102030405060708090a0b0c0d0e0f10';
const S = '0102030405060708';
const good = { traceId: T, spanId: S, name: 'good' };
const small: OtlpLimits = {
  ...defaultOtlpLimits,
  attributesPerSpan: 2,
  eventsPerSpan: 1,
  linksPerSpan: 1,
  attributeKeyBytes: 5,
  valueNesting: 3,
  spansPerRequest: 3,
  recordsPerRequest: 3,
  itemsPerRequest: 12,
  blocksPerRequest: 4,
};
const attribute = (key: string, value: object): object => ({ attributes: [{ key, value }] });
const nested = (levels: number): object => (levels === 1 ? { intValue: '1' } : { arrayValue: { values: [nested(levels - 1)] } });
const maps = (levels: number): object =>
  levels === 1 ? { intValue: '1' } : { kvlistValue: { values: [{ key: 'k', value: maps(levels - 1) }] } };

/** Read from both encodings; `json` only where protobuf cannot even say it. */
const rejected: readonly {
  readonly name: string;
  readonly span: object;
  readonly reason: string;
  readonly json?: true;
  readonly limits?: OtlpLimits;
}[] = [
  { name: 'no trace id', span: { traceId: '' }, reason: 'invalid_trace_id' },
  { name: 'a trace id of 15 bytes', span: { traceId: T.slice(2) }, reason: 'invalid_trace_id' },
  { name: 'a trace id of 17 bytes', span: { traceId: `${T}11` }, reason: 'invalid_trace_id' },
  { name: 'a trace id of zeros', span: { traceId: '0'.repeat(32) }, reason: 'invalid_trace_id' },
  { name: 'no span id', span: { spanId: '' }, reason: 'invalid_span_id' },
  { name: 'a span id of zeros', span: { spanId: '0'.repeat(16) }, reason: 'invalid_span_id' },
  { name: 'a span id of 16 bytes', span: { spanId: T }, reason: 'invalid_span_id' },
  { name: 'a parent id of 4 bytes', span: { parentSpanId: '01020304' }, reason: 'invalid_parent_span_id' },
  { name: 'a parent id of 4 zero bytes', span: { parentSpanId: '00000000' }, reason: 'invalid_parent_span_id' },
  {
    name: 'an attribute key beyond the limit',
    span: attribute('abcdef', { intValue: '1' }),
    reason: 'attribute_key_too_long',
    limits: small,
  },
  { name: 'lists nested beyond the limit', span: attribute('k', nested(4)), reason: 'nesting_too_deep', limits: small },
  { name: 'maps nested beyond the limit', span: attribute('k', maps(4)), reason: 'nesting_too_deep', limits: small },
  { name: 'lists nested beyond the default limit', span: attribute('k', nested(65)), reason: 'nesting_too_deep', json: true },
  {
    name: 'too many attributes',
    span: { attributes: ['a', 'b', 'c'].map((key) => ({ key, value: {} })) },
    reason: 'too_many_attributes',
    limits: small,
  },
  {
    name: 'too many attributes of an event',
    span: { events: [{ attributes: ['a', 'b', 'c'].map((key) => ({ key })) }] },
    reason: 'too_many_attributes',
    limits: small,
  },
  { name: 'too many events', span: { events: [{}, {}] }, reason: 'too_many_events', limits: small },
  { name: 'too many links', span: { links: [{}, {}] }, reason: 'too_many_links', limits: small },
  {
    name: 'too many values in all',
    span: attribute('k', { arrayValue: { values: Array.from({ length: 13 }, () => ({})) } }),
    reason: 'too_many_items',
    limits: small,
  },
  { name: 'a trace id that is not hex', span: { traceId: 'x'.repeat(32) }, reason: 'invalid_trace_id', json: true },
  { name: 'a trace id in base64', span: { traceId: Buffer.from(T, 'hex').toString('base64') }, reason: 'invalid_trace_id', json: true },
  { name: 'a trace id that is a number', span: { traceId: 7 }, reason: 'invalid_field', json: true },
  { name: 'a negative time', span: { startTimeUnixNano: '-1' }, reason: 'invalid_time', json: true },
  { name: 'a negative time as a number', span: { endTimeUnixNano: -1 }, reason: 'invalid_time', json: true },
  { name: 'a time that is not a number', span: { startTimeUnixNano: 'soon' }, reason: 'invalid_time', json: true },
  { name: 'a time with a fraction', span: { startTimeUnixNano: 1.5 }, reason: 'invalid_time', json: true },
  { name: 'a time beyond 64 bits', span: { startTimeUnixNano: '18446744073709551616' }, reason: 'invalid_time', json: true },
  { name: 'a time as a list', span: { startTimeUnixNano: [1] }, reason: 'invalid_time', json: true },
  { name: 'an event time that is not a number', span: { events: [{ timeUnixNano: {} }] }, reason: 'invalid_time', json: true },
  { name: 'a name that is an object', span: { name: {} }, reason: 'invalid_field', json: true },
  { name: 'attributes that are an object', span: { attributes: { a: 1 } }, reason: 'invalid_field', json: true },
  { name: 'an attribute that is a text', span: { attributes: ['a'] }, reason: 'invalid_field', json: true },
  { name: 'an attribute value that is a text', span: { attributes: [{ key: 'a', value: 'b' }] }, reason: 'invalid_field', json: true },
  { name: 'a stringValue that is a number', span: attribute('a', { stringValue: 1 }), reason: 'invalid_field', json: true },
  { name: 'an intValue beyond 64 bits', span: attribute('a', { intValue: '9223372036854775808' }), reason: 'invalid_field', json: true },
  { name: 'an intValue with a fraction', span: attribute('a', { intValue: 1.5 }), reason: 'invalid_field', json: true },
  { name: 'a doubleValue that is not a number', span: attribute('a', { doubleValue: 'much' }), reason: 'invalid_field', json: true },
  { name: 'a doubleValue that is a list', span: attribute('a', { doubleValue: [] }), reason: 'invalid_field', json: true },
  { name: 'a doubleValue that is blank', span: attribute('a', { doubleValue: ' ' }), reason: 'invalid_field', json: true },
  { name: 'a boolValue that is a text', span: attribute('a', { boolValue: 'true' }), reason: 'invalid_field', json: true },
  { name: 'a bytesValue that is a number', span: attribute('a', { bytesValue: 1 }), reason: 'invalid_field', json: true },
  { name: 'an arrayValue that is a list', span: attribute('a', { arrayValue: [] }), reason: 'invalid_field', json: true },
  { name: 'a kvlist of texts', span: attribute('a', { kvlistValue: { values: ['x'] } }), reason: 'invalid_field', json: true },
  { name: 'a status that is a text', span: { status: 'ok' }, reason: 'invalid_field', json: true },
  { name: 'flags below zero', span: { flags: -1 }, reason: 'invalid_field', json: true },
  { name: 'a kind that is an object', span: { kind: {} }, reason: 'invalid_field', json: true },
];

describe('otlp rejections', () => {
  for (const { name, span, reason, json, limits } of rejected) {
    const bad = { ...good, name: 'bad', ...span };
    const block = { resourceSpans: [{ scopeSpans: [{ spans: [bad, good] }] }] };
    test(`otlp: JSON span with ${name} is rejected as ${reason}, its neighbour kept`, () =>
      expectOneRejected(readTraces(Buffer.from(JSON.stringify(block)), 'json', limits), reason));
    if (json !== true)
      test(`otlp: protobuf span with ${name} is rejected as ${reason}, its neighbour kept`, () =>
        expectOneRejected(readTraces(protobufOf(block), 'protobuf', limits), reason));
  }

  test('otlp: spans beyond the limit are counted, with the place of the first', () => {
    const block = { resourceSpans: [{ scopeSpans: [{ spans: [good, good] }, { spans: [good, good, good] }] }] };
    const want = [{ reason: 'too_many_spans', count: 2, example: 'item 1 of scope 1 of resource 0: more than 3 spans in one request' }];
    for (const read of [readTraces(protobufOf(block), 'protobuf', small), readTraces(Buffer.from(JSON.stringify(block)), 'json', small)]) {
      expect(read.spans).toHaveLength(3);
      expect(read.rejections).toEqual(want);
    }
  });

  test('otlp: a faulty resource or scope rejects its own spans only', () => {
    const faulty = attribute('k'.repeat(5_000), {});
    const block = {
      resourceSpans: [
        { resource: faulty, scopeSpans: [{ spans: [good, good] }] },
        { scopeSpans: [{ scope: faulty, spans: [good] }, { spans: [{ ...good, name: 'kept' }] }] },
      ],
    };
    for (const read of [readTraces(protobufOf(block), 'protobuf'), readTraces(Buffer.from(JSON.stringify(block)), 'json')]) {
      expect(read.spans.map((span) => span.name)).toEqual(['kept']);
      expect(read.rejections).toMatchObject([{ reason: 'attribute_key_too_long', count: 3 }]);
    }
  });

  test('otlp: a protobuf value nested 20,000 deep rejects its span', () => {
    const span = Buffer.concat([Buffer.from(`0a10${T}1208${S}`, 'hex'), field(0x4a, field(0x12, deepList(20_000)))]);
    const body = field(0x0a, field(0x12, field(0x12, span)));
    expect(readTraces(body, 'protobuf')).toMatchObject({ spans: [], rejections: [{ reason: 'nesting_too_deep', count: 1 }] });
  });

  test('otlp: log records without a trace are ignored, those with half an id are rejected', () => {
    const records = [
      {},
      { traceId: '0'.repeat(32) },
      { traceId: T },
      { traceId: T, spanId: '0'.repeat(16) },
      { traceId: T, spanId: '01' },
      { traceId: '01' },
    ];
    const block = { resourceLogs: [{ scopeLogs: [{ logRecords: records }] }] };
    for (const read of [readLogs(logsOf(block), 'protobuf'), readLogs(Buffer.from(JSON.stringify(block)), 'json')]) {
      expect(read.records.map((record) => record.spanId)).toEqual([undefined, undefined]);
      expect(read.ignored).toBe(2);
      expect(read.rejections.map(({ reason, count }) => [reason, count])).toEqual([
        ['invalid_span_id', 1],
        ['invalid_trace_id', 1],
      ]);
    }
    expect(readLogs(logsOf(block), 'protobuf', small).rejections).toMatchObject([{ reason: 'too_many_records', count: 3 }]);
  });
});

const refused: readonly { readonly name: string; readonly body: Uint8Array; readonly encoding: 'protobuf' | 'json' }[] = [
  { name: 'JSON sent as protobuf', body: Buffer.from('{"resourceSpans":[]}'), encoding: 'protobuf' },
  { name: 'protobuf sent as JSON', body: protobufOf({ resourceSpans: [{ scopeSpans: [{ spans: [good] }] }] }), encoding: 'json' },
  { name: 'an empty JSON body', body: Buffer.from(''), encoding: 'json' },
  { name: 'a JSON list', body: Buffer.from('[]'), encoding: 'json' },
  { name: 'JSON null', body: Buffer.from('null'), encoding: 'json' },
  { name: 'cut JSON', body: Buffer.from('{"resourceSpans":['), encoding: 'json' },
  { name: 'an open text in JSON', body: Buffer.from('{"resourceSpans":"'), encoding: 'json' },
  { name: 'a long JSON number that begins with 0', body: Buffer.from('{"a":01234567890123456789}'), encoding: 'json' },
  { name: 'a long JSON number of two minuses', body: Buffer.from('{"a":--1234567890123456789}'), encoding: 'json' },
  { name: 'two long JSON numbers in a row', body: Buffer.from('{"a":1234567890123456789 1234567890123456789}'), encoding: 'json' },
  { name: 'a JSON envelope of a wrong type', body: Buffer.from('{"resourceSpans":{}}'), encoding: 'json' },
  { name: 'JSON spans that are an object', body: Buffer.from('{"resourceSpans":[{"scopeSpans":[{"spans":{}}]}]}'), encoding: 'json' },
  {
    name: 'a JSON span that never ends',
    body: Buffer.from('{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"a"}, {"name":"b"]}]}]}'),
    encoding: 'json',
  },
  {
    name: 'JSON spans without a comma between them',
    body: Buffer.from('{"resourceSpans":[{"scopeSpans":[{"spans":[{} {}]}]}]}'),
    encoding: 'json',
  },
  {
    name: 'JSON spans with two commas between them',
    body: Buffer.from('{"resourceSpans":[{"scopeSpans":[{"spans":[{},,{}]}]}]}'),
    encoding: 'json',
  },
  {
    name: 'a JSON span whose brackets do not fit',
    body: Buffer.from('{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"a"]]}]}]}'),
    encoding: 'json',
  },
  { name: 'JSON nested 20,000 deep', body: Buffer.from('{"a":'.repeat(20_000) + '1' + '}'.repeat(20_000)), encoding: 'json' },
  {
    name: 'JSON lists nested 20,000 deep with a long number',
    body: Buffer.from(`${'['.repeat(20_000)}12345678901234567890${']'.repeat(20_000)}`),
    encoding: 'json',
  },
  { name: 'JSON of too many values', body: Buffer.from(`[${'{},'.repeat(2_100_000)}{}]`), encoding: 'json' },
  { name: 'field number zero', body: Uint8Array.of(0x02, 0x00), encoding: 'protobuf' },
  { name: 'a group', body: Uint8Array.of(0x0b, 0x0c), encoding: 'protobuf' },
  { name: 'wire type 7', body: Uint8Array.of(0x0f), encoding: 'protobuf' },
  { name: 'a length behind the end', body: Uint8Array.of(0x0a, 0x05, 0x00), encoding: 'protobuf' },
  {
    name: 'a length of 64 bits',
    body: Uint8Array.of(0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01),
    encoding: 'protobuf',
  },
  {
    name: 'a number of 11 bytes',
    body: Uint8Array.of(0x18, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01),
    encoding: 'protobuf',
  },
  {
    name: 'a number of 65 bits',
    body: Uint8Array.of(0x18, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02),
    encoding: 'protobuf',
  },
  { name: 'a cut fixed number', body: Uint8Array.of(0x19, 0, 0, 0), encoding: 'protobuf' },
  { name: 'a resource block that is a number', body: Uint8Array.of(0x08, 0x01), encoding: 'protobuf' },
  { name: 'an inner length behind its message', body: Uint8Array.of(0x0a, 0x02, 0x12, 0x05, 0, 0, 0, 0, 0), encoding: 'protobuf' },
  { name: 'blocks beyond the limit', body: Buffer.from('0a00'.repeat(100_001), 'hex'), encoding: 'protobuf' },
];

describe('otlp refusals', () => {
  for (const { name, body, encoding } of refused) {
    test(`otlp: ${name} refuses the whole body`, () => {
      const read = (): unknown => readTraces(body, encoding);
      expect(read).toThrow(JuryError);
      expect(read).toThrow(expect.objectContaining({ code: 'OTLP_MALFORMED' }));
    });
  }
});

describe('otlp tolerance', () => {
  const json = (span: object): ReturnType<typeof readTraces> =>
    readTraces(Buffer.from(`\ufeff${JSON.stringify({ resource_spans: [{ scope_spans: [{ spans: [span] }] }] })}`), 'json');

  test('otlp: JSON with a byte order mark, snake_case, upper-case ids, names of enumerations and numbers as numbers is read', () => {
    const span = {
      trace_id: T.toUpperCase(),
      span_id: S.toUpperCase(),
      parent_span_id: '0'.repeat(16),
      kind: 'SPAN_KIND_SERVER',
      status: { code: 'STATUS_CODE_ERROR', message: null },
      start_time_unix_nano: 1700,
      flags: '257',
      unknown: [1],
      attributes: [
        { key: 'n', value: { int_value: 5 } },
        { key: 'a', value: { array_value: { values: [{ string_value: 'x' }] } } },
        { key: 'b', value: { bytes_value: 'AQI=' } },
      ],
    };
    const [read] = json(span).spans;
    expect(read).toMatchObject({
      traceId: T,
      spanId: S,
      parentSpanId: undefined,
      kind: 2,
      status: { code: 'error', message: '' },
      startUnixNano: 1700n,
      flags: 257,
    });
    expect(read?.attribute('n')).toBe(5);
    expect(read?.attribute('a')).toEqual(['x']);
    expect(read?.attribute('b')).toEqual(Uint8Array.of(1, 2));
  });

  test('otlp: big JSON integers keep every digit, in and outside quotes', () => {
    const text = JSON.stringify({
      resourceSpans: [
        { scopeSpans: [{ spans: [{ ...good, startTimeUnixNano: 'START', attributes: [{ key: 'n', value: { intValue: 'N' } }] }] }] },
      ],
    });
    const [span] = readTraces(
      Buffer.from(text.replace('"START"', '1700000000123456789').replace('"N"', '1234567890123456789')),
      'json',
    ).spans;
    expect(span?.startUnixNano).toBe(1700000000123456789n);
    expect(span?.attribute('n')).toBe(1234567890123456789n);
  });

  test('otlp: the end before the start, unknown kinds and codes, empty names and links to nothing are kept or left out, never rejected', () => {
    const span = {
      ...good,
      name: '',
      kind: 99,
      status: { code: 99 },
      startTimeUnixNano: '9',
      endTimeUnixNano: '3',
      links: [
        { traceId: '', spanId: '' },
        { traceId: T, spanId: S },
      ],
    };
    for (const read of [json(span), readTraces(protobufOf({ resourceSpans: [{ scopeSpans: [{ spans: [span] }] }] }), 'protobuf')]) {
      expect(read.rejections).toEqual([]);
      expect(read.spans[0]).toMatchObject({
        name: '',
        kind: 0,
        status: { code: 'unset' },
        startUnixNano: 9n,
        endUnixNano: 3n,
        links: [{ traceId: T }],
      });
    }
  });

  test('otlp: of several members of a JSON value that count, the one counts that does in any order of them; null is none', () => {
    const several = { stringValue: null, double_value: 2.5, intValue: '7', bool_value: true, unknown: [1] };
    const turned = Object.fromEntries(Object.entries(several).reverse());
    for (const value of [several, turned]) {
      const read = json({ ...good, ...attribute('a', value) });
      expect(read.rejections).toEqual([]);
      expect(read.spans[0]?.attribute('a')).toBe(true);
    }
    expect(json({ ...good, ...attribute('a', { stringValue: 'x', string_value: 'y' }) }).spans[0]?.attribute('a')).toBe('x');
    expect(json({ ...good, ...attribute('a', { unknown: 1, stringValue: null }) }).spans[0]?.attribute('a')).toBe(null);
  });

  test('otlp: text that is not UTF-8 is read with replacement characters', () => {
    const body = protobufOf({ resourceSpans: [{ scopeSpans: [{ spans: [{ ...good, name: '@@' }] }] }] });
    body[body.indexOf('@@')] = 0xff;
    expect(readTraces(body, 'protobuf').spans[0]?.name).toBe('\ufffd@');
  });

  test('otlp: unknown and deprecated fields are skipped', () => {
    const known = protobufOf({ resourceSpans: [{ scopeSpans: [{ spans: [good] }] }] });
    const unknown = Buffer.from('c23e0161' + 'b80601' + 'b90601020304' + '05060708' + 'bd0601020304', 'hex');
    expect(readTraces(Buffer.concat([unknown, known, unknown]), 'protobuf').spans).toHaveLength(1);
  });

  test('otlp: unknown fields are skipped at every level', () => {
    const unknown = Buffer.from('b80601', 'hex');
    const and = (...parts: readonly Uint8Array[]): Buffer => Buffer.concat([unknown, ...parts, unknown]);
    const key = Buffer.from('0a016b', 'hex');
    const one = field(0x12, and(Uint8Array.of(0x18, 1)));
    const list = field(0x12, and(field(0x2a, and(field(0x0a, and(Uint8Array.of(0x18, 2)))))));
    const map = field(0x12, and(field(0x32, and(field(0x0a, and(key, one))))));
    const attributes = [one, list, map].map((value, at) => field(0x4a, and(Buffer.from(`0a01${(0x61 + at).toString(16)}`, 'hex'), value)));
    const status = field(0x7a, and(Uint8Array.of(0x18, 1)));
    const event = field(0x5a, and(Buffer.from('120165', 'hex')));
    const span = field(0x12, and(Buffer.from(`0a10${T}1208${S}`, 'hex'), ...attributes, status, event));
    const scope = field(0x0a, and(Buffer.from('0a0173', 'hex')));
    const [read] = readTraces(and(field(0x0a, and(field(0x0a, unknown), field(0x12, and(scope, span))))), 'protobuf').spans;
    expect(read).toMatchObject({ status: { code: 'ok' }, events: [{ name: 'e' }], scope: { name: 's' } });
    expect(read?.attributeKeys().map((name) => read.attribute(name))).toEqual([1, [2], { k: 1 }]);
  });

  const doubles = [
    ['"NaN"', Number.NaN],
    ['"-Infinity"', Number.NEGATIVE_INFINITY],
    ['"1.5e3"', 1500],
    ['12345678901234567890', 12345678901234567000],
    ['1', 1],
    ['0.1234567890123456', 0.1234567890123456],
    ['-1234567890123456.5', -1234567890123456.5],
    ['1234567890123456e-3', 1234567890123.456],
    ['-9007199254740993', -9007199254740992],
  ] as const;
  for (const [written, want] of doubles)
    test(`otlp: the JSON double ${written} is read`, () => {
      const body = `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"${T}","spanId":"${S}","attributes":[{"key":"d","value":{"doubleValue":${written}}}]}]}]}]}`;
      expect(readTraces(Buffer.from(body), 'json').spans[0]?.attribute('d')).toBe(want);
    });

  test('otlp: the resource may stand behind its scopes, and of equal keys the last one counts', () => {
    const one = protobufOf({
      resourceSpans: [
        {
          scopeSpans: [
            {
              spans: [{ ...good, attributes: [{ key: 'k', value: { intValue: 1 } }, { key: 'z' }, { key: 'k', value: { intValue: 2 } }] }],
            },
          ],
        },
      ],
    }).subarray(2);
    const resource = protobufOf({ resourceSpans: [{ resource: { attributes: [{ key: 'r', value: { stringValue: 'v' } }] } }] }).subarray(2);
    const block = Buffer.concat([one, resource]);
    const [span] = readTraces(Buffer.concat([Uint8Array.of(0x0a, block.length), block]), 'protobuf').spans;
    expect(span?.resource.attribute('r')).toBe('v');
    expect(span?.attributeKeys()).toEqual(['k', 'z']);
    expect(span?.attribute('k')).toBe(2);
    expect(span?.attribute('z')).toBeNull();
  });
});

function expectOneRejected(read: ReturnType<typeof readTraces>, reason: string): void {
  expect(read.rejections.map((row) => [row.reason, row.count])).toEqual([[reason, 1]]);
  expect(read.spans.map((span) => span.name)).toEqual(['good']);
}

/** The same description as the JSON body, ids as bytes. */
function protobufOf(block: object): Buffer {
  return traceRequest.encode(JSON.parse(JSON.stringify(block), idsToBytes));
}

function logsOf(block: object): Buffer {
  return logsRequest.encode(JSON.parse(JSON.stringify(block), idsToBytes));
}

function idsToBytes(key: string, value: unknown): unknown {
  return /(trace|span)Id$/i.test(key) && typeof value === 'string' ? Buffer.from(value, 'hex') : value;
}
