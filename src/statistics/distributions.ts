/** The normal, beta and Student's t distributions, and the interval of a share, a beta distribution of known mean and variance. */

/**
 * Probability that a standard normal value is at most `z`, to about 1e-15, and the tail to ten significant digits. Hart, Computer Approximations
 * (1968), in the form of West, “Better approximations to cumulative normal functions”, Wilmott (2005).
 */
export function normalBelow(z: number): number {
  if (Number.isNaN(z)) return z;
  const distance = Math.abs(z);
  const tail = distance > farthest ? 0 : upperTail(distance);
  return z > 0 ? 1 - tail : tail;
}

/** Beyond it the tail is smaller than any double. */
const farthest = 37.7;
/** Hart's rational approximation holds below it, Laplace's continued fraction converges fast above. */
const fractionFrom = 4;
const fractionSteps = 60;
const hartAbove = [
  0.0352624965998911, 0.700383064443688, 6.37396220353165, 33.912866078383, 112.079291497871, 221.213596169931, 220.206867912376,
];
const hartBelow = [
  0.0883883476483184, 1.75566716318264, 16.064177579207, 86.7807322029461, 296.564248779674, 637.333633378831, 793.826512519948,
  440.413735824752,
];

function upperTail(distance: number): number {
  const bell = Math.exp(-(distance * distance) / 2);
  if (distance < fractionFrom) return (bell * polynomial(hartAbove, distance)) / polynomial(hartBelow, distance);
  let fraction = distance;
  for (let step = fractionSteps; step >= 1; step--) fraction = distance + step / fraction;
  return bell / fraction / Math.sqrt(2 * Math.PI);
}

/**
 * The value that a standard normal value stays below with this probability (0..1, the ends give the infinities), to about 1e-15.
 * Wichura, “Algorithm AS 241: The percentage points of the normal distribution”, Applied Statistics 37 (1988).
 */
export function normalQuantile(probability: number): number {
  if (!(probability >= 0 && probability <= 1)) return Number.NaN;
  if (probability === 0) return Number.NEGATIVE_INFINITY;
  if (probability === 1) return Number.POSITIVE_INFINITY;
  const offset = probability - 0.5;
  if (Math.abs(offset) <= 0.425) return offset * ratio(middle, 0.180_625 - offset * offset);
  const root = Math.sqrt(-Math.log(Math.min(probability, 1 - probability)));
  const value = root <= 5 ? ratio(outer, root - 1.6) : ratio(far, root - 5);
  return offset < 0 ? -value : value;
}

interface Ratio {
  readonly above: readonly number[];
  readonly below: readonly number[];
}

const middle: Ratio = {
  above: [
    2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946, 1971.5909503065513, 133.14166789178438,
    3.3871328727963665,
  ],
  below: [
    5226.495278852546, 28729.085735721943, 39307.89580009271, 21213.794301586597, 5394.196021424751, 687.1870074920579, 42.31333070160091,
    1,
  ],
};
const outer: Ratio = {
  above: [
    0.0007745450142783414, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045, 5.769497221460691,
    4.630337846156546, 1.4234371107496835,
  ],
  below: [
    1.0507500716444169e-9, 0.0005475938084995345, 0.015198666563616457, 0.14810397642748008, 0.6897673349851, 1.6763848301838038,
    2.053191626637759, 1,
  ],
};
const far: Ratio = {
  above: [
    2.0103343992922881e-7, 2.7115555687434876e-5, 0.0012426609473880784, 0.026532189526576124, 0.29656057182850487, 1.7848265399172913,
    5.463784911164114, 6.657904643501103,
  ],
  below: [
    2.0442631033899397e-15, 1.421511758316446e-7, 1.8463183175100548e-5, 0.0007868691311456133, 0.014875361290850615, 0.1369298809227358,
    0.599832206555888, 1,
  ],
};

function ratio({ above, below }: Ratio, at: number): number {
  return polynomial(above, at) / polynomial(below, at);
}

/** Coefficients from the highest power down. */
function polynomial(coefficients: readonly number[], at: number): number {
  return coefficients.reduce((sum, coefficient) => sum * at + coefficient, 0);
}

/** Steps of the continued fraction: parameters of a hundred million need about ten thousand. */
const fractionStepsMax = 10_000;
/** Each step halves the bracket at least; what remains after these is below the precision of a double. */
const quantileStepsMax = 200;
export const TINY = 1e-300;

/**
 * Lanczos, “A precision approximation of the gamma function”, SIAM Journal on Numerical Analysis B 1 (1964), with Godfrey's coefficients
 * for g = 7.
 */
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
interface BetaShape {
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

export function awayFromZero(value: number): number {
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

interface ShareSpread {
  /** 0..1. */
  readonly point: number;
  /** Variance of `point`; may be 0. */
  readonly variance: number;
  /** The weight that one unseen run could have, as a part of all seen weight: 1 / n when all weigh the same. Above 0. */
  readonly unseen: number;
  /** Degrees of freedom with which the variance is known; at least 1. */
  readonly degrees: number;
  readonly confidence: number;
}

interface ShareInterval {
  readonly low: number;
  readonly high: number;
  readonly effectiveN: number;
}

/**
 * The function adds half a run that passed and half a run that failed, each of the weight `unseen`, before it takes mean and variance. So
 * what was drawn seldom, and by chance passed each time, still has its share in the width. With equal weights this is Jeffreys' interval
 * (Brown, Cai and DasGupta, Statistical Science 16, 2001); for weights the added run follows Fay and Feuer (Statistics in Medicine 16,
 * 1997), and the effective size is shortened by Student's t as in Korn and Graubard (Survey Methodology 24, 1998).
 */
export function shareInterval({ point, variance, unseen, degrees, confidence }: ShareSpread): ShareInterval {
  const half = unseen / 2;
  const mean = (point + half) / (1 + unseen);
  const widened = (variance + 2 * half * half * (mean * mean + (1 - mean) * (1 - mean))) / ((1 + unseen) * (1 + unseen));
  const effectiveN = (mean * (1 - mean)) / widened;
  const tail = (1 - confidence) / 2;
  const shortened = effectiveN * (normalQuantile(tail) / studentQuantile(tail, degrees)) ** 2;
  const shape = { a: mean * shortened, b: (1 - mean) * shortened };
  return {
    low: point <= 0 ? 0 : Math.min(point, betaQuantile(tail, shape)),
    high: point >= 1 ? 1 : Math.max(point, betaQuantile(1 - tail, shape)),
    effectiveN,
  };
}

/** Student’s t distribution by its relation to the beta distribution. t and normal quantiles agree to six digits from here on. */
const normalFrom = 1e7;

/** Probability that a t value with this many degrees of freedom (above 0, also between whole numbers) is at most `t`. */
export function studentBelow(t: number, degrees: number): number {
  if (degrees >= normalFrom) return normalBelow(t);
  const tail = betaBelow(degrees / (degrees + t * t), { a: degrees / 2, b: 0.5 }) / 2;
  return t > 0 ? 1 - tail : tail;
}

/** The value that a t value with this many degrees of freedom stays below with this probability. */
export function studentQuantile(probability: number, degrees: number): number {
  if (degrees >= normalFrom) return normalQuantile(probability);
  const inside = Math.abs(2 * probability - 1);
  const share = betaQuantile(inside, { a: 0.5, b: degrees / 2 });
  const size = Math.sqrt((degrees * share) / (1 - share));
  return probability < 0.5 ? -size : size;
}
