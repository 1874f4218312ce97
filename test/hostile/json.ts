/** OTLP/JSON: what is wrong in the text. Beside each bad span stands a good one. */
import { besideGood, good, json, jsonText, plain, spanId } from './bodies.ts';
import { malformed, partly, taken, type HostileCase, type Send, type Wanted } from './case.ts';
import { asJson, post } from './senders.ts';

const sent = (body: string | Buffer): Send => post(Buffer.from(body), { headers: asJson });
/** One span of the members given, and a good one beside it. */
const beside = (name: string, members: string | (() => string), want: Wanted): HostileCase => ({
  name,
  prepare: (trace) => sent(besideGood(trace, typeof members === 'string' ? members : members())),
  want,
});
/** One bad span and a good one beside it; the bad one is rejected. */
const bad = (name: string, fields: object, reason: string): HostileCase => ({
  name,
  prepare: (trace) => sent(json(plain(trace, { ...fields }), good(trace))),
  want: partly({ [reason]: 1 }),
});
const whole = (name: string, body: string | ((trace: string) => string), want: Wanted = malformed()): HostileCase => ({
  name,
  prepare: (trace) => sent(typeof body === 'string' ? body : body(trace)),
  want,
});

const both = taken(2, { runs: 1 });
const value = (written: string): string => `"attributes":[{"key":"k","value":${written}}]`;
const times = (count: number, text: (at: number) => string): string => Array.from({ length: count }, (_, at) => text(at)).join();
const lists = (levels: number): string => `${'{"arrayValue":{"values":['.repeat(levels)}{"intValue":"1"}${']}}'.repeat(levels)}`;
const goodText = (trace: string): string => JSON.stringify(good(trace));

export const jsonCases: readonly HostileCase[] = [
  beside('lists 65 deep in a value', value(lists(65)), partly({ nesting_too_deep: 1 })),
  beside('lists 100,000 deep in a value', () => value(lists(100_000)), partly({ nesting_too_deep: 1 })),
  beside(
    'brackets 100,000 deep in an unknown member of a span',
    () => `"unknown":${'['.repeat(100_000)}${']'.repeat(100_000)}`,
    partly({ nesting_too_deep: 1 }),
  ),
  whole('brackets 100,000 deep around everything', `${'['.repeat(100_000)}${']'.repeat(100_000)}`, malformed(/nested deeper/)),
  whole('braces 100,000 deep that never close', '{"a":'.repeat(100_000), malformed(/nested deeper/)),
  whole(
    'brackets deep in an unknown member of the request',
    (trace) => `{"unknown":${'['.repeat(100_000)}${']'.repeat(100_000)},${jsonText(goodText(trace)).slice(1)}`,
    malformed(/nested deeper/),
  ),
  whole('a list', '[]'),
  whole('null', 'null'),
  whole('a number', '1'),
  whole('a text', '"resourceSpans"'),
  whole('an object without spans', '{}', taken(0)),
  whole('spans that are null', '{"resourceSpans":null}', taken(0)),
  whole('a block that is null', '{"resourceSpans":[null]}'),
  whole('spans that are a text', '{"resourceSpans":[{"scopeSpans":[{"spans":"all of them"}]}]}'),
  whole('a span that is null beside a good one', (trace) => jsonText(`null,${goodText(trace)}`), partly({ invalid_field: 1 })),
  whole('a span that is a list beside a good one', (trace) => jsonText(`[[]],${goodText(trace)}`), partly({ invalid_field: 1 })),
  whole(
    'a span that is a number beside a good one',
    (trace) => jsonText(`12345678901234567890,${goodText(trace)}`),
    partly({ invalid_field: 1 }),
  ),
  whole('cut in the middle of a span', (trace) => jsonText(goodText(trace)).slice(0, 200)),
  whole('noise behind the end', (trace) => `${jsonText(goodText(trace))}]`),
  whole('two requests in one body', (trace) => jsonText(goodText(trace)).repeat(2)),
  whole('a comma too many', (trace) => jsonText(`${goodText(trace)},`)),
  whole('a comment', (trace) => jsonText(`/* a span */${goodText(trace)}`)),
  whole('single quotes', "{'resourceSpans':[]}"),
  whole('NaN without quotes', (trace) => jsonText(`{"traceId":"${trace}","startTimeUnixNano":NaN}`)),
  whole('a line break in a text', (trace) => besideGood(trace, '"name":"a\nb"').toString()),
  whole('brackets that do not fit each other', (trace) => jsonText(`${goodText(trace).slice(0, -1)}]`)),
  { name: 'UTF-16', prepare: (trace) => sent(Buffer.from(`\ufeff${jsonText(goodText(trace))}`, 'utf16le')), want: malformed() },
  whole('a byte order mark', (trace) => `\ufeff${jsonText(goodText(trace))}`, taken(1, { runs: 1 })),
  whole('two byte order marks', (trace) => `\ufeff\ufeff${jsonText(goodText(trace))}`),
  whole(
    'spans named twice in a scope: the last ones count',
    (trace) => `{"resourceSpans":[{"scopeSpans":[{"spans":[{},{}],"spans":[${goodText(trace)}]}]}]}`,
    taken(1, { runs: 1 }),
  ),
  beside('a trace id named twice: the last one counts', '"name":"bad","traceId":"00"', partly({ invalid_trace_id: 1 })),
  bad('a trace id in base64', { traceId: 'AQIDBAUGBwgJCgsMDQ4PEA==' }, 'invalid_trace_id'),
  bad('a trace id of zeros', { traceId: '0'.repeat(32) }, 'invalid_trace_id'),
  bad('a trace id of 31 digits', { traceId: 'a'.repeat(31) }, 'invalid_trace_id'),
  bad('a trace id with 0x before it', { traceId: `0x${'a'.repeat(30)}` }, 'invalid_trace_id'),
  bad('a trace id as a UUID', { traceId: '01020304-0506-0708-090a-0b0c0d0e0f10' }, 'invalid_trace_id'),
  bad('a trace id in full-width digits', { traceId: '\uff11'.repeat(32) }, 'invalid_trace_id'),
  bad('a trace id that is a number', { traceId: 1 }, 'invalid_field'),
  bad('a trace id that is a list', { traceId: ['a'] }, 'invalid_field'),
  bad('a span id of zeros', { spanId: '0'.repeat(16) }, 'invalid_span_id'),
  bad('a span id of 15 digits', { spanId: 'a'.repeat(15) }, 'invalid_span_id'),
  bad('a parent id of 2 digits', { parentSpanId: 'ab' }, 'invalid_parent_span_id'),
  {
    name: 'ids in upper case',
    prepare: (trace) => sent(json(plain(trace.toUpperCase(), { spanId: 'ABCDEF0123456789' }), good(trace))),
    want: both,
  },
  {
    name: 'a parent id of zeros',
    prepare: (trace) => sent(json(good(trace, { parentSpanId: '0'.repeat(16) }))),
    want: taken(1, { runs: 1 }),
  },
  bad('a time below zero', { startTimeUnixNano: '-1' }, 'invalid_time'),
  bad('a time of 2^64', { startTimeUnixNano: '18446744073709551616' }, 'invalid_time'),
  bad('a time in hex', { endTimeUnixNano: '0x10' }, 'invalid_time'),
  bad('a time as 1e18', { endTimeUnixNano: '1e18' }, 'invalid_time'),
  bad('a time of 10,000 digits', { endTimeUnixNano: '9'.repeat(10_000) }, 'invalid_time'),
  beside('a time of 10,000 digits without quotes', `"endTimeUnixNano":${'9'.repeat(10_000)}`, partly({ invalid_time: 1 })),
  beside('a time with a fraction', '"endTimeUnixNano":1.5', partly({ invalid_time: 1 })),
  beside('a time as a number', '"startTimeUnixNano":1700000000000000001', both),
  beside('an integer beyond 2^63', value('{"intValue":9223372036854775808}'), partly({ invalid_field: 1 })),
  beside('an integer beyond 2^53', value('{"intValue":9007199254740993}'), both),
  beside('a double beyond all doubles', value('{"doubleValue":1e400}'), both),
  beside('a double that is a word', value('{"doubleValue":"much"}'), partly({ invalid_field: 1 })),
  beside('two values in one', value('{"stringValue":"a","intValue":"1"}'), both),
  beside('a value that is a text', value('"a"'), partly({ invalid_field: 1 })),
  beside('attributes that are an object', '"attributes":{"a":"b"}', partly({ invalid_field: 1 })),
  beside(
    'a text that is half of a character',
    '"name":"\\ud800","attributes":[{"key":"\\udfff","value":{"stringValue":"\\ud800\\ud800"}}]',
    both,
  ),
  {
    name: 'bytes that are not UTF-8',
    prepare: (trace) =>
      sent(
        Buffer.concat([
          Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[${goodText(trace).slice(0, -1)},"traceState":"`),
          Buffer.from('eda080ff', 'hex'),
          Buffer.from('"}]}]}]}'),
        ]),
      ),
    want: taken(1, { runs: 1 }),
  },
  beside('a byte of zero in a text', '"name":"a\\u0000b"', both),
  beside(
    'names of the object prototype',
    `"__proto__":{"traceId":"x"},"constructor":{"prototype":{}},"toString":1,${value('{"kvlistValue":{"values":[{"key":"__proto__","value":{"stringValue":"x"}},{"key":"constructor","value":{}}]}}')}`,
    both,
  ),
  beside('a key of 5,000 bytes', `"attributes":[{"key":"${'k'.repeat(5_000)}","value":{}}]`, partly({ attribute_key_too_long: 1 })),
  beside('a million attributes', () => `"attributes":[${times(1_000_000, () => '{"key":"k"}')}]`, partly({ too_many_items: 1 })),
  beside(
    'twenty thousand attributes',
    () => `"attributes":[${times(20_000, (at) => `{"key":"k${at}","value":{"intValue":"1"}}`)}]`,
    partly({ too_many_attributes: 1 }),
  ),
  beside('ten thousand events', () => `"events":[${times(10_000, () => '{"name":"e"}')}]`, partly({ too_many_events: 1 })),
  beside('ten thousand links', () => `"links":[${times(10_000, () => '{}')}]`, partly({ too_many_links: 1 })),
  beside(
    'a list of two million values',
    () => value(`{"arrayValue":{"values":[${times(2_000_000, () => '{}')}]}}`),
    partly({ too_many_items: 1 }),
  ),
  beside('an attribute of 12 MiB', () => value(`{"stringValue":"${'x'.repeat(12 * 1024 * 1024)}"}`), both),
  beside('a text of 5 MiB of escapes', () => `"name":"${'\\"'.repeat(2_500_000)}"`, both),
  whole(
    'a good span, then 150,000 empty ones',
    (trace) => jsonText(`${goodText(trace)},${times(150_000, () => '{}')}`),
    partly({ invalid_trace_id: 99_999, too_many_spans: 50_001 }),
  ),
  whole('a hundred thousand empty blocks', `{"resourceSpans":[${times(100_001, () => '{}')}]}`, malformed(/resource and scope blocks/)),
  whole('five million values outside of spans', `{"unknown":[${times(5_000_000, () => '1')}]}`, malformed(/values/)),
  whole(
    'a faulty resource rejects its own spans only',
    (trace) =>
      `{"resourceSpans":[{"resource":{"attributes":[7]},"scopeSpans":[{"spans":[${JSON.stringify(plain(trace))},${JSON.stringify(plain(trace, { spanId: spanId(2) }))}]}]},${jsonText(goodText(trace)).slice('{"resourceSpans":['.length)}`,
    partly({ invalid_field: 2 }),
  ),
];
