/** The standard normal distribution. */

/**
 * Probability that a standard normal value is at most `z`, to about 1e-15, and the tail to ten digits of its own.
 * Hart, Computer Approximations (1968), in the form of West, “Better approximations to cumulative normal functions”, Wilmott (2005).
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
