/** The beta distribution: exact binomial tails, limits of shares, and through it Student's t. */

/** Steps of the continued fraction: parameters of a hundred million need about ten thousand. */
const fractionStepsMax = 10_000;
/** Each step halves the bracket at least; what remains after these is below the precision of a double. */
const quantileStepsMax = 200;
const TINY = 1e-300;

/** Lanczos, “A precision approximation of the gamma function”, SIAM Journal on Numerical Analysis B 1 (1964), with Godfrey's coefficients for g = 7. */
const lanczos = [
  676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905, -0.13857109526572012,
  9.984369578019572e-6, 1.5056327351493116e-7,
];

/** The natural logarithm of the gamma function for values above 0, to about 1e-14 of its size. */
export function logGamma(value: number): number {
  if (value < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * value)) - logGamma(1 - value);
  const less = value - 1;
  const sum = lanczos.reduce((all, coefficient, at) => all + coefficient / (less + at + 1), 0.9999999999998099);
  const base = less + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (less + 0.5) * Math.log(base) - base + Math.log(sum);
}

/** The two parameters, each above 0. */
export interface BetaShape {
  readonly a: number;
  readonly b: number;
}

/**
 * Probability that a beta value is at most `value`: the regularised incomplete beta function.
 * Continued fraction of DiDonato and Morris (1992), evaluated by Lentz's method.
 */
export function betaBelow(value: number, { a, b }: BetaShape): number {
  if (!(a > 0 && b > 0) || Number.isNaN(value)) return Number.NaN;
  if (value <= 0) return 0;
  if (value >= 1) return 1;
  const front = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(value) + b * Math.log1p(-value));
  return value < (a + 1) / (a + b + 2) ? (front * fraction(value, { a, b })) / a : 1 - (front * fraction(1 - value, { a: b, b: a })) / b;
}

function fraction(value: number, { a, b }: BetaShape): number {
  let c = 1;
  let d = 1 / awayFromZero(1 - ((a + b) * value) / (a + 1));
  let product = d;
  for (let step = 1; step <= fractionStepsMax; step++) {
    const even = (step * (b - step) * value) / ((a + 2 * step - 1) * (a + 2 * step));
    d = 1 / awayFromZero(1 + even * d);
    c = awayFromZero(1 + even / c);
    product *= c * d;
    const odd = (-(a + step) * (a + b + step) * value) / ((a + 2 * step) * (a + 2 * step + 1));
    d = 1 / awayFromZero(1 + odd * d);
    c = awayFromZero(1 + odd / c);
    product *= c * d;
    if (Math.abs(c * d - 1) < 1e-15) break;
  }
  return product;
}

function awayFromZero(value: number): number {
  return Math.abs(value) < TINY ? TINY : value;
}

/** The value that a beta value stays below with this probability: Newton's steps, held inside a bracket that shrinks. */
export function betaQuantile(probability: number, { a, b }: BetaShape): number {
  if (!(probability >= 0 && probability <= 1 && a > 0 && b > 0)) return Number.NaN;
  if (probability === 0 || probability === 1) return probability;
  const constant = logGamma(a + b) - logGamma(a) - logGamma(b);
  let low = 0;
  let high = 1;
  let value = a / (a + b);
  for (let step = 0; step < quantileStepsMax && high - low > 1e-16 * high; step++) {
    const excess = betaBelow(value, { a, b }) - probability;
    if (excess === 0) return value;
    if (excess > 0) high = value;
    else low = value;
    const density = Math.exp(constant + (a - 1) * Math.log(value) + (b - 1) * Math.log1p(-value));
    const next = value - excess / density;
    const stepped = next > low && next < high ? next : (low + high) / 2;
    if (Math.abs(stepped - value) <= 1e-15 * value) return stepped;
    value = stepped;
  }
  return value;
}
