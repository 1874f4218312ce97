/** The interval of a share whose variance is known: a beta distribution of the same mean and variance, so that it stays within 0..1. */
import { betaQuantile, betaBelow } from './beta.ts';
import { normalQuantile, normalBelow } from './normal.ts';

export interface ShareSpread {
  /** 0..1. */
  readonly point: number;
  /** Variance of `point`; may be 0. */
  readonly variance: number;
  /** What one run that was not seen could weigh, as a part of all weight that was seen: 1 / n when all weigh the same. Above 0. */
  readonly unseen: number;
  /** Degrees of freedom with which the variance is known; at least 1. */
  readonly degrees: number;
  readonly confidence: number;
}

export interface ShareInterval {
  readonly low: number;
  readonly high: number;
  readonly effectiveN: number;
}

/**
 * Half a run that passed and half a run that failed, each of the weight `unseen`, are added before mean and variance are taken: what was
 * drawn seldom, and by chance passed each time, still has its share in the width. With equal weights this is Jeffreys' interval
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

/** Student’s t distribution by its relation to the beta distribution. From here on t and normal quantiles agree to six digits. */
const normalFrom = 1e7;

/** Probability that a t value of so many degrees of freedom (above 0, also between whole numbers) is at most `t`. */
export function studentBelow(t: number, degrees: number): number {
  if (degrees >= normalFrom) return normalBelow(t);
  const tail = betaBelow(degrees / (degrees + t * t), { a: degrees / 2, b: 0.5 }) / 2;
  return t > 0 ? 1 - tail : tail;
}

/** The value that a t value of so many degrees of freedom stays below with this probability. */
export function studentQuantile(probability: number, degrees: number): number {
  if (degrees >= normalFrom) return normalQuantile(probability);
  const inside = Math.abs(2 * probability - 1);
  const share = betaQuantile(inside, { a: 0.5, b: degrees / 2 });
  const size = Math.sqrt((degrees * share) / (1 - share));
  return probability < 0.5 ? -size : size;
}
