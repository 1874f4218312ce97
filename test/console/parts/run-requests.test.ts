import { describe, expect, test } from 'vitest';
import { runRequests, runsText } from '../../../src/console/parts/run-requests.ts';

const run = (number: number, tenant = '') => ({ tenant, trace_id: `t${number}`, span_id: `s${number}` });

describe('runRequests', () => {
  test('has no request for no run', () => expect(runRequests([])).toEqual([]));

  test('sends the runs of each tenant apart, and keeps their order', () => {
    expect(runRequests([run(1), run(2, 'b'), run(3)])).toEqual([
      {
        tenant: '',
        runs: [
          { trace_id: 't1', span_id: 's1' },
          { trace_id: 't3', span_id: 's3' },
        ],
      },
      { tenant: 'b', runs: [{ trace_id: 't2', span_id: 's2' }] },
    ]);
  });

  test.each([
    [200, [200]],
    [201, [200, 1]],
    [450, [200, 200, 50]],
  ])('divides %i runs into requests of %j', (count, sizes) => {
    const requests = runRequests(Array.from({ length: count }, (_, at) => run(at)));
    expect(requests.map(({ runs }) => runs.length)).toEqual(sizes);
    expect(new Set(requests.flatMap(({ runs }) => runs.map(({ trace_id: id }) => id))).size).toBe(count);
  });
});

test.each([
  [1, '1 run'],
  [2, '2 runs'],
  [20_000, '20,000 runs'],
])('runsText(%i) is %s', (count, want) => expect(runsText(count)).toBe(want));
