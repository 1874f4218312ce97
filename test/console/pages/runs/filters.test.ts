import { expect, test } from 'vitest';
import { runAddress, runKey, runsQuery } from '../../../../src/console/pages/runs/filters.ts';

const time = { from: '2026-11-26T00:00:00.000Z', to: undefined };

test.each([
  { name: 'nothing but the time', query: {}, want: { from: time.from } },
  {
    name: 'unchanged texts',
    query: { agent: 'a&b', text: 'two words', verdict: 'fail' },
    want: { from: time.from, agent: 'a&b', text: 'two words', verdict: 'fail' },
  },
  { name: 'numbers as numbers', query: { min_duration: '1.5', max_cost: '0' }, want: { from: time.from, min_duration: 1.5, max_cost: 0 } },
  { name: 'no number that is none', query: { min_duration: 'x', max_cost: '-1', min_cost: '' }, want: { from: time.from } },
  { name: 'no parameter of the page itself', query: { live: 'on', range: '1h', evil: '1' }, want: { from: time.from } },
])('filters of runs: $name', ({ query, want }) => {
  expect(runsQuery(query, time)).toEqual(want);
});

test('filters of runs: the end of the time, where there is one', () => {
  expect(runsQuery({}, { ...time, to: '2026-11-27T00:00:00.000Z' })).toEqual({ from: time.from, to: '2026-11-27T00:00:00.000Z' });
});

test('filters of runs: a run has a page and a key with its tenant', () => {
  const run = { tenant: 'a b', trace_id: '0'.repeat(32), span_id: '1'.repeat(16) };
  expect(runAddress(run)).toBe(`/runs/${run.trace_id}/${run.span_id}?tenant=a+b`);
  expect(runAddress({ ...run, tenant: '' })).toBe(`/runs/${run.trace_id}/${run.span_id}`);
  expect(runKey(run)).not.toBe(runKey({ ...run, tenant: '' }));
});
