/** Exact fractions: shares are summed exactly and divided once, so a mean equal to its threshold passes. */

export interface Rational {
  readonly numerator: bigint;
  /** Positive. */
  readonly denominator: bigint;
}

/** Bits that are kept when a fraction is too long for one division of doubles. */
const keptBits = 128n;

/** part / whole. Numbers count as their decimal notation: 0.1 is a tenth. Both are finite; the whole is positive. */
export function rational(part: number, whole = 1): Rational {
  return quotient(decimal(part), decimal(whole));
}

export function sum(addends: readonly Rational[]): Rational {
  // Groups by denominator, as most decimals share a few.
  const byDenominator = new Map<bigint, bigint>();
  for (const { numerator, denominator } of addends) byDenominator.set(denominator, (byDenominator.get(denominator) ?? 0n) + numerator);
  let total = decimal(0);
  for (const [denominator, numerator] of byDenominator)
    total = reduced(total.numerator * denominator + numerator * total.denominator, total.denominator * denominator);
  return total;
}

export function product(a: Rational, b: Rational): Rational {
  return reduced(a.numerator * b.numerator, a.denominator * b.denominator);
}

/** The divisor is positive. */
export function quotient(a: Rational, b: Rational): Rational {
  return reduced(a.numerator * b.denominator, a.denominator * b.numerator);
}

/** Requires at least one fraction. */
export function mean(values: readonly Rational[]): Rational {
  return quotient(sum(values), decimal(Math.max(1, values.length)));
}

export function isLess(a: Rational, b: Rational): boolean {
  return a.numerator * b.denominator < b.numerator * a.denominator;
}

/** The nearest double. */
export function numberOf({ numerator, denominator }: Rational): number {
  const [part, whole] = [Number(numerator), Number(denominator)];
  if (Number.isSafeInteger(part) && Number.isSafeInteger(whole)) return part / whole;
  return Number((numerator << keptBits) / denominator) / 2 ** Number(keptBits);
}

function decimal(value: number): Rational {
  if (Number.isSafeInteger(value)) return { numerator: BigInt(value), denominator: 1n };
  const match = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/.exec(String(value));
  if (match === null) throw new RangeError('the number is not finite');
  const [, sign = '', whole = '0', fraction = '', exponent = '0'] = match;
  const scale = fraction.length - Number(exponent);
  const digits = BigInt(`${sign}${whole}${fraction}`);
  return scale <= 0 ? { numerator: digits * 10n ** BigInt(-scale), denominator: 1n } : reduced(digits, 10n ** BigInt(scale));
}

function reduced(numerator: bigint, denominator: bigint): Rational {
  let [a, b] = [numerator < 0n ? -numerator : numerator, denominator];
  while (b !== 0n) [a, b] = [b, a % b];
  return a === 0n ? { numerator: 0n, denominator: 1n } : { numerator: numerator / a, denominator: denominator / a };
}
