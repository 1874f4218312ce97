/** Against printed tables, closed forms, values of scipy, and one another. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  betaBelow,
  betaQuantile,
  logGamma,
  normalBelow,
  normalQuantile,
  studentBelow,
  studentQuantile,
} from '../../src/statistics/distributions.ts';

const values: readonly { readonly name: string; readonly found: number; readonly want: number }[] = [
  { name: 'normal below 0', found: normalBelow(0), want: 0.5 },
  { name: 'normal below 1.96', found: normalBelow(1.96), want: 0.975_002_104_851_779_5 },
  { name: 'normal below −1', found: normalBelow(-1), want: 0.158_655_253_931_457_05 },
  { name: 'normal quantile of 0.975', found: normalQuantile(0.975), want: 1.959_963_984_540_054 },
  { name: 'normal quantile of 0.95', found: normalQuantile(0.95), want: 1.644_853_626_951_472_2 },
  { name: 'normal quantile of 0.6', found: normalQuantile(0.6), want: 0.253_347_103_135_799_7 },
  { name: 'normal quantile of 1e-10', found: normalQuantile(1e-10), want: -6.361_340_902_404_056 },
  { name: 'normal quantile of 1e-20', found: normalQuantile(1e-20), want: -9.262_340_089_798_41 },
  { name: 'log-gamma of 1/2 is ln √π', found: logGamma(0.5), want: Math.log(Math.sqrt(Math.PI)) },
  { name: 'log-gamma of 10 is ln 9!', found: logGamma(10), want: Math.log(362_880) },
  { name: 'log-gamma of 1/4', found: logGamma(0.25), want: 1.288_022_524_698_077_4 },
  { name: 'beta(2, 3) below 1/2 is 11/16', found: betaBelow(0.5, { a: 2, b: 3 }), want: 11 / 16 },
  { name: 'beta(1/2, 1/2) is the arcsine law', found: betaBelow(0.01, { a: 0.5, b: 0.5 }), want: (2 / Math.PI) * Math.asin(0.1) },
  { name: 'beta(1, 10) has a closed quantile', found: betaQuantile(0.975, { a: 1, b: 10 }), want: 1 - 0.025 ** 0.1 },
  { name: 'beta(10, 1) likewise', found: betaQuantile(0.025, { a: 10, b: 1 }), want: 0.025 ** 0.1 },
  { name: 't below −1 with 1 degree', found: studentBelow(-1, 1), want: 0.25 },
  { name: 't below 2 with 2 degrees', found: studentBelow(2, 2), want: 0.5 + 2 / (2 * Math.sqrt(6)) },
  // Source: scipy 1.17.1, special.betainc, betaincinv, stdtr, stdtrit, gammaln, and stats.norm.
  { name: 'scipy: normal below −6', found: normalBelow(-6), want: 9.865_876_450_376_946e-10 },
  { name: 'scipy: normal quantile of 0.0001', found: normalQuantile(0.0001), want: -3.719_016_485_455_680_4 },
  { name: 'scipy: log-gamma of 12345.678', found: logGamma(12_345.678), want: 103_959.919_905_546_06 },
  { name: 'scipy: beta(3.5, 7.25) below 0.3', found: betaBelow(0.3, { a: 3.5, b: 7.25 }), want: 0.459_949_877_216_503_43 },
  { name: 'scipy: beta(200, 12) below 0.95', found: betaBelow(0.95, { a: 200, b: 12 }), want: 0.634_228_467_164_071_4 },
  { name: 'scipy: beta(0.1, 1000) below 0.0001', found: betaBelow(0.0001, { a: 0.1, b: 1000 }), want: 0.827_521_535_813_791_3 },
  { name: 'scipy: beta(200, 12) quantile of 0.025', found: betaQuantile(0.025, { a: 200, b: 12 }), want: 0.908_636_335_985_862_5 },
  { name: 'scipy: beta(1/2, 30) quantile of 0.975', found: betaQuantile(0.975, { a: 0.5, b: 30 }), want: 0.080_961_341_104_265_96 },
  { name: 'scipy: t below −2.2 with 12.5 degrees', found: studentBelow(-2.2, 12.5), want: 0.023_641_591_451_071_933 },
  { name: 'scipy: t quantile of 0.975 with 7.3 degrees', found: studentQuantile(0.975, 7.3), want: 2.345_066_736_547_703 },
  { name: 'scipy: t quantile of 0.995 with 400 degrees', found: studentQuantile(0.995, 400), want: 2.588_176_080_034_739_5 },
];

for (const { name, found, want } of values) {
  test(`distributions: ${name}`, () => {
    expect(Math.abs(found - want)).toBeLessThan(1e-12 * Math.max(1, Math.abs(want)));
  });
}

/** Three digits, as tables print them. */
const printed: readonly (readonly [degrees: number, probability: number, t: number])[] = [
  [1, 0.975, 12.706],
  [2, 0.975, 4.303],
  [3, 0.95, 2.353],
  [4, 0.995, 4.604],
  [5, 0.975, 2.571],
  [10, 0.975, 2.228],
  [20, 0.9, 1.325],
  [30, 0.975, 2.042],
  [60, 0.995, 2.66],
  [120, 0.975, 1.98],
];

for (const [degrees, probability, t] of printed) {
  test(`distributions: the table of t has ${t} for ${degrees} degrees and ${probability}`, () => {
    expect(studentQuantile(probability, degrees)).toBeCloseTo(t, 3);
    expect(studentQuantile(1 - probability, degrees)).toBeCloseTo(-t, 3);
  });
}

test('distributions: tails keep ten digits', () => {
  expect(normalBelow(-3) / 1.349_898_031_630_094_6e-3).toBeCloseTo(1, 10);
  expect(normalBelow(-5) / 2.866_515_718_791_939e-7).toBeCloseTo(1, 10);
  expect(normalBelow(-8) / 6.220_960_574_271_78e-16).toBeCloseTo(1, 10);
  expect(normalBelow(-10) / 7.619_853_024_160_5e-24).toBeCloseTo(1, 10);
  expect(normalBelow(8)).toBe(1 - normalBelow(-8));
});

test('distributions: t with many degrees is the normal distribution, without a step', () => {
  expect(studentQuantile(0.975, 1e8)).toBe(normalQuantile(0.975));
  expect(studentBelow(1.3, 1e8)).toBe(normalBelow(1.3));
  expect(studentQuantile(0.975, 9.9e6)).toBeCloseTo(normalQuantile(0.975), 5);
});

test('distributions: the ends are the ends, and nonsense is not a number', () => {
  expect([normalQuantile(0), normalQuantile(1), betaQuantile(0, { a: 2, b: 2 }), betaQuantile(1, { a: 2, b: 2 })]).toEqual([
    -Infinity,
    Infinity,
    0,
    1,
  ]);
  expect([normalQuantile(2), betaQuantile(0.5, { a: 0, b: 1 }), betaBelow(0.5, { a: -1, b: 1 })]).toEqual([NaN, NaN, NaN]);
  expect([normalBelow(40), normalBelow(-40), betaBelow(-1, { a: 2, b: 2 }), betaBelow(2, { a: 2, b: 2 })]).toEqual([1, 0, 0, 1]);
});

const parameter = fc.double({ min: 0.05, max: 5000, noNaN: true });
const probability = fc.double({ min: 1e-6, max: 1 - 1e-6, noNaN: true });

test('distributions: a beta quantile has the probability that it was asked for', () => {
  fc.assert(
    fc.property(parameter, parameter, probability, (a, b, asked) => {
      const value = betaQuantile(asked, { a, b });
      // Next to 0 and 1 doubles are too coarse for some shapes: the values on both sides enclose the probability then.
      fc.pre(value > 1e-12 && value < 1 - 1e-9);
      expect(betaBelow(value, { a, b })).toBeCloseTo(asked, 8);
    }),
    { seed: 11 },
  );
});

test('distributions: a t quantile has the probability that it was asked for', () => {
  fc.assert(
    fc.property(fc.double({ min: 1, max: 1e6, noNaN: true }), probability, (degrees, asked) => {
      expect(studentBelow(studentQuantile(asked, degrees), degrees)).toBeCloseTo(asked, 9);
    }),
    { seed: 11 },
  );
});
