import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Span } from '../../../src/model/span.ts';
import { keyShapes } from '../../../src/otlp/read/key-shapes.ts';
import { spanBlocks, spanPacker } from '../../../src/otlp/cut/span-packing.ts';
import { readTraces } from '../../../src/otlp/read/read.ts';
import { writeTraces } from '../../../src/otlp/write/write.ts';
import { HeldSpans } from '../../../src/pipeline/gathering/held-spans.ts';
import { slabs } from '../../../src/pipeline/gathering/slab-allocator.ts';
import { slabCompaction } from '../../../src/service/close-scheduler.ts';
import { spanId as spanOf } from '../../builders/agent-trace.ts';
import { propertyRuns } from '../../builders/property-runs.ts';
import { span } from '../../builders/spans.ts';
import { traceRequest } from '../../otlp/descriptors.ts';
import { plainSpan } from '../../otlp/plain.ts';
import { traceRequests } from '../../otlp/requests.ts';

function held(spans: readonly Span[]): HeldSpans {
  const all = new HeldSpans();
  for (const [at, one] of spans.entries()) all.set(one.spanId, { span: one, arrivedMs: at, position: 0, ordinal: at });
  return all;
}

const told = (all: HeldSpans) => [...all.entries()].map(([spanId, { span: one, arrivedMs }]) => [spanId, plainSpan(one), arrivedMs]);

describe('held-spans', () => {
  test('held-spans: packed spans are read back equal, in their order, from any requests', () => {
    const packing = { packer: spanPacker(keyShapes()), slabs: slabs() };
    fc.assert(
      fc.property(
        fc.array(fc.tuple(traceRequests, fc.constantFrom('held', 'in place', 'copied', 'squeezed')), { maxLength: 10 }),
        (requests) => {
          const [all, whole] = [new HeldSpans(), new HeldSpans()];
          for (const [request, as] of requests) {
            for (const one of readTraces(traceRequest.encode(request.proto), 'protobuf').spans) {
              expect(all.has(one.spanId)).toBe(whole.has(one.spanId));
              if (!whole.has(one.spanId))
                for (const gathered of [all, whole])
                  gathered.set(one.spanId, { span: one, arrivedMs: whole.size, position: 0, ordinal: whole.size });
            }
            if (as === 'in place') all.packInPlace(packing.packer);
            else if (as !== 'held') all.pack(as === 'squeezed' ? { ...packing, slabs: slabCompaction() } : packing);
            expect(all.size).toBe(whole.size);
          }
          expect(told(all)).toEqual(told(whole));
        },
      ),
      { numRuns: propertyRuns({ short: 10, long: 40 }) },
    );
  });

  test('held-spans: spans are in the order of arrival, by request and within it, at any time of adding or packing', () => {
    const packing = { packer: spanPacker(keyShapes()), slabs: slabs() };
    const places = [
      [4, 7],
      [2, 3],
      [4, 6],
      [-1, 9],
      [2, 8],
    ] as const;
    for (const packedAfter of [[], [1], [2, 4], [0, 1, 2, 3, 4]]) {
      const all = new HeldSpans();
      for (const [at, [position, ordinal]] of places.entries()) {
        all.set(spanOf(at + 1), { span: span({ id: at + 1 }), arrivedMs: at, position, ordinal });
        if (packedAfter.includes(at)) all.pack(packing);
      }
      expect([...all.values()].map((one) => [one.span.name, one.arrivedMs, one.position, one.ordinal])).toEqual([
        ['span 4', 3, -1, 9],
        ['span 2', 1, 2, 3],
        ['span 5', 4, 2, 8],
        ['span 3', 2, 4, 6],
        ['span 1', 0, 4, 7],
      ]);
    }
  });

  test('held-spans: single spans are found, added and let go of after packing', () => {
    const packing = { packer: spanPacker(keyShapes()), slabs: slabs() };
    const all = held([span({ id: 1 }), span({ id: 2 })]);
    all.pack(packing);
    expect([all.has(spanOf(1)), all.has(spanOf(3)), all.get(spanOf(2))?.span.name, all.size]).toEqual([true, false, 'span 2', 2]);
    all.pack(packing);
    all.set(spanOf(3), { span: span({ id: 3 }), arrivedMs: 7, position: 0, ordinal: 7 });
    expect([...all.values()].map((one) => one.span.name)).toEqual(['span 1', 'span 2', 'span 3']);
    all.pack(packing);
    all.clear();
    expect([all.size, [...all.values()]]).toEqual([0, []]);
  });

  test('held-spans: a span beside other bytes keeps its own, with any bytes after it', () => {
    const packing = { packer: spanPacker(keyShapes()), slabs: slabs() };
    const sizes = [10, 60_000, 120_000, 300_000, 900_000, 1_500_000, 20, 100_000, 100_000, 100_000];
    const all = sizes.flatMap(
      (length, at) =>
        readTraces(writeTraces([span({ id: at + 1, attributes: { text: String(at).repeat(length) } })], 'protobuf'), 'protobuf').spans,
    );
    const alone = all.map((one) => held([one]));
    for (const one of alone) one.pack(packing);
    expect(alone.some((one, at) => one.get(all[at]?.spanId ?? spanOf(1))?.span === all[at])).toBe(false);
    expect(alone.map((one) => told(one))).toEqual(all.map((one) => told(held([one]))));
  });

  test('held-spans: spans from JSON and large ones stay unchanged', () => {
    const packing = { packer: spanPacker(keyShapes()), slabs: slabs() };
    const body = writeTraces([span({ id: 1 })], 'json');
    const [fromJson] = readTraces(body, 'json').spans;
    if (fromJson === undefined) throw new Error('no span');
    expect(spanBlocks([span({ id: 2 }), fromJson])).toBeUndefined();
    const large = span({ id: 3, bytes: 5 * 1024 * 1024 });
    const all = held([fromJson, large]);
    all.pack(packing);
    const alone = held([large]);
    alone.pack(packing);
    expect([all.get(fromJson.spanId)?.span, alone.get(large.spanId)?.span]).toEqual([fromJson, large]);
    expect(alone.get(large.spanId)?.span).toBe(large);
  });
});
