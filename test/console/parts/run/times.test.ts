import { expect, test } from 'vitest';
import { durationText, microsOf } from '../../../../src/console/parts/run/times.ts';

test('times of the API keep their microseconds', () => {
  expect(microsOf('2026-01-01T00:00:00.000001Z') - microsOf('2026-01-01T00:00:00Z')).toBe(1);
  expect(microsOf('1970-01-01T00:00:01.5Z')).toBe(1_500_000);
  expect(microsOf('yesterday')).toBeNaN();
});

const durations: readonly (readonly [number, string])[] = [
  [0, '0 µs'],
  [850, '850 µs'],
  [12_340, '12.3 ms'],
  [999_600, '1 s'],
  [1_250_000, '1.25 s'],
  [59_960_000, '1 min'],
  [125_000_000, '2 min 5 s'],
  [3_780_000_000, '1 h 3 min'],
  [Number.NaN, 'unknown'],
];
for (const [micros, text] of durations) test(`${micros} µs read ${text}`, () => expect(durationText(micros)).toBe(text));
