import { expect, test } from 'vitest';
import { cohenKappa, type LabelPair, raterAgreement, raterPeopleMax, type PersonsLabel } from '../../src/statistics/cohen-kappa.ts';

function table(rows: { readonly [one: string]: { readonly [other: string]: number } }): readonly LabelPair[] {
  return Object.entries(rows).flatMap(([one, row]) =>
    Object.entries(row).flatMap(([other, count]) => Array.from({ length: count }, () => ({ one, other }))),
  );
}

test('kappa: the textbook table of 50 proposals', () => {
  const found = cohenKappa(table({ yes: { yes: 20, no: 5 }, no: { yes: 10, no: 15 } }));
  expect(found).toMatchObject({
    kind: 'estimated',
    point: expect.closeTo(0.4, 12),
    agreement: expect.closeTo(0.7, 12),
    expected: expect.closeTo(0.5, 12),
    n: 50,
    standardError: expect.closeTo(0.127, 3),
  });
});

test('kappa: three labels, as Fleiss, Cohen and Everitt reckon the error', () => {
  // 200 patients in three groups: the unweighted kappa of their example is 0.429 with a standard error of 0.054.
  const found = cohenKappa(table({ a: { a: 106, b: 10, c: 4 }, b: { a: 22, b: 28, c: 10 }, c: { a: 2, b: 12, c: 6 } }));
  expect(found).toMatchObject({ point: expect.closeTo(0.429, 3), standardError: expect.closeTo(0.054, 3) });
});

test('kappa: full agreement is 1 with an interval, and full disagreement is −1', () => {
  const full = cohenKappa(table({ pass: { pass: 30, fail: 0 }, fail: { pass: 0, fail: 20 } }));
  expect(full).toMatchObject({ point: expect.closeTo(1, 12), high: expect.closeTo(1, 12), standardError: expect.closeTo(0, 9) });
  if (full.kind === 'estimated') expect(full.low).toBeGreaterThan(0.8);
  if (full.kind === 'estimated') expect(full.low).toBeLessThan(0.95);
  const none = cohenKappa(table({ pass: { fail: 25 }, fail: { pass: 25 } }));
  expect(none).toMatchObject({ point: expect.closeTo(-1, 12), low: expect.closeTo(-1, 12) });
});

test('kappa: one label only, and no items, are not estimable; one person with one label is 0', () => {
  expect(cohenKappa([])).toMatchObject({ kind: 'not_estimable', reason: 'no_observations' });
  expect(cohenKappa(table({ pass: { pass: 40 } }))).toMatchObject({ kind: 'not_estimable', reason: 'no_variation' });
  expect(cohenKappa(table({ pass: { pass: 40, fail: 10 } }))).toMatchObject({ kind: 'estimated', point: expect.closeTo(0, 12) });
});

function said(person: string, labels: { readonly [item: string]: string }): readonly PersonsLabel[] {
  return Object.entries(labels).map(([item, label]) => ({ person, item, label }));
}

test('people: each two are compared on the items of both, and the later label of an item counts', () => {
  const found = raterAgreement([
    ...said('eve', { a: 'pass', b: 'fail', c: 'pass', d: 'fail' }),
    ...said('ann', { a: 'fail', b: 'fail', c: 'pass', d: 'fail' }),
    ...said('ann', { a: 'pass' }),
    ...said('bob', { c: 'fail', d: 'pass', e: 'pass' }),
    ...said('zoe', { z: 'pass' }),
  ]);
  expect(found.pairs).toMatchObject([
    { people: ['ann', 'bob'], items: 2, kappa: { point: expect.closeTo(-1, 12) } },
    { people: ['ann', 'eve'], items: 4, kappa: { point: expect.closeTo(1, 12) } },
    { people: ['bob', 'eve'], items: 2, kappa: { point: expect.closeTo(-1, 12) } },
  ]);
  expect(found.mean).toEqual({ kind: 'estimated', point: expect.closeTo(0, 12), pairs: 3 });
});

test('people: without a pair the mean is not estimable', () => {
  expect(raterAgreement(said('ann', { a: 'pass' }))).toMatchObject({ pairs: [], mean: { reason: 'no_observations' } });
  expect(raterAgreement([...said('ann', { a: 'pass' }), ...said('bob', { a: 'pass' })])).toMatchObject({
    mean: { reason: 'no_variation' },
  });
});

test('people: beyond the bound those with the fewest labels are left out, and counted', () => {
  const many = Array.from({ length: raterPeopleMax + 3 }, (_, at) =>
    said(`p${at}`, Object.fromEntries(Array.from({ length: at === 0 ? 1 : 2 }, (_empty, item) => [`i${item}`, 'pass']))),
  ).flat();
  const found = raterAgreement(many);
  expect(found.peopleLeftOut).toBe(3);
  expect(found.pairs.length).toBe((raterPeopleMax * (raterPeopleMax - 1)) / 2);
  expect(found.pairs.some(({ people }) => people.includes('p0'))).toBe(false);
});
