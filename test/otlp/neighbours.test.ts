/** A span that is broken in itself is rejected by itself: where it ends is known, so those beside it are read. */
import { expect, test } from 'vitest';
import { defaultOtlpLimits } from '../../src/otlp/read/limits.ts';
import { readTraces } from '../../src/otlp/read/read.ts';
import { field } from '../hostile/bodies.ts';
import { traceRequest } from './descriptors.ts';

const T = '0102030405060708090a0b0c0d0e0f10';
const S = '0102030405060708';
const good = { traceId: T, spanId: S, name: 'good' };

for (const written of ['null', '1', '12345678901234567890', '"x"', '[[]]', '[{}]', 'true']) {
  test(`otlp: a JSON span that is ${written} is rejected, its neighbours kept`, () => {
    const text = JSON.stringify(good);
    const read = readTraces(
      Buffer.from(`{"resourceSpans":[{"scopeSpans":[{"spans":[${text}, ${written},${text}\n,\t${text}]}]}]}`),
      'json',
    );
    expect(read.spans).toHaveLength(3);
    expect(read.rejections).toEqual([
      { reason: 'invalid_field', count: 1, example: 'item 1 of scope 0 of resource 0: it is not an object' },
    ]);
  });
}

const broken = [
  ['a name that is a number', '2801'],
  ['a length behind its end', '2a7f61'],
  ['a group', '9b069c06'],
  ['an event that is cut off', '5a03120561'],
  ['a cut number', '30ff'],
] as const;
for (const [name, bytes] of broken) {
  test(`otlp: a protobuf span with ${name} is rejected as malformed, its neighbours kept`, () => {
    const whole = Buffer.from(`0a10${T}1208${S}`, 'hex');
    const bad = Buffer.concat([whole, Buffer.from(bytes, 'hex')]);
    const read = readTraces(field(0x0a, field(0x12, Buffer.concat([whole, bad, whole].map((span) => field(0x12, span))))), 'protobuf');
    expect(read.spans).toHaveLength(2);
    expect(read.rejections).toMatchObject([{ reason: 'malformed', count: 1, example: expect.stringContaining('item 1 of scope 0') }]);
  });
}

test('otlp: a span with more bytes or more values than one may have is rejected, its neighbour kept', () => {
  const limits = { ...defaultOtlpLimits, bytesPerSpan: 1_000, valuesPerSpan: 60 };
  const large = { ...good, name: 'x'.repeat(2_000) };
  const wide = {
    ...good,
    attributes: [{ key: 'k', value: { arrayValue: { values: Array.from({ length: 50 }, () => ({ boolValue: true })) } } }],
  };
  const block = { resourceSpans: [{ scopeSpans: [{ spans: [large, wide, good] }] }] };
  for (const read of [readTraces(protobufOf(block), 'protobuf', limits), readTraces(Buffer.from(JSON.stringify(block)), 'json', limits)]) {
    expect(read.spans.map((span) => span.name)).toEqual(['good']);
    expect(read.rejections.map(({ reason, count }) => [reason, count])).toEqual([
      ['too_large', 1],
      ['too_many_items', 1],
    ]);
  }
});

test('otlp: a JSON span nested 20,000 deep is rejected, its neighbour kept', () => {
  const text = JSON.stringify(good);
  const read = readTraces(
    Buffer.from(
      `{"resourceSpans":[{"scopeSpans":[{"spans":[${text.slice(0, -1)},"x":${'['.repeat(20_000)}${']'.repeat(20_000)}},${text}]}]}]}`,
    ),
    'json',
  );
  expect(read.spans).toHaveLength(1);
  expect(read.rejections).toMatchObject([{ reason: 'nesting_too_deep', count: 1 }]);
});

function protobufOf(block: object): Buffer {
  return traceRequest.encode(
    JSON.parse(JSON.stringify(block), (key, value: unknown) => (key.endsWith('Id') ? Buffer.from(String(value), 'hex') : value)),
  );
}
