/** Protobuf: what is wrong in the bytes. Beside each bad span stands a good one. */
import { deepList, field, good, goodBytes, idBytes, MiB, protobuf, requestOf, spanId } from './bodies.ts';
import { malformed, partly, taken, type HostileCase, type Wanted } from './case.ts';
import { post } from './senders.ts';

const hex = (text: string): Buffer => Buffer.from(text, 'hex');
type Bytes = string | Buffer | (() => Buffer);
const bytesOf = (bytes: Bytes): Buffer => (typeof bytes === 'string' ? hex(bytes) : typeof bytes === 'function' ? bytes() : bytes);
/** A span with the fields given behind its ids, and a good one beside it. */
const beside = (name: string, fields: Bytes, want: Wanted): HostileCase => ({
  name,
  prepare: (trace) => post(requestOf([Buffer.concat([idBytes(trace), bytesOf(fields)]), goodBytes(trace)])),
  want,
});
/** The bytes are all of a span. */
const span = (name: string, bytes: Bytes, want: Wanted): HostileCase => ({
  name,
  prepare: (trace) => post(requestOf([bytesOf(bytes), goodBytes(trace)])),
  want,
});
const whole = (name: string, body: (trace: string) => Buffer, want: Wanted = malformed()): HostileCase => ({
  name,
  prepare: (trace) => post(body(trace)),
  want,
});

const both = taken(2, { runs: 1 });
const broken = partly({ malformed: 1 });
const attribute = (value: Buffer): Buffer => field(0x4a, hex('0a016b'), field(0x12, value));

export const wireCases: readonly HostileCase[] = [
  beside('a name that is a number', '2801', broken),
  beside('a start that is a text', '3a0161', broken),
  beside('a kind that is a list of numbers', '32020102', broken),
  beside('an attribute that is a number', '4801', broken),
  beside('a value that is a fixed number', attribute(hex('1500000000')), broken),
  beside('a name that ends behind its span', '2a7f61', broken),
  beside('a name of a negative length', '2affffffffffffffffff01', broken),
  beside('a name of 2^32 bytes', '2a8080808010', broken),
  beside('a time that is cut off', '390102', broken),
  beside('a number of 11 bytes', '308080808080808080808001', broken),
  beside('a number of 65 bits', '30ffffffffffffffffff02', broken),
  beside('a group', '9b069c06', broken),
  beside('a group that never ends', '9b06', broken),
  beside('wire type 6', '2e00', broken),
  beside('field number zero', '0200', broken),
  beside('a number in more bytes than it needs', '308180808000', both),
  beside('a length in more bytes than it needs', '2a818080800061', both),
  beside('unknown fields of every wire type', `c23e0161${'b80601'}${'b9060102030405060708'}bd0601020304`, both),
  beside('the largest field number', 'f8ffffff0f01', both),
  beside('a trace id named twice: the last one counts', `0a0101`, partly({ invalid_trace_id: 1 })),
  beside('a kind of 2^31', '308080808008', both),
  beside('a name that is not UTF-8', '2a04ffc0eda0', both),
  beside('times at both ends', `39${'00'.repeat(8)}41${'ff'.repeat(8)}`, both),
  beside('lists 65 deep in a value', attribute(deepList(65)), partly({ nesting_too_deep: 1 })),
  beside('lists 100,000 deep in a value', attribute(deepList(100_000)), partly({ nesting_too_deep: 1 })),
  beside('a status of wrong types', '7a021201', broken),
  beside('an event that ends behind its span', '5a7f', broken),
  beside('twenty thousand empty attributes', () => Buffer.alloc(40_000, hex('4a00')), partly({ too_many_attributes: 1 })),
  beside('ten thousand empty events', () => Buffer.alloc(20_000, hex('5a00')), partly({ too_many_events: 1 })),
  beside('ten thousand empty links', () => Buffer.alloc(20_000, hex('6a00')), partly({ too_many_links: 1 })),
  beside(
    'eight million empty values in one list',
    () => attribute(field(0x2a, Buffer.alloc(15 * MiB, hex('0a00')))),
    partly({ too_many_items: 1 }),
  ),
  beside('eight million unknown fields', () => Buffer.alloc(15 * MiB, hex('b801')).fill(hex('b80101')), partly({ too_many_items: 1 })),
  beside('a name that is sent eight million times', () => Buffer.alloc(15 * MiB, hex('2a00')), partly({ too_many_items: 1 })),
  span('a span of no bytes', '', partly({ invalid_trace_id: 1 })),
  span('a span of one byte', 'ff', broken),
  span('a span id of 7 bytes', `0a10${'01'.repeat(16)}1207${'01'.repeat(7)}`, partly({ invalid_span_id: 1 })),
  span('ids of zeros', `0a10${'00'.repeat(16)}1208${'00'.repeat(8)}`, partly({ invalid_trace_id: 1 })),
  span('a span that is JSON', Buffer.from('{"traceId":"01"}'), broken),
  whole('every length is zero', () => hex('0a00'.repeat(1_000)), taken(0)),
  whole(
    'a good span, then 150,000 empty ones',
    (trace) => requestOf([goodBytes(trace), ...Array.from({ length: 150_000 }, () => Buffer.alloc(0))]),
    partly({ invalid_trace_id: 99_999, too_many_spans: 50_001 }),
  ),
  whole(
    'a good span, then 50,000 broken ones',
    (trace) => requestOf([goodBytes(trace), ...Array.from({ length: 50_000 }, () => hex('ff'))]),
    partly({ malformed: 50_000 }),
  ),
  whole('eight million empty blocks', () => Buffer.alloc(15 * MiB, hex('0a00')), malformed(/resource and scope blocks/)),
  whole('eight million unknown fields of the request', () => Buffer.alloc(15 * MiB, hex('2000')), malformed(/fields/)),
  whole('a request without its last byte', (trace) => protobuf(good(trace)).subarray(0, -1)),
  whole('a request with a byte behind it', (trace) => Buffer.concat([protobuf(good(trace)), hex('ff')])),
  whole('a block whose length goes beyond the end', () => hex('0aff01')),
  whole('a block of a negative length', () => hex('0affffffffffffffffff01')),
  whole('a scope that ends behind its block', (trace) => Buffer.concat([hex('0a02127f'), protobuf(good(trace))])),
  whole('a group around everything', () => hex('0b0c')),
  whole('JSON', (trace) => Buffer.from(JSON.stringify(good(trace)))),
  whole('a text', () => Buffer.from('hello, is anybody there?')),
  whole('zeros', () => Buffer.alloc(1_000)),
  whole('ones', () => Buffer.alloc(1_000, 0xff)),
  whole(
    'two requests in one body',
    (trace) => Buffer.concat([protobuf(good(trace)), protobuf(good(trace, { spanId: spanId(2) }))]),
    taken(2, { runs: 2 }),
  ),
];
