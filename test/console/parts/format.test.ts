import { expect, test } from 'vitest';
import {
  agoText,
  bytesText,
  costText,
  countText,
  durationText,
  lineText,
  percentText,
  scoreText,
  shortCountText,
  timeText,
} from '../../../src/console/parts/format.ts';

test.each([
  { of: percentText, values: [null, 0, 0.004, 0.5, 0.934, 0.997, 1], want: ['–', '0 %', '0.4 %', '50 %', '93 %', '99.7 %', '100 %'] },
  { of: scoreText, values: [null, 0, 0.666, 1, 0.9972, 0.000_04, 12], want: ['–', '0', '0.67', '1', '0.997', '0.00004', '12'] },
  {
    of: durationText,
    values: [null, 0, 0.25, 1.24, 12.3, 65, 3_600, 5_400],
    want: ['–', '0 ms', '250 ms', '1.2 s', '12 s', '1 min 5 s', '1 h 0 min', '1 h 30 min'],
  },
  { of: costText, values: [null, 0, 0.000_12, 0.5, 12.345], want: ['–', '$0', '$0.00012', '$0.50', '$12.35'] },
  { of: countText, values: [null, 0, 1_234_567], want: ['–', '0', '1,234,567'] },
  { of: shortCountText, values: [null, 999, 1_234, 56_789, 1_500_000], want: ['–', '999', '1.2 k', '57 k', '1.5 M'] },
  { of: bytesText, values: [null, 0, 1_023, 1_536, 5_000_000], want: ['–', '0 B', '1023 B', '1.5 KiB', '4.8 MiB'] },
])('format: $of.name', ({ of, values, want }) => {
  expect(values.map((value) => of(value))).toEqual(want);
});

test('format: a score does not stand as the threshold that it missed', () => {
  expect([scoreText(0.4996, 0.5), scoreText(0.5, 0.5), scoreText(0.4996, 0.8), scoreText(0.333_33, 0.33)]).toEqual([
    '0.4996',
    '0.5',
    '0.5',
    '0.333',
  ]);
});

test('format: a time that is none is a dash', () => {
  expect([timeText('x'), timeText(null), agoText(null, 0)]).toEqual(['–', '–', '–']);
  expect(timeText('2026-11-26T12:00:00.5Z')).toMatch(/^2026-11-2[5-7] \d\d:\d\d:00$/);
});

test.each([
  [5_000, '5 s ago'],
  [65_000, '1 min ago'],
  [7_200_000, '2 h ago'],
  [3 * 86_400_000, '3 d ago'],
  [-5_000, '0 s ago'],
])('format: %s ms are %s', (ms, want) => {
  expect(agoText(new Date(1_000_000_000_000 - ms).toISOString(), 1_000_000_000_000)).toBe(want);
});

test('format: a text becomes one line of bounded length', () => {
  expect(lineText(' a\n\tb  c ')).toBe('a b c');
  expect(lineText('x'.repeat(400))).toHaveLength(300);
  expect(lineText(null)).toBe('');
});
