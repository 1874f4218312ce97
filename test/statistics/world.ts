/** A kind of traffic whose true figure is known, and what is estimated when one day of it is drawn. */
import type { Estimate } from '../../src/statistics/estimate.ts';
import { seeded, type Chance } from '../builders/seeded.ts';

export interface World {
  readonly name: string;
  readonly truth: number;
  /** The share of the traffic that the figure does not describe, 0 by default. */
  readonly uncovered?: number;
  readonly draw: (chance: Chance) => Drawn;
}

export interface Drawn {
  readonly estimate:
    | Pick<Estimate & { kind: 'estimated' }, 'kind' | 'point' | 'low' | 'high'>
    | Extract<Estimate, { kind: 'not_estimable' }>;
  /** The same as `coverage`. */
  readonly uncovered?: number;
}

export interface Simulated {
  readonly worlds: number;
  /** Share of the intervals that hold the truth. */
  readonly coverage: number;
  /** Shares of those that lie above or below it as a whole. */
  readonly above: number;
  readonly below: number;
  /** Share of those without 0: false alarms when the truth is 0, power when it is not. */
  readonly shown: number;
  /** Mean error of the point, and the standard error of that mean. */
  readonly bias: number;
  readonly biasError: number;
  /** Mean width of the interval. */
  readonly width: number;
  readonly notEstimable: number;
  readonly uncovered: number;
}

export function simulated({ truth, draw }: World, { worlds, seed }: { readonly worlds: number; readonly seed: number }): Simulated {
  const chance = seeded(seed);
  const drawn = tally(truth);
  for (let world = 0; world < worlds; world++) drawn.add(draw(chance));
  return drawn.result();
}

/** Holds what is drawn of one figure against its truth. */
export function tally(truth: number): { add(drawn: Drawn): void; result(): Simulated } {
  const sums = { worlds: 0, hits: 0, above: 0, below: 0, shown: 0, errors: 0, squares: 0, width: 0, notEstimable: 0, uncovered: 0 };
  return {
    add({ estimate, uncovered = 0 }) {
      sums.worlds++;
      if (estimate.kind === 'not_estimable') return void sums.notEstimable++;
      sums[estimate.low > truth ? 'above' : estimate.high < truth ? 'below' : 'hits']++;
      if (estimate.low > 0 || estimate.high < 0) sums.shown++;
      sums.errors += estimate.point - truth;
      sums.squares += (estimate.point - truth) ** 2;
      sums.width += estimate.high - estimate.low;
      sums.uncovered += uncovered;
    },
    result() {
      const { worlds, notEstimable } = sums;
      const counted = worlds - notEstimable;
      const bias = sums.errors / counted;
      return {
        worlds,
        coverage: sums.hits / counted,
        above: sums.above / counted,
        below: sums.below / counted,
        shown: sums.shown / counted,
        bias,
        biasError: Math.sqrt((sums.squares / counted - bias ** 2) / counted),
        width: sums.width / counted,
        notEstimable,
        uncovered: sums.uncovered / counted,
      };
    },
  };
}
