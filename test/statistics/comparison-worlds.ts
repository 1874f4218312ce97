/** Two people or two judges with verdicts on the same items, who differ by a known amount. */
import { cohenKappa } from '../../src/statistics/cohen-kappa.ts';
import { pairedDifference } from '../../src/statistics/comparison.ts';
import type { Chance } from '../builders/seeded.ts';
import type { Drawn, World } from './world.ts';

/** Each of two people names the true label with probability `right`, else any other one. */
function raters({
  items,
  shares,
  right,
}: {
  readonly items: number;
  readonly shares: readonly number[];
  readonly right: number;
}): Pick<World, 'truth' | 'draw'> {
  const said = (truth: number, chance: Chance): number =>
    chance.share() < right ? truth : (truth + 1 + chance.below(shares.length - 1)) % shares.length;
  const draw = (chance: Chance): Drawn => ({
    estimate: cohenKappa(
      Array.from({ length: items }, () => {
        const truth = drawn(shares, chance);
        return { one: String(said(truth, chance)), other: String(said(truth, chance)) };
      }),
    ),
  });
  const given = (truth: number, label: number): number => (truth === label ? right : (1 - right) / (shares.length - 1));
  const labels = shares.map((_, label) => label);
  const agreement = total(shares.map((share, truth) => share * total(labels.map((label) => given(truth, label) ** 2))));
  const expected = total(labels.map((label) => total(shares.map((share, truth) => share * given(truth, label))) ** 2));
  return { truth: (agreement - expected) / (1 - expected), draw };
}

function drawn(shares: readonly number[], { share }: Chance): number {
  let left = share();
  const at = shares.findIndex((one) => (left -= one) < 0);
  return at < 0 ? shares.length - 1 : at;
}

function total(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

/** Items on which both are right, only the first, only the second, neither, by their shares. */
function judges(items: number, shares: readonly [number, number, number, number]): Pick<World, 'truth' | 'draw'> {
  const draw = (chance: Chance): Drawn => {
    const counts = shares.map(() => 0);
    for (let item = 0; item < items; item++) {
      const at = drawn(shares, chance);
      counts[at] = (counts[at] ?? 0) + 1;
    }
    const [both = 0, onlyFirst = 0, onlySecond = 0, neither = 0] = counts;
    return { estimate: pairedDifference({ both, onlyFirst, onlySecond, neither }) };
  };
  return { truth: shares[2] - shares[1], draw };
}

export const comparisonWorlds: readonly World[] = [
  { name: 'kappa, 100 items, two labels, half and half', ...raters({ items: 100, shares: [0.5, 0.5], right: 0.92 }) },
  { name: 'kappa, 200 items, two labels, 85 % of one', ...raters({ items: 200, shares: [0.85, 0.15], right: 0.95 }) },
  { name: 'kappa, 150 items, four labels', ...raters({ items: 150, shares: [0.4, 0.3, 0.2, 0.1], right: 0.9 }) },
  { name: 'difference of two judges, 100 items, 80 % and 88 % right', ...judges(100, [0.75, 0.05, 0.13, 0.07]) },
  { name: 'difference of two judges, 300 items, 90 % and 90 % right', ...judges(300, [0.85, 0.05, 0.05, 0.05]) },
];
