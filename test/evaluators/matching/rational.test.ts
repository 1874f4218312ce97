import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isLess, mean, numberOf, product, quotient, rational, sum } from '../../../evaluators/matching/rational.ts';

test('rational: three times eight tenths have the mean eight tenths', () => {
  expect(numberOf(mean([0.8, 0.8, 0.8].map((one) => rational(one))))).toBe(0.8);
});

test('rational: a third and four times two thirds have the mean three fifths', () => {
  expect(numberOf(mean([1, 2, 2, 2, 2].map((passed) => rational(passed, 3))))).toBe(0.6);
});

test('rational: one division gives what a division of whole numbers gives', () => {
  fc.assert(fc.property(fc.nat(), fc.integer({ min: 1 }), (part, whole) => numberOf(rational(part, whole)) === part / whole));
});

test('rational: a double comes out unchanged', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-15, max: 1e12, noNaN: true }), (value) => Math.abs(numberOf(rational(value)) - value) <= value * 1e-15),
  );
});

test('rational: a sum does not depend on the order, and a mean is between the least and the greatest', () => {
  const shares = fc.array(fc.tuple(fc.nat(50), fc.integer({ min: 50, max: 60 })), { minLength: 1, maxLength: 20 });
  fc.assert(
    fc.property(shares, (list) => {
      const values = list.map(([part, whole]) => rational(part, whole));
      const [forth, back] = [sum(values), sum(values.toReversed())];
      const middle = mean(values);
      return (
        !isLess(forth, back) &&
        !isLess(back, forth) &&
        !values.every((one) => isLess(one, middle)) &&
        !values.every((one) => isLess(middle, one))
      );
    }),
  );
});

test('rational: a product divided by a factor is the other factor', () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1 }), (a, b) => numberOf(quotient(product(rational(a), rational(b)), rational(b))) === a),
  );
});

test('rational: what is not finite is refused', () => {
  expect(() => rational(Number.NaN)).toThrow(/not finite/);
});
