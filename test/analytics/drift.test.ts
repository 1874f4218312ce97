/** A look beside its baseline. */
import { expect, test } from 'vitest';
import { driftCounts, driftFigures, driftWordOf } from '../../src/analytics/drift.ts';
import type { DriftAnswer } from '../../src/model/store/drift-store.ts';

const answers = (words: string): readonly DriftAnswer[] =>
  words.split(' ').map((word, at) => ({ run: `r${at}`, word: word as DriftAnswer['word'], tries: 1 }));

test('drift figures: only runs that passed or failed both times are compared', () => {
  expect(driftCounts(answers('pass pass fail fail pass error skipped pass'), answers('pass fail pass fail error pass pass pass'))).toEqual({
    stayedPass: 2,
    stayedFail: 1,
    toPass: 1,
    toFail: 1,
  });
  expect(driftCounts(answers('pass'), [])).toEqual({ stayedPass: 0, stayedFail: 0, toPass: 0, toFail: 0 });
});

test('drift figures: the level of a look is its part of 5 %, by its number or by the plan', () => {
  // Eight flips one way: a mid-p of 2^-8, which is 0.0039.
  const counts = { stayedPass: 20, stayedFail: 2, toPass: 0, toFail: 8 };
  expect(driftFigures(counts, { look: 1, planned: undefined })).toMatchObject({
    word: 'passes_less',
    p: expect.closeTo(1 / 256, 12) as number,
    flipped: { point: 8 / 30 },
  });
  // 0.05 / (2 · 3) is above it, 0.05 / (4 · 5) is not; 0.05 / 12 is above it, 0.05 / 13 is not.
  for (const [look, planned, word] of [
    [2, undefined, 'passes_less'],
    [4, undefined, 'no_change_shown'],
    [9, 12, 'passes_less'],
    [9, 13, 'no_change_shown'],
    [13, 12, 'no_change_shown'],
  ] as const)
    expect(driftWordOf(counts, { look, planned })).toBe(word);
  expect(driftWordOf({ ...counts, toPass: 8, toFail: 0 }, { look: 1, planned: undefined })).toBe('passes_more');
});

test('drift figures: without anything to compare there is no figure', () => {
  const none = { stayedPass: 0, stayedFail: 0, toPass: 0, toFail: 0 };
  expect(driftFigures(none, { look: 1, planned: undefined }).kind).toBe('not_estimable');
  expect(driftWordOf(none, { look: 1, planned: undefined })).toBe('no_change_shown');
});
