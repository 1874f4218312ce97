import { expect, test } from 'vitest';
import { cohenKappa } from '../../src/statistics/cohen-kappa.ts';
import { drawnAgreement, type DrawnLabel } from '../../src/statistics/drawn-agreement.ts';

function table(
  ...rows: readonly (readonly [label: boolean, verdict: boolean, probability: number, runs: number])[]
): readonly DrawnLabel[] {
  return rows.flatMap(([label, verdict, probability, runs]) => Array.from({ length: runs }, () => ({ label, verdict, probability })));
}

const items = table(
  [true, true, 0.1, 14],
  [true, false, 0.1, 5],
  [true, true, 0.05, 6],
  [true, false, 0.05, 4],
  [false, true, 0.1, 3],
  [false, false, 0.1, 40],
  [false, true, 0.05, 4],
  [false, false, 0.05, 30],
);

// Source: drawn-reference.py has points from the definition, standard errors by the jackknife.
test('drawn agreement: points and standard errors are those of an independent reference', () => {
  const { rates, kappa } = drawnAgreement(items);
  const found = { ...rates, kappa };
  const wanted = {
    recall: [2 / 3, 0.0983],
    precision: [26 / 37, 0.1009],
    specificity: [100 / 111, 0.0376],
    accuracy: [0.84, 0.0387],
    kappa: [0.577_167_019_027_484, 0.0999],
  } as const;
  for (const [name, [point, error]] of Object.entries(wanted)) {
    const one = found[name as keyof typeof wanted];
    expect(one).toMatchObject({ point: expect.closeTo(point, 12) });
    // The jackknife is a little larger with few runs.
    if (one.kind === 'estimated') expect(Math.abs(one.standardError / error - 1)).toBeLessThan(0.03);
  }
});

test('drawn agreement: with equal probabilities of any size the points are the plain shares and Cohen’s kappa', () => {
  for (const probability of [1, 0.01]) {
    const even = items.map((item) => ({ ...item, probability }));
    const { rates, kappa } = drawnAgreement(even);
    expect(rates).toMatchObject({
      accuracy: { point: expect.closeTo(90 / 106, 12), n: 106 },
      precision: { point: expect.closeTo(20 / 27, 12), n: 27 },
      recall: { point: expect.closeTo(20 / 29, 12), n: 29 },
      specificity: { point: expect.closeTo(70 / 77, 12), n: 77 },
    });
    const plain = cohenKappa(even.map(({ label, verdict }) => ({ one: String(label), other: String(verdict) })));
    if (plain.kind !== 'estimated' || kappa.kind !== 'estimated') throw new Error('both are estimable');
    expect(kappa.point).toBeCloseTo(plain.point, 12);
    expect(kappa.standardError / plain.standardError).toBeCloseTo(1, 1);
  }
});

test('drawn agreement: runs of one session count as what they are worth', () => {
  const alone = drawnAgreement(items).rates.accuracy;
  const sessions = drawnAgreement(items.map((item, at) => ({ ...item, session: `s${at % 9}` }))).rates.accuracy;
  const alike = drawnAgreement(items.map((item) => ({ ...item, session: `${item.label} ${item.verdict}` }))).rates.accuracy;
  const widths = [alone, sessions, alike].map((one) => (one.kind === 'estimated' ? one.high - one.low : 0));
  expect(widths[2]).toBeGreaterThan(2 * (widths[0] ?? 1));
  expect(widths[1]).toBeLessThan(2 * (widths[0] ?? 0));
});

test.each([
  ['no drawn labels', [], 'no_drawn_labels'],
  ['nine of a kind', table([true, true, 1, 9], [false, false, 1, 90]), 'too_few_drawn_labels'],
  [
    'twelve, one of them with most of the weight',
    table([true, true, 1, 11], [true, false, 0.001, 1], [false, false, 1, 90]),
    'too_few_drawn_labels',
  ],
] as const)('drawn agreement: recall is not estimable from %s', (_name, some, reason) => {
  const { rates, kappa } = drawnAgreement(some);
  expect([rates.recall, kappa]).toMatchObject([{ reason }, { reason }]);
});

test('drawn agreement: a label with a probability out of its range counts for no figure', () => {
  const broken = [0, -1, 2, Number.NaN].map((probability) => ({ label: true, verdict: false, probability }));
  const { rates, kappa } = drawnAgreement([...items, ...broken]);
  const wanted = drawnAgreement(items);
  expect(kappa).toEqual(wanted.kappa);
  expect(rates.accuracy).toMatchObject({ point: wanted.rates.accuracy.kind === 'estimated' ? wanted.rates.accuracy.point : 0 });
});

test('drawn agreement: where there is nothing to divide by, only that rate is not estimable', () => {
  const { rates } = drawnAgreement(table([false, false, 1, 12]));
  expect([rates.accuracy.kind, rates.precision.kind, rates.recall.kind, rates.specificity.kind]).toEqual([
    'estimated',
    'not_estimable',
    'not_estimable',
    'estimated',
  ]);
});
