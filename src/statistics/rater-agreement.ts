/** Agreement between several people who labelled the same items: Cohen's kappa of each two. */
import { cohenKappa, type Kappa } from './cohen-kappa.ts';
import { notEstimable, type EstimateOptions, type NotEstimable } from './estimate.ts';

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
