import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseTraceId, type TraceId } from '../../../src/model/ids.ts';
import { sampleDecision, upstreamProbabilityMin } from '../../../src/pipeline/evaluation/sampling.ts';

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

/** The probability as in the decision: in units of 2^-56. */
const leastShare = Math.round(upstreamProbabilityMin * 2 ** 56) / 2 ** 56;

const cases = [
  { name: 'rate 1 keeps the lowest value', id: lowest, state: '', rate: 1, want: { sampled: true, probability: 1 } },
  { name: 'rate 0 drops the highest value', id: highest, state: '', rate: 0, want: { sampled: false, probability: 0 } },
  { name: 'a half keeps from the middle on', id: middle, state: '', rate: 0.5, want: { sampled: true, probability: 0.5 } },
  { name: 'a half drops what is one below the middle', id: belowMiddle, state: '', rate: 0.5, want: { sampled: false, probability: 0.5 } },
  {
    name: 'rv takes the place of the trace id',
    id: lowest,
    state: 'ot=rv:ffffffffffffff',
    rate: 0.01,
    want: { sampled: true, probability: 0.01 },
  },
  // Each would turn the decision of the trace id round if it were used.
  {
    name: 'rv of 13 digits is malformed and not used',
    id: highest,
    state: 'ot=rv:0000000000000',
    rate: 0.5,
    want: { sampled: true, probability: 0.5 },
  },
  {
    name: 'rv of 15 digits is malformed and not used',
    id: lowest,
    state: 'ot=rv:fffffffffffffff',
    rate: 0.5,
    want: { sampled: false, probability: 0.5 },
  },
  {
    name: 'rv of 15 digits is not used from its end either',
    id: highest,
    state: 'ot=rv:000000000000000',
    rate: 0.5,
    want: { sampled: true, probability: 0.5 },
  },
  {
    name: 'rv that is not hex is malformed and not used',
    id: lowest,
    state: 'ot=rv:fffffffffffffg',
    rate: 0.5,
    want: { sampled: false, probability: 0.5 },
  },
  {
    name: 'rv in capitals is malformed and not used',
    id: lowest,
    state: 'ot=rv:FFFFFFFFFFFFFF',
    rate: 0.5,
    want: { sampled: false, probability: 0.5 },
  },
  { name: 'an empty rv is malformed and not used', id: highest, state: 'ot=rv:', rate: 0.5, want: { sampled: true, probability: 0.5 } },
  {
    name: 'rv with a blank in it is malformed and not used',
    id: highest,
    state: 'ot=rv:000000 0000000',
    rate: 0.5,
    want: { sampled: true, probability: 0.5 },
  },
  { name: 'a threshold that is empty has no effect', id: middle, state: 'ot=th:', rate: 0.5, want: { sampled: true, probability: 0.5 } },
  { name: 'a threshold in capitals has no effect', id: highest, state: 'ot=th:F', rate: 1, want: { sampled: true, probability: 1 } },
  {
    name: 'a sampler that keeps one in 4,096 is believed',
    id: highest,
    state: 'ot=th:fff',
    rate: 0.5,
    want: { sampled: true, probability: 0.5 / 4096, upstream: 1 / 4096 },
  },
  {
    name: 'of a smaller share than is believed the least one counts',
    id: highest,
    state: 'ot=th:ffffffffffffff',
    rate: 0.5,
    want: { sampled: true, probability: 0.5 * leastShare, upstream: leastShare, isRaised: true },
  },
  {
    name: 'with a separate random value as well',
    id: lowest,
    state: 'ot=rv:ffffffffffffff;th:ffffffffffffff',
    rate: 1,
    want: { sampled: true, probability: leastShare, upstream: leastShare, isRaised: true },
  },
  {
    name: 'the least share may be another one',
    id: highest,
    state: 'ot=th:ff',
    min: 0.5,
    rate: 1,
    want: { sampled: true, probability: 0.5, upstream: 0.5, isRaised: true },
  },
  {
    name: 'a least share of 1 believes no sampler',
    id: highest,
    state: 'ot=th:8',
    min: 1,
    rate: 1,
    want: { sampled: true, probability: 1, isRaised: true },
  },
  {
    name: 'upstream kept a half, a half of it is a quarter',
    id: traceId('c0000000000000'),
    state: 'ot=th:8',
    rate: 0.5,
    want: { sampled: true, probability: 0.25, upstream: 0.5 },
  },
  {
    name: 'one below the quarter is dropped',
    id: traceId('bfffffffffffff'),
    state: 'ot=th:8',
    rate: 0.5,
    want: { sampled: false, probability: 0.25, upstream: 0.5 },
  },
  { name: 'all of what upstream kept', id: middle, state: 'ot=th:8', rate: 1, want: { sampled: true, probability: 0.5, upstream: 0.5 } },
  { name: 'th:0 is upstream 100 %', id: middle, state: 'ot=th:0', rate: 0.5, want: { sampled: true, probability: 0.5 } },
  {
    name: 'a threshold that the trace itself misses has no effect',
    id: lowest,
    state: 'ot=th:8',
    rate: 1,
    want: { sampled: true, probability: 1 },
  },
  {
    name: 'a threshold of 15 digits is malformed',
    id: middle,
    state: 'ot=th:800000000000000',
    rate: 0.5,
    want: { sampled: true, probability: 0.5 },
  },
  {
    name: 'other members and sub-keys are passed over',
    id: lowest,
    state: 'dd=s:1;th:c, ot=x:1;rv:ffffffffffffff;th:8 ,z=1',
    rate: 0.5,
    want: { sampled: true, probability: 0.25, upstream: 0.5 },
  },
  { name: 'a rate that is not a number keeps nothing', id: highest, state: '', rate: Number.NaN, want: { sampled: false, probability: 0 } },
  { name: 'a rate above 1 is 1', id: lowest, state: '', rate: 7, want: { sampled: true, probability: 1 } },
] as const;

for (const { name, id, state, rate, want, ...rest } of cases) {
  test(`sample: ${name}`, () => {
    expect(sampleDecision({ traceId: id, traceState: state, rate, ...('min' in rest ? { upstreamMin: rest.min } : {}) })).toEqual(want);
  });
}

const hex = (digits: number) =>
  fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: digits, maxLength: digits }).map((all) => all.join(''));
const state = fc.oneof(
  fc.constant(''),
  hex(14).map((rv) => `ot=rv:${rv}`),
  hex(3).map((th) => `ot=th:${th}`),
  hex(14).map((th) => `ot=rv:ffffffffffffff;th:${th}`),
  hex(4).map((th) => `ot=th:ffffff${th}`),
  fc.string(),
);
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
      // With any text of a sender, a run represents a bounded number of others.
      expect(more.probability).toBeGreaterThanOrEqual(high * leastShare);
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
      expect(sampleDecision({ traceId: other, traceState: '', rate })).toEqual(
        sampleDecision({ traceId: traceId(tail), traceState: '', rate }),
      );
    }),
  );
});
