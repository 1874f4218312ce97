/** Spans of ours on the wire: both encodings say the same, and others can read them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { jsonSpans, type OutgoingSpan, protobufSpans } from '../../../src/otlp/write/outgoing-items.ts';
import type { JsonObject } from '../../../src/model/json.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { anyCharacter } from '../../builders/any-character.ts';
import { spanId } from '../../builders/agent-trace.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { traceId } from '../../builders/spans.ts';
import { traceRequest } from '../descriptors.ts';
import { plainSpan } from '../plain.ts';

const runs = { numRuns: propertyRuns({ short: 25, long: 100 }) };

const scalars = fc.oneof(fc.string({ unit: anyCharacter, maxLength: 100 }), fc.boolean(), fc.integer(), fc.double({ noNaN: true }));
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
const agents: fc.Arbitrary<OutgoingSpan> = fc.record({
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
  .map(({ of, kind, first, fault }): OutgoingSpan => ({
    ...of,
    ownTrace: true,
    ...(kind ? { kind: 'client' as const } : {}),
    ...(first ? { parentSpanId: undefined } : {}),
    ...(fault === null ? {} : { fault }),
  }));
const sentSpans = fc.oneof(agents, own);

test('sent-spans: protobuf and JSON are read as the same spans, one and several in a request', () => {
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
    runs,
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
    runs,
  );
});

test('sent-spans: a number under a score’s key is a double, every other whole one an integer, as the official descriptors say', () => {
  const made: OutgoingSpan = {
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

test('sent-spans: the bytes of a span stay the same from release to release', () => {
  const span: OutgoingSpan = {
    resource: { 'service.name': 'shop' },
    traceId: traceId(1),
    spanId: spanId(2),
    parentSpanId: spanId(3),
    traceState: 'a=b',
    name: 'n',
    startUnixNano: 1n,
    endUnixNano: 2n,
    attributes: { 'gen_ai.evaluation.score.value': 1, count: 1, list: ['x'] },
    events: [{ name: 'e', timeUnixNano: 2n, attributes: { on: true } }],
    links: [{ traceId: traceId(4), spanId: spanId(5), traceState: '' }],
    fault: 'busy',
  };
  const [protobuf, json] = [protobufSpans(), jsonSpans()].map((writer) => writer.request([writer.write(span)]));
  expect(protobuf?.toString('hex')).toMatchInlineSnapshot(
    `"0a84020a180a160a0c736572766963652e6e616d6512060a0473686f7012e7010a0b0a0974726163656a75727912d7010a1000000000000000000000000000000001120800000000000000021a03613d62220800000000000000032a016e30013901000000000000004102000000000000004a2a0a1d67656e5f61692e6576616c756174696f6e2e73636f72652e76616c7565120921000000000000f03f4a0b0a05636f756e74120218014a0f0a046c69737412072a050a030a01785a160902000000000000001201651a080a026f6e120210016a210a10000000000000000000000000000000041208000000000000000535010300007a081204627573791802850101030000"`,
  );
  expect(json?.toString()).toMatchInlineSnapshot(
    `"{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"scope":{"name":"tracejury"},"spans":[{"traceId":"00000000000000000000000000000001","spanId":"0000000000000002","traceState":"a=b","parentSpanId":"0000000000000003","name":"n","kind":1,"startTimeUnixNano":"1","endTimeUnixNano":"2","attributes":[{"key":"gen_ai.evaluation.score.value","value":{"doubleValue":1}},{"key":"count","value":{"intValue":"1"}},{"key":"list","value":{"arrayValue":{"values":[{"stringValue":"x"}]}}}],"events":[{"timeUnixNano":"2","name":"e","attributes":[{"key":"on","value":{"boolValue":true}}]}],"links":[{"traceId":"00000000000000000000000000000004","spanId":"0000000000000005","flags":769}],"status":{"code":2,"message":"busy"},"flags":769}]}]}]}"`,
  );
});
