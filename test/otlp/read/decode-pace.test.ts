/** Large requests are read with pauses, and what is read does not depend on where the pauses lie. */
import { expect, test } from 'vitest';
import { logsInSteps, readTraces, tracesInSteps, type OtlpEncoding } from '../../../src/otlp/read/read.ts';
import { stepBytes } from '../../../src/otlp/read/decode-state.ts';
import type { Steps } from '../../../src/runtime/cooperative.ts';
import { longSuite } from '../../builders/property-runs.ts';
import { traceRequest } from '../descriptors.ts';
import { plainSpan } from '../plain.ts';

const T = '0102030405060708090a0b0c0d0e0f10';

function spansOf(count: number, name = 's'): readonly object[] {
  return Array.from({ length: count }, (_, at) => ({
    traceId: T,
    spanId: (at + 1).toString(16).padStart(16, '0'),
    name,
    attributes: [{ key: 'n', value: { intValue: '12345678901234567' } }],
  }));
}

function bodyOf(spans: readonly object[], encoding: OtlpEncoding): Buffer {
  const request = { resourceSpans: [{ scopeSpans: [{ spans }] }] };
  if (encoding === 'json') return Buffer.from(JSON.stringify(request));
  return traceRequest.encode(
    JSON.parse(JSON.stringify(request), (key, value: unknown) => (key.endsWith('Id') ? Buffer.from(String(value), 'hex') : value)),
  );
}

function pausesIn(steps: Steps<unknown>): number {
  let pauses = 0;
  while (steps.next().done !== true) pauses++;
  return pauses;
}

for (const encoding of ['protobuf', 'json'] as const) {
  test(`otlp steps: a small request in ${encoding} is read without a pause`, () => {
    expect(pausesIn(tracesInSteps(bodyOf(spansOf(100), encoding), encoding))).toBe(0);
  });

  test(`otlp steps: many small spans in ${encoding} are read with a pause every few hundred`, () => {
    expect(pausesIn(tracesInSteps(bodyOf(spansOf(5_000), encoding), encoding))).toBeGreaterThanOrEqual(10);
  });

  test(`otlp steps: few large spans in ${encoding} are read with a pause every few hundred kibibytes`, () => {
    expect(pausesIn(tracesInSteps(bodyOf(spansOf(40, 'x'.repeat(100_000)), encoding), encoding))).toBeGreaterThanOrEqual(10);
  });
}

test('otlp steps: blocks without spans are passed with pauses too', () => {
  expect(pausesIn(tracesInSteps(Buffer.alloc(20_000, '0a00', 'hex'), 'protobuf'))).toBeGreaterThanOrEqual(10);
  expect(pausesIn(logsInSteps(Buffer.from(`{"resourceLogs":[]}${' '.repeat(3 * stepBytes)}`), 'json'))).toBeGreaterThanOrEqual(3);
});

test('otlp steps: texts, numbers and spans that lie across a pause in JSON are read whole', () => {
  const tail = '\\"\\\\\u00e4\\';
  for (let shift = 0; shift < 40; shift += longSuite ? 1 : 3) {
    const spans = [...spansOf(1, 'x'.repeat(stepBytes - 130 + shift) + tail), ...spansOf(3, tail)];
    const body = bodyOf(spans, 'json');
    const unquoted = Buffer.from(body.toString().replaceAll('"12345678901234567"', '12345678901234567'));
    for (const one of [body, unquoted]) {
      const read = readTraces(one, 'json');
      expect(read.rejections).toEqual([]);
      expect(read.spans.map((span) => [span.name, span.attribute('n')])).toEqual(
        spans.map((span) => [(span as { readonly name: string }).name, 12345678901234567n]),
      );
    }
  }
});

test('otlp steps: both encodings read the same from a large request', () => {
  const spans = spansOf(3_000);
  const [one, other] = (['protobuf', 'json'] as const).map((encoding) =>
    readTraces(bodyOf(spans, encoding), encoding).spans.map(plainSpan),
  );
  expect(one).toEqual(other);
});
