/**
 * Agreement of any number of people who label the same items, beyond mere chance. Items may have different numbers of labels;
 * an item with one label is left out.
 *
 * Fleiss, “Measuring nominal scale agreement among many raters”, Psychological Bulletin 76 (1971): (agreed − expected) / (1 − expected), where
 * agreed is the mean share of agreeing pairs of an item, and expected the sum of the squared shares of the labels. Standard error: Gwet,
 * “Handbook of Inter-Rater Reliability” (2014), chapter 5, which linearises the ratio and does not assume that people label at random. The
 * interval is that of `cohenKappa`.
 */
import { type Kappa, kappaEstimate } from './cohen-kappa.ts';
import { notEstimable, usualConfidence, type EstimateOptions, type NotEstimable } from './estimate.ts';

export interface FleissKappa extends Kappa {
  /** Labels of all items. */
  readonly labels: number;
}

/** `items`: the labels of each item. Not estimable without an item of two labels, or when all labels are the same. */
export function fleissKappa(
  items: Iterable<readonly string[]>,
  { confidence = usualConfidence }: EstimateOptions = {},
): FleissKappa | NotEstimable {
  const counted = [...items].filter(({ length }) => length > 1).map(itemOf);
  const n = counted.length;
  if (n === 0) return notEstimable('no_observations');
  const shares = sharesOf(counted);
  const expected = shares.size === 1 ? 1 : sum([...shares.values()].map((share) => share * share));
  if (expected >= 1) return notEstimable('no_variation');
  const agreement = sum(counted.map((item) => item.agreement)) / n;
  const point = (agreement - expected) / (1 - expected);
  const variance = varianceOf(counted, { shares, expected, point });
  return {
    ...kappaEstimate({ n, agreement, expected }, { point, variance, confidence }),
    labels: sum(counted.map(({ labels }) => labels)),
  };
}

interface Item {
  readonly labels: number;
  /** Share of the labels of the item. */
  readonly shares: ReadonlyMap<string, number>;
  /** Share of the pairs of labels that are the same. */
  readonly agreement: number;
}

function itemOf(labels: readonly string[]): Item {
  const counts = new Map<string, number>();
  for (const label of labels) counts.set(label, (counts.get(label) ?? 0) + 1);
  const same = sum([...counts.values()].map((count) => count * (count - 1)));
  return {
    labels: labels.length,
    shares: new Map([...counts].map(([label, count]) => [label, count / labels.length])),
    agreement: same / (labels.length * (labels.length - 1)),
  };
}

/** For each label, the mean of its share over the items. */
function sharesOf(items: readonly Item[]): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  for (const item of items) for (const [label, share] of item.shares) shares.set(label, (shares.get(label) ?? 0) + share / items.length);
  return shares;
}

interface Totals {
  readonly shares: ReadonlyMap<string, number>;
  readonly expected: number;
  readonly point: number;
}

/** 0 for one item: how far the next one would lie from it cannot be estimated, so the interval comes from the plain agreement. */
function varianceOf(items: readonly Item[], { shares, expected, point }: Totals): number {
  const n = items.length;
  if (n === 1) return 0;
  const apart = items.map((item) => {
    const chance = sum([...item.shares].map(([label, share]) => share * (shares.get(label) ?? 0)));
    return (item.agreement - expected - 2 * (1 - point) * (chance - expected)) / (1 - expected) - point;
  });
  return sum(apart.map((one) => one * one)) / (n * (n - 1));
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}
