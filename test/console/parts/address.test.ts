import { expect, test } from 'vitest';
import { changedQuery, pageAddress, pickedQuery } from '../../../src/console/parts/address.ts';

test.each([
  { name: 'no parameters', path: '/runs', query: {}, want: '/runs' },
  { name: 'empty ones left out', path: '/runs', query: { agent: '', model: undefined, verdict: 'fail' }, want: '/runs?verdict=fail' },
  { name: 'values escaped', path: '/runs', query: { agent: 'a&b=<script>' }, want: '/runs?agent=a%26b%3D%3Cscript%3E' },
])('address: $name', ({ path, query, want }) => {
  expect(pageAddress(path, query)).toBe(want);
});

test('address: a change adds, replaces and removes', () => {
  expect(changedQuery({ agent: 'a', model: 'm', range: '1h' }, { agent: 'b', model: '', verdict: 'fail' })).toEqual({
    agent: 'b',
    range: '1h',
    verdict: 'fail',
  });
});

test('address: a link keeps the parameters of these names', () => {
  expect(pickedQuery({ agent: 'a', range: '1h' }, ['range', 'from'])).toEqual({ range: '1h' });
});
