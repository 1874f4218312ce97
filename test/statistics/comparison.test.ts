/** Paired tests, and tests that are repeated. */
import { expect, test } from 'vitest';
import { compareJudges, mcNemar, pairedDifference, sequentialLevel, verdictDrift } from '../../src/statistics/comparison.ts';
import { seeded, type Chance } from '../builders/seeded.ts';

const counts = [
  { onlyFirst: 1, onlySecond: 7, exact: 18 / 256, midP: 18 / 256 - 8 / 256 },
  { onlyFirst: 9, onlySecond: 1, exact: 22 / 1024, midP: 22 / 1024 - 10 / 1024 },
  { onlyFirst: 0, onlySecond: 5, exact: 2 / 32, midP: 1 / 32 },
  { onlyFirst: 3, onlySecond: 3, exact: 1, midP: 1 },
  { onlyFirst: 0, onlySecond: 0, exact: 1, midP: 1 },
] as const;

for (const { onlyFirst, onlySecond, exact, midP } of counts) {
  test(`mcnemar: ${onlyFirst} against ${onlySecond}`, () => {
    expect(mcNemar({ onlyFirst, onlySecond })).toEqual({ exact: expect.closeTo(exact, 10), midP: expect.closeTo(midP, 10) });
  });
}

test('mcnemar: large counts are near the normal distribution', () => {
  expect(mcNemar({ onlyFirst: 50_000 - 310, onlySecond: 50_000 + 310 }).midP).toBeCloseTo(0.05, 3);
});

/** Newcombe, Statistics in Medicine 17 (1998), table II, method 10. */
const printed = [
  { both: 36, onlyFirst: 2, onlySecond: 12, neither: 0, point: 0.2, low: 0.0569, high: 0.3404 },
  { both: 0, onlyFirst: 0, onlySecond: 0, neither: 54, point: 0, low: -0.0664, high: 0.0664 },
] as const;

for (const { point, low, high, ...cells } of printed) {
  test(`paired difference: ${Object.values(cells).join(', ')} has the printed interval`, () => {
    expect(pairedDifference(cells)).toMatchObject({
      point: expect.closeTo(point, 10),
      low: expect.closeTo(low, 3),
      high: expect.closeTo(high, 3),
    });
  });
}

function items(both: number, onlyFirst: number, onlySecond: number, neither: number) {
  const rows = [
    [both, true, true],
    [onlyFirst, true, false],
    [onlySecond, false, true],
    [neither, false, false],
  ] as const;
  return rows.flatMap(([count, firstRight, secondRight]) => Array.from({ length: count }, () => ({ firstRight, secondRight })));
}

const comparisons = [
  { name: 'clearly better', list: items(70, 3, 20, 7), word: 'better' },
  { name: 'clearly worse', list: items(70, 20, 3, 7), word: 'worse' },
  { name: 'the same', list: items(80, 5, 5, 10), word: 'no_difference_shown' },
  { name: 'better on a few items only', list: items(10, 1, 4, 2), word: 'no_difference_shown' },
  { name: 'no item on which they differ', list: items(30, 0, 0, 0), word: 'no_difference_shown' },
] as const;

for (const { name, list, word } of comparisons) {
  test(`two judges: ${name}: ${word}`, () => {
    expect(compareJudges(list)).toMatchObject({ kind: 'estimated', word, difference: { n: list.length } });
  });
}

test('two judges: of no items it is not estimable', () => {
  expect(compareJudges([])).toMatchObject({ kind: 'not_estimable', reason: 'no_observations' });
});

test('drift: a judge that passes less is distinguished from one that wavers', () => {
  const asked = (kept: number, lost: number, gained: number) => [
    ...Array.from({ length: kept }, () => ({ before: true, after: true })),
    ...Array.from({ length: lost }, () => ({ before: true, after: false })),
    ...Array.from({ length: gained }, () => ({ before: false, after: true })),
  ];
  expect(verdictDrift(asked(80, 18, 2))).toMatchObject({
    word: 'passes_less',
    change: { point: expect.closeTo(-0.16, 12) },
    flipped: { point: 0.2 },
    level: expect.closeTo(0.05, 12),
  });
  expect(verdictDrift(asked(80, 2, 18))).toMatchObject({ word: 'passes_more' });
  expect(verdictDrift(asked(80, 10, 10))).toMatchObject({ word: 'no_change_shown', flipped: { point: 0.2 } });
  expect(verdictDrift([])).toMatchObject({ kind: 'not_estimable', reason: 'no_observations' });
});

test('looks: their levels add up to no more than the whole', () => {
  const sum = (planned: number | undefined, looks: number): number =>
    Array.from({ length: looks }, (_, at) =>
      sequentialLevel({ schedule: { look: at + 1, ...(planned === undefined ? {} : { planned }) } }),
    ).reduce((all, one) => all + one, 0);
  expect(sum(52, 200)).toBeCloseTo(0.05, 12);
  expect(sum(undefined, 10_000)).toBeLessThan(0.05);
  expect(sum(undefined, 10_000)).toBeGreaterThan(0.0499);
  expect([sequentialLevel({}), sequentialLevel({ confidence: 0.99 }), sequentialLevel({ schedule: { look: 0 } })]).toEqual([
    expect.closeTo(0.05, 12),
    expect.closeTo(0.01, 12),
    0,
  ]);
});

const looks = 20;

/** Verdicts of a judge that passes 85 % of the items whenever it is asked. */
function answers(chance: Chance): readonly boolean[] {
  return Array.from({ length: 200 }, () => chance.share() < 0.85);
}

/** Share of histories of twenty weeks, each compared with the first, that raise an alarm although nothing changed. */
function falseAlarms(planned: number | undefined): number {
  const chance = seeded(2026);
  const histories = 400;
  const alarmed = Array.from({ length: histories }, () => {
    const first = answers(chance);
    return Array.from({ length: looks }, (_, at) => {
      const items = answers(chance).map((after, item) => ({ before: first[item] ?? false, after }));
      return verdictDrift(items, planned === undefined ? {} : { schedule: { look: at + 1, planned } });
    });
  }).filter((history) => history.some((drift) => drift.kind === 'estimated' && drift.word !== 'no_change_shown'));
  return alarmed.length / histories;
}

test('looks: twenty looks without change raise an alarm in at most 5 % of histories, and far more often without the schedule', () => {
  expect(falseAlarms(looks)).toBeLessThan(0.06);
  expect(falseAlarms(undefined)).toBeGreaterThan(0.3);
});
