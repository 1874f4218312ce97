/** Student's t distribution, by its relation to the beta distribution. */
import { betaBelow, betaQuantile } from './beta.ts';
import { normalBelow, normalQuantile } from './normal.ts';

/** From here on t and normal quantiles agree to six digits. */
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
