/**
 * Two answers to each of the same items: did one of them come out well more often? Only items on which the two differ say anything.
 * McNemar, “Note on the sampling error of the difference between correlated proportions or percentages”, Psychometrika 12 (1947), exact
 * with the binomial distribution, and as mid-p (Fagerland, Lydersen and Laake, BMC Medical Research Methodology 13, 2013).
 */
import { betaBelow, logGamma } from './beta.ts';

export interface Discordant {
  /** Items on which only the first came out well. */
  readonly onlyFirst: number;
  readonly onlySecond: number;
}

export interface McNemar {
  /** Probability of a difference at least as large if both were equally good: never wrong more often than it says. */
  readonly exact: number;
  /** The same with half of the probability of the very counts seen: closer to the level asked for. */
  readonly midP: number;
}

export function mcNemar({ onlyFirst, onlySecond }: Discordant): McNemar {
  const differing = onlyFirst + onlySecond;
  if (differing === 0) return { exact: 1, midP: 1 };
  const fewer = Math.min(onlyFirst, onlySecond);
  // P(X ≤ fewer) of a fair coin thrown `differing` times.
  const tail = fewer >= differing ? 1 : betaBelow(0.5, { a: differing - fewer, b: fewer + 1 });
  const exactlySo = Math.exp(logGamma(differing + 1) - logGamma(fewer + 1) - logGamma(differing - fewer + 1) - differing * Math.LN2);
  return { exact: Math.min(1, 2 * tail), midP: Math.min(1, 2 * tail - exactlySo) };
}
