/** Spans of ours on the wire: both encodings say the same, and others can read them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonSpans, type SentSpan, protobufSpans } from '../../../src/otlp/write/outgoing-items.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { spanId } from '../../builders/agent-trace.ts';
import { traceId } from '../../builders/spans.ts';
import { traceRequest } from '../descriptors.ts';
import { plainSpan } from '../plain.ts';

const scalars = fc.oneof(fc.string({ unit: 'binary', maxLength: 100 }), fc.boolean(), fc.integer(), fc.double({ noNaN: true }));
const values = fc.oneof(
  scalars,
  fc.constant(null),
  fc.bigInt(),
  fc.array(fc.string()),
  fc.array(fc.double({ noNaN: true })),
  fc.array(scalars),
  fc.dictionary(fc.string(), fc.integer()),
);
const keys = fc.oneof(
  fc.string({ unit: 'grapheme', minLength: 1, maxLength: 80 }),
  fc.constantFrom('gen_ai.evaluation.score.value', 'tracejury.score.a', 'evaluations.0.evaluation.score', '__proto__'),
);
const attributes = fc.array(fc.tuple(keys, values), { maxLength: 8 }).map((pairs): JsonObject => Object.fromEntries(pairs));
const nanos = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const agents: fc.Arbitrary<SentSpan> = fc.record({
  resource: attributes,
  traceId: fc.integer({ min: 1, max: 1000 }).map(traceId),
  spanId: fc.integer({ min: 1, max: 1000 }).map(spanId),
  parentSpanId: fc.integer({ min: 1, max: 1000 }).map(spanId),
  traceState: fc.constantFrom('', `vendor=${'x'.repeat(300)}`),
  name: fc.string({ minLength: 1, maxLength: 200 }),
  startUnixNano: nanos,
  endUnixNano: nanos,
  attributes,
  events: fc.array(fc.record({ name: fc.string({ minLength: 1 }), timeUnixNano: nanos, attributes }), { maxLength: 3 }),
  links: fc.array(fc.record({ traceId: fc.constant(traceId(7)), spanId: fc.constant(spanId(8)), traceState: fc.constantFrom('', 'a=b') }), {
    maxLength: 2,
  }),
});

/** Those in traces of ours: of other kinds, without a parent, failed. */
const own = fc
  .record({ of: agents, kind: fc.boolean(), first: fc.boolean(), fault: fc.option(fc.string({ minLength: 1, maxLength: 50 })) })
  .map(({ of, kind, first, fault }): SentSpan => ({
    ...of,
    ownTrace: true,
    ...(kind ? { kind: 'client' as const } : {}),
    ...(first ? { parentSpanId: undefined } : {}),
    ...(fault === null ? {} : { fault }),
  }));
const sentSpans = fc.oneof(agents, own);

test('sent-spans: protobuf and JSON are read as the same spans, each alone and several in a request', () => {
  fc.assert(
    fc.property(fc.array(sentSpans, { minLength: 1, maxLength: 4 }), (spans) => {
      const read = (
        [
          ['protobuf', protobufSpans()],
          ['json', jsonSpans()],
        ] as const
      ).map(([encoding, writer]) => {
        const { spans: found, rejections } = readTraces(writer.request(spans.map((one) => writer.write(one))), encoding);
        expect(rejections).toEqual([]);
        expect(readTraces(writer.request([writer.write(...spans)]), encoding).spans.map(plainSpan)).toEqual(found.map(plainSpan));
        return found.map(plainSpan);
      });
      expect(read[0]).toEqual(read[1]);
      expect(read[0]).toHaveLength(spans.length);
    }),
  );
});

test('sent-spans: another protobuf library finds every field, also what is long or not plain', () => {
  fc.assert(
    fc.property(sentSpans, (one) => {
      const writer = protobufSpans();
      const again = traceRequest.encode(traceRequest.decode(writer.request([writer.write(one)])));
      const [span] = readTraces(again, 'protobuf').spans;
      expect(span).toMatchObject({
        traceId: one.traceId,
        spanId: one.spanId,
        parentSpanId: one.parentSpanId,
        traceState: one.traceState,
        name: one.name.toWellFormed(),
        startUnixNano: one.startUnixNano,
        endUnixNano: one.endUnixNano,
        flags: one.ownTrace === true ? 0x101 : 0x301,
        kind: one.kind === 'client' ? 3 : 1,
        status: one.fault === undefined ? { code: 'unset' } : { code: 'error', message: one.fault.toWellFormed() },
      });
      expect(readTraces(writer.write(one), 'protobuf').spans.map(plainSpan)).toEqual(span === undefined ? [] : [plainSpan(span)]);
    }),
  );
});

test('sent-spans: a number under a score’s key is a double, every other whole one an integer, as the official descriptors say', () => {
  const made: SentSpan = {
    resource: {},
    traceId: traceId(1),
    spanId: spanId(2),
    parentSpanId: spanId(3),
    traceState: '',
    name: 'n',
    startUnixNano: 1n,
    endUnixNano: 2n,
    events: [],
    links: [],
    attributes: { 'tracejury.score.a': 1, revision: 1, share: 0.5, list: [1, 2], large: 2 ** 60 },
  };
  const writer = protobufSpans();
  const { resourceSpans } = traceRequest.decode(writer.write(made)) as {
    readonly resourceSpans: readonly {
      readonly scopeSpans: readonly { readonly spans: readonly { readonly attributes: readonly object[] }[] }[];
    }[];
  };
  expect(resourceSpans[0]?.scopeSpans[0]?.spans[0]?.attributes).toEqual([
    { key: 'tracejury.score.a', value: { doubleValue: 1 } },
    { key: 'revision', value: { intValue: '1' } },
    { key: 'share', value: { doubleValue: 0.5 } },
    { key: 'list', value: { arrayValue: { values: [{ intValue: '1' }, { intValue: '2' }] } } },
    { key: 'large', value: { doubleValue: 2 ** 60 } },
  ]);
});
