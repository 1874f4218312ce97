import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Span } from '../../src/model/span.ts';
import { keyShapes } from '../../src/otlp/key-shapes.ts';
import { spanPacker } from '../../src/otlp/pack.ts';
import { readTraces } from '../../src/otlp/read.ts';
import { writeTraces } from '../../src/otlp/write.ts';
import { HeldSpans } from '../../src/pipeline/held-spans.ts';
import { spanId as spanOf } from '../builders/agent-trace.ts';
import { span } from '../builders/spans.ts';
import { traceRequest } from '../otlp/descriptors.ts';
import { plainSpan } from '../otlp/plain.ts';
import { traceRequests } from '../otlp/requests.ts';

function held(spans: readonly Span[]): HeldSpans {
  const all = new HeldSpans();
  for (const [at, one] of spans.entries()) all.set(one.spanId, { span: one, arrivedMs: at });
  return all;
}

const told = (all: HeldSpans) => [...all.entries()].map(([spanId, { span: one, arrivedMs }]) => [spanId, plainSpan(one), arrivedMs]);

describe('held-spans', () => {
  test('held-spans: what is packed is read back equal, in its order, from whatever requests it came', () => {
    const packer = spanPacker(keyShapes());
    fc.assert(
      fc.property(fc.array(traceRequests, { maxLength: 3 }), (requests) => {
        const all = held(requests.flatMap((request) => readTraces(traceRequest.encode(request.proto), 'protobuf').spans));
        const before = told(all);
        for (let round = 0; round < 2; round++) {
          all.pack(packer, 0);
          expect(all.size).toBe(before.length);
          expect(told(all)).toEqual(before);
        }
      }),
    );
  });

  test('held-spans: single spans are found, added and let go of after packing', () => {
    const packer = spanPacker(keyShapes());
    const all = held([span({ id: 1 }), span({ id: 2 })]);
    all.pack(packer, 0);
    expect([all.has(spanOf(1)), all.has(spanOf(3)), all.get(spanOf(2))?.span.name, all.size]).toEqual([true, false, 'span 2', 2]);
    all.pack(packer, 0);
    all.set(spanOf(3), { span: span({ id: 3 }), arrivedMs: 7 });
    expect([...all.values()].map((one) => one.span.name)).toEqual(['span 1', 'span 2', 'span 3']);
    all.pack(packer, 0);
    all.clear();
    expect([all.size, [...all.values()]]).toEqual([0, []]);
  });

  test('held-spans: what came as JSON and what is large stays as it is', () => {
    const packer = spanPacker(keyShapes());
    const body = writeTraces([span({ id: 1 })], 'json');
    const [fromJson] = readTraces(body, 'json').spans;
    if (fromJson === undefined) throw new Error('no span');
    expect(packer.pack([span({ id: 2 }), fromJson])).toBeUndefined();
    const large = span({ id: 3 });
    const all = held([fromJson, large]);
    all.pack(packer, 0);
    const alone = held([large]);
    alone.pack(packer, 5 * 1024 * 1024);
    expect([all.get(fromJson.spanId)?.span, alone.get(large.spanId)?.span]).toEqual([fromJson, large]);
    expect(alone.get(large.spanId)?.span).toBe(large);
  });
});
