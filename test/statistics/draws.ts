/** Values drawn from distributions, out of chance that repeats itself. */
import type { Chance } from '../builders/seeded.ts';

export function standardNormal({ share }: Chance): number {
  return Math.sqrt(-2 * Math.log(1 - share())) * Math.cos(2 * Math.PI * share());
}

/** Marsaglia and Tsang (2000), for any shape above 0. */
function gamma(chance: Chance, shape: number): number {
  if (shape < 1) return gamma(chance, shape + 1) * (1 - chance.share()) ** (1 / shape);
  const base = shape - 1 / 3;
  for (;;) {
    const normal = standardNormal(chance);
    const cube = (1 + normal / Math.sqrt(9 * base)) ** 3;
    if (cube > 0 && Math.log(1 - chance.share()) < normal ** 2 / 2 + base - base * cube + base * Math.log(cube)) return base * cube;
  }
}

/** The pass rate of one session: `mean` on average; two of its runs are alike with correlation `likeness`. */
export function sessionRate(chance: Chance, { mean, likeness }: { readonly mean: number; readonly likeness: number }): number {
  const size = (1 - likeness) / likeness;
  const passing = gamma(chance, mean * size);
  return passing / (passing + gamma(chance, (1 - mean) * size));
}

/** Runs of one session: half have at most 3, one in forty more than 19. */
export function sessionSize(chance: Chance): number {
  return Math.max(1, Math.round(Math.exp(1 + standardNormal(chance))));
}
