/**
 * Agreement of two who label the same items, beyond mere chance.
 *
 * Cohen, “A coefficient of agreement for nominal scales”, Educational and Psychological Measurement 20 (1960): (agreed − expected) / (1 −
 * expected), where expected is the agreement of two who label at random with the same habits. 1: always the same; 0: as by chance; below:
 * less. Standard error: Fleiss, Cohen and Everitt, Psychological Bulletin 72 (1969). The interval is taken on Fisher's scale (artanh), on
 * which kappa is closer to normal. Where the error cannot be estimated, it comes from Wilson's interval of the plain agreement.
 */
import { notEstimable, usualConfidence, type Estimated, type EstimateOptions, type NotEstimable } from './estimate.ts';
import { normalQuantile } from './distributions.ts';
import { wilson, type Limits } from './proportion.ts';

export interface Kappa extends Estimated {
  /** Share of the items with the same label, 0..1: what kappa corrects for chance. */
  readonly agreement: number;
  /** Agreement that chance would give, 0..1. When it is close to 1, as when nearly all items pass, kappa means little. */
  readonly expected: number;
}

/** Two labels of one item; any number of different labels. */
export interface LabelPair {
  readonly one: string;
  readonly other: string;
}

/** `point` and its interval lie within −1..1. Not estimable of no items, or when everyone gave one and the same label. */
export function cohenKappa(pairs: Iterable<LabelPair>, { confidence = usualConfidence }: EstimateOptions = {}): Kappa | NotEstimable {
  const table = tableOf(pairs);
  if (table.n === 0) return notEstimable('no_observations');
  const { agreement, expected } = table;
  if (expected >= 1) return notEstimable('no_variation');
  const point = (agreement - expected) / (1 - expected);
  const variance = kappaVariance(table, point);
  return kappaEstimate({ n: table.n, agreement, expected }, { point, variance, confidence });
}

interface Table {
  readonly n: number;
  /** Shares of the items, by both labels. */
  readonly cells: readonly { readonly one: string; readonly other: string; readonly share: number }[];
  readonly ones: ReadonlyMap<string, number>;
  readonly others: ReadonlyMap<string, number>;
  readonly agreement: number;
  readonly expected: number;
}

function tableOf(pairs: Iterable<LabelPair>): Table {
  const counts = new Map<string, Map<string, number>>();
  let n = 0;
  for (const { one, other } of pairs) {
    const row = counts.get(one) ?? new Map<string, number>();
    counts.set(one, row.set(other, (row.get(other) ?? 0) + 1));
    n++;
  }
  const cells = [...counts].flatMap(([one, row]) => [...row].map(([other, count]) => ({ one, other, share: count / n })));
  const ones = new Map<string, number>();
  const others = new Map<string, number>();
  for (const { one, other, share } of cells) {
    ones.set(one, (ones.get(one) ?? 0) + share);
    others.set(other, (others.get(other) ?? 0) + share);
  }
  const agreement = sum(cells.filter(({ one, other }) => one === other).map(({ share }) => share));
  const single = ones.size === 1 && others.size === 1 && agreement > 0;
  return {
    n,
    cells,
    ones,
    others,
    agreement,
    expected: single ? 1 : sum([...ones].map(([label, share]) => share * (others.get(label) ?? 0))),
  };
}

function kappaVariance({ n, cells, ones, others, expected }: Table, kappa: number): number {
  const apart = 1 - kappa;
  const terms = cells.map(({ one, other, share }) => {
    if (one !== other) return share * apart * apart * ((others.get(one) ?? 0) + (ones.get(other) ?? 0)) ** 2;
    return share * (1 - ((ones.get(one) ?? 0) + (others.get(one) ?? 0)) * apart) ** 2;
  });
  return Math.max(0, (sum(terms) - (kappa - expected * apart) ** 2) / (n * (1 - expected) ** 2));
}

interface AgreedItems {
  readonly n: number;
  /** Number of independent items with the same information. Defaults to `n`. */
  readonly effectiveN?: number;
  readonly agreement: number;
  readonly expected: number;
}

interface KappaSpread {
  readonly point: number;
  readonly variance: number;
  readonly confidence: number;
}

/** An agreement beyond chance with its interval, from its variance where that is known. */
export function kappaEstimate({ n, effectiveN = n, agreement, expected }: AgreedItems, spread: KappaSpread): Kappa {
  const { point, variance, confidence } = spread;
  const { low, high } = kappaLimits({ n: effectiveN, agreement, expected }, spread);
  return {
    kind: 'estimated',
    point,
    low,
    high,
    standardError: Math.sqrt(variance),
    n,
    effectiveN,
    confidence,
    agreement,
    expected,
  };
}

function kappaLimits({ n, agreement, expected }: AgreedItems, { point, variance, confidence }: KappaSpread): Limits {
  // Rounding leaves about this much where the formula gives 0.
  if (variance < 1e-14 || Math.abs(point) >= 1) {
    const { low, high } = wilson({ hits: agreement * n, of: n }, confidence);
    const corrected = (share: number): number => Math.min(1, Math.max(-1, (share - expected) / (1 - expected)));
    return { low: Math.min(point, corrected(low)), high: Math.max(point, corrected(high)) };
  }
  const half = (normalQuantile((1 + confidence) / 2) * Math.sqrt(variance)) / (1 - point * point);
  return { low: Math.tanh(Math.atanh(point) - half), high: Math.tanh(Math.atanh(point) + half) };
}

function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

export interface PersonsLabel {
  readonly person: string;
  readonly item: string;
  readonly label: string;
}

export interface RaterPair {
  /** In the order of their names. */
  readonly people: readonly [string, string];
  /** Items that both labelled. */
  readonly items: number;
  readonly kappa: Kappa | NotEstimable;
}

export interface RaterAgreement {
  /** Pairs with at least one item in common. */
  readonly pairs: readonly RaterPair[];
  /**
   * Mean of the pairs' kappas, each counted by its items (after Light, Psychological Bulletin 76, 1971). It has no interval: pairs share
   * people and items.
   */
  readonly mean: { readonly kind: 'estimated'; readonly point: number; readonly pairs: number } | NotEstimable;
  /** People with the fewest labels who were not compared, for there were more than `raterPeopleMax`. */
  readonly peopleLeftOut: number;
}

/** So many people make 1,225 pairs. */
export const raterPeopleMax = 50;

/** A person who labelled an item twice counts with the later label. */
export function raterAgreement(labels: Iterable<PersonsLabel>, options: EstimateOptions = {}): RaterAgreement {
  const byPerson = new Map<string, Map<string, string>>();
  for (const { person, item, label } of labels) byPerson.set(person, (byPerson.get(person) ?? new Map<string, string>()).set(item, label));
  const compared = [...byPerson]
    .sort(([one, ones], [other, others]) => others.size - ones.size || (one < other ? -1 : 1))
    .slice(0, raterPeopleMax)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  const pairs = compared.flatMap(([one, ones], at) =>
    compared.slice(at + 1).flatMap(([other, others]): readonly RaterPair[] => {
      const both = [...ones].flatMap(([item, label]) => {
        const second = others.get(item);
        return second === undefined ? [] : [{ one: label, other: second }];
      });
      return both.length === 0 ? [] : [{ people: [one, other], items: both.length, kappa: cohenKappa(both, options) }];
    }),
  );
  return { pairs, mean: meanOf(pairs), peopleLeftOut: byPerson.size - compared.length };
}

function meanOf(pairs: readonly RaterPair[]): RaterAgreement['mean'] {
  const known = pairs.flatMap(({ items, kappa }) => (kappa.kind === 'estimated' ? [{ items, point: kappa.point }] : []));
  if (known.length === 0) return notEstimable(pairs.length === 0 ? 'no_observations' : 'no_variation');
  const items = known.reduce((all, one) => all + one.items, 0);
  return { kind: 'estimated', point: known.reduce((all, one) => all + one.point * one.items, 0) / items, pairs: known.length };
}
