import { expect, test } from 'vitest';
import { localInput, timeRangeOf } from '../../../src/console/parts/time-range.ts';

const now = Date.parse('2026-11-26T12:34:56.789Z');

test.each([
  { name: 'a day, when the address has none', query: {}, want: { from: '2026-11-25T12:34:00.000Z', to: undefined, value: '24h' } },
  {
    name: 'the last hour, from a whole minute',
    query: { range: '1h' },
    want: { from: '2026-11-26T11:34:00.000Z', to: undefined, value: '1h' },
  },
  { name: 'a day, when the range is unknown', query: { range: '9y' }, want: { from: '2026-11-25T12:34:00.000Z', value: '24h' } },
  {
    name: 'two times',
    query: { from: '2026-11-01T00:00:00Z', to: '2026-11-02T00:00:00Z', range: '1h' },
    want: { from: '2026-11-01T00:00:00.000Z', to: '2026-11-02T00:00:00.000Z', value: 'own' },
  },
  { name: 'from a time to now', query: { from: '2026-11-01' }, want: { from: '2026-11-01T00:00:00.000Z', to: undefined, value: 'own' } },
  { name: 'a day, when the end is before the start', query: { from: '2026-11-02', to: '2026-11-01' }, want: { value: '24h' } },
  { name: 'a day, when the start is not a time', query: { from: '<script>' }, want: { value: '24h' } },
])('time range: $name', ({ query, want }) => {
  expect(timeRangeOf(query, now)).toMatchObject(want);
});

test('time range: an input of local time shows the offset', () => {
  expect(localInput('2026-11-26T12:00:00.000Z', -60)).toBe('2026-11-26T13:00');
  expect(localInput(undefined, 0)).toBe('');
});
