import { expect, test } from 'vitest';
import { barPlaces, niceEnd, pointsText, pText, whyNone } from '../../../src/console/parts/estimate.ts';

const none = { point: null, low: null, high: null, not_estimable: { reason: 'no_labels', explanation: 'No labels.' } };

test.for([
  { name: 'within the scale', estimate: { point: 0.5, low: 0.4, high: 0.7 }, want: { left: 40, right: 70, point: 50 } },
  { name: 'beyond the scale', estimate: { point: 1.5, low: -1, high: 2 }, want: { left: 0, right: 100, point: 100 } },
  { name: 'without an interval', estimate: { point: 0.2, low: null, high: null }, want: { left: 20, right: 20, point: 20 } },
  { name: 'without a figure', estimate: none, want: undefined },
])('estimate: the places of a bar $name', ({ estimate, want }) => {
  expect(barPlaces(estimate, { min: 0, max: 1, width: 100 })).toEqual(want);
});

test('estimate: zero is in the middle of a scale of differences', () => {
  expect(barPlaces({ point: 0, low: -0.5, high: 0.25 }, { min: -0.5, max: 0.5, width: 80 })).toEqual({ left: 0, right: 60, point: 40 });
});

test('estimate: without a figure there is a reason', () => {
  expect(whyNone(none)).toBe('No labels.');
  expect(whyNone({ point: null, low: null, high: null })).toBe('There is no figure.');
  expect(whyNone({ point: 0, low: 0, high: 0.1 })).toBeUndefined();
});

test.for([
  [0, '±0 pp'],
  [0.049, '+4.9 pp'],
  [-0.05, '−5 pp'],
  [0.1234, '+12 pp'],
  [-1, '−100 pp'],
] as const)('estimate: a difference of %d is %s', ([difference, want]) => {
  expect(pointsText(difference)).toBe(want);
});

test.for([
  [null, '–'],
  [0.00001, '< 0.0001'],
  [0.004, '0.0040'],
  [0.2, '0.20'],
] as const)('estimate: p of %s is %s', ([p, want]) => {
  expect(pText(p)).toBe(want);
});

test.for([
  [0, 1],
  [0.031, 0.05],
  [1, 1],
  [8.2, 10],
  [1_100, 2_000],
] as const)('estimate: a scale for %d ends at %d', ([value, want]) => {
  expect(niceEnd(value)).toBe(want);
});
