import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseTraceId, type TraceId } from '../../src/model/ids.ts';
import { sampleDecision } from '../../src/pipeline/sample.ts';

const head = '4bf92f3577b34da6a3';

function traceId(tail: string): TraceId {
  const id = parseTraceId(`${head}${tail}`);
  if (id === undefined) throw new Error(`not a trace id: ${tail}`);
  return id;
}

const highest = traceId('ffffffffffffff');
const middle = traceId('80000000000000');
const belowMiddle = traceId('7fffffffffffff');
const lowest = traceId('00000000000000');

const cases = [
  { name: 'rate 1 keeps the lowest value', id: lowest, state: '', rate: 1, want: { sampled: true, probability: 1 } },
  { name: 'rate 0 drops the highest value', id: highest, state: '', rate: 0, want: { sampled: false, probability: 0 } },
  { name: 'a half keeps from the middle on', id: middle, state: '', rate: 0.5, want: { sampled: true, probability: 0.5 } },
  { name: 'a half drops what is one below the middle', id: belowMiddle, state: '', rate: 0.5, want: { sampled: false, probability: 0.5 } },
  { name: 'rv takes the place of the trace id', id: lowest, state: 'ot=rv:ffffffffffffff', rate: 0.01, want: { sampled: true, probability: 0.01 } },
  { name: 'rv of 13 digits is malformed and not used', id: lowest, state: 'ot=rv:fffffffffffff', rate: 0.5, want: { sampled: false, probability: 0.5 } },
  { name: 'upstream kept a half, a half of it is a quarter', id: traceId('c0000000000000'), state: 'ot=th:8', rate: 0.5, want: { sampled: true, probability: 0.25 } },
  { name: 'one below the quarter is dropped', id: traceId('bfffffffffffff'), state: 'ot=th:8', rate: 0.5, want: { sampled: false, probability: 0.25 } },
  { name: 'all of what upstream kept', id: middle, state: 'ot=th:8', rate: 1, want: { sampled: true, probability: 0.5 } },
  { name: 'th:0 is upstream 100 %', id: middle, state: 'ot=th:0', rate: 0.5, want: { sampled: true, probability: 0.5 } },
  { name: 'a threshold that the trace itself misses says nothing', id: lowest, state: 'ot=th:8', rate: 1, want: { sampled: true, probability: 1 } },
  { name: 'a threshold of 15 digits is malformed', id: middle, state: 'ot=th:800000000000000', rate: 0.5, want: { sampled: true, probability: 0.5 } },
  { name: 'other members and sub-keys are passed over', id: lowest, state: 'dd=s:1;th:c, ot=x:1;rv:ffffffffffffff;th:8 ,z=1', rate: 0.5, want: { sampled: true, probability: 0.25 } },
  { name: 'a rate that is no number keeps nothing', id: highest, state: '', rate: Number.NaN, want: { sampled: false, probability: 0 } },
  { name: 'a rate above 1 is 1', id: lowest, state: '', rate: 7, want: { sampled: true, probability: 1 } },
] as const;

for (const { name, id, state, rate, want } of cases) {
  test(`sample: ${name}`, () => {
    expect(sampleDecision({ traceId: id, traceState: state, rate })).toEqual(want);
  });
}

const hex = (digits: number) => fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: digits, maxLength: digits }).map((all) => all.join(''));
const state = fc.oneof(fc.constant(''), hex(14).map((rv) => `ot=rv:${rv}`), hex(3).map((th) => `ot=th:${th}`), fc.string());
const share = fc.double({ min: 0, max: 1, noNaN: true });

test('sample: rates nest, and the probability grows with the rate', () => {
  fc.assert(
    fc.property(hex(14), state, share, share, (tail, traceState, one, other) => {
      const [low, high] = [Math.min(one, other), Math.max(one, other)];
      const fewer = sampleDecision({ traceId: traceId(tail), traceState, rate: low });
      const more = sampleDecision({ traceId: traceId(tail), traceState, rate: high });
      expect(!fewer.sampled || more.sampled).toBe(true);
      expect(fewer.probability).toBeLessThanOrEqual(more.probability);
      expect(more.probability).toBeLessThanOrEqual(1);
    }),
  );
});

test('sample: the kept share of evenly spread traces is the probability', () => {
  const traces = 4096;
  for (const { traceState, rate, want } of [
    { traceState: '', rate: 0.05, want: 0.05 },
    { traceState: '', rate: 0.3, want: 0.3 },
  ]) {
    let kept = 0;
    for (let at = 0; at < traces; at++) {
      if (sampleDecision({ traceId: traceId(`${at.toString(16).padStart(3, '0')}80000000000`), traceState, rate }).sampled) kept++;
    }
    expect(Math.abs(kept / traces - want)).toBeLessThan(1 / traces);
  }
});

test('sample: only the random bits decide, so replicas and all spans of a trace agree', () => {
  fc.assert(
    fc.property(hex(18), hex(14), share, (otherHead, tail, rate) => {
      const other = parseTraceId(`${otherHead}${tail}`);
      fc.pre(other !== undefined);
      expect(sampleDecision({ traceId: other, traceState: '', rate })).toEqual(sampleDecision({ traceId: traceId(tail), traceState: '', rate }));
    }),
  );
});
