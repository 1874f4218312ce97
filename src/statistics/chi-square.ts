/** The chi-square distribution, by the incomplete gamma function. */
import { logGamma, awayFromZero, TINY } from './distributions.ts';

/** The series and the fraction need about √a steps where they are slowest. */
const stepsMax = 100_000;
const PRECISION = 1e-16;

/** Probability that a chi-square value with this many degrees of freedom (above 0) is at least `value`. */
export function chiSquareAbove(value: number, degrees: number): number {
  if (!(degrees > 0) || Number.isNaN(value)) return Number.NaN;
  return value <= 0 ? 1 : gammaAbove(value / 2, degrees / 2);
}

/**
 * The regularised upper incomplete gamma function Q(a, x). The series converges fast below a + 1, Legendre's continued fraction above it
 * (Press et al., Numerical Recipes, section 6.2; Lentz's method).
 */
function gammaAbove(x: number, a: number): number {
  if (x === Number.POSITIVE_INFINITY) return 0;
  const front = Math.exp(a * Math.log(x) - x - logGamma(a));
  return x < a + 1 ? 1 - front * series(x, a) : front * fraction(x, a);
}

function series(x: number, a: number): number {
  let [term, sum] = [1 / a, 1 / a];
  for (let step = 1; step <= stepsMax && term > sum * PRECISION; step++) {
    term *= x / (a + step);
    sum += term;
  }
  return sum;
}

function fraction(x: number, a: number): number {
  let b = x + 1 - a;
  let c = 1 / TINY;
  let d = 1 / b;
  let product = d;
  for (let step = 1; step <= stepsMax; step++) {
    const numerator = -step * (step - a);
    b += 2;
    d = 1 / awayFromZero(numerator * d + b);
    c = awayFromZero(b + numerator / c);
    product *= c * d;
    if (Math.abs(c * d - 1) < PRECISION * 4) break;
  }
  return product;
}
