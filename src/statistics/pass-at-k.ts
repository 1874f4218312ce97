/**
 * Several runs of one task: the probability that at least one of k runs passes (pass@k), and that all k do (pass^k).
 *
 * Both are estimated without bias from n ≥ k runs when c of them passed: 1 − C(n − c, k) / C(n, k) (Chen et al., “Evaluating large language
 * models trained on code”, arXiv 2107.03374, 2021), and C(c, k) / C(n, k) (Yao et al., “τ-bench”, arXiv 2406.12045, 2024).
 */

interface RepeatedRuns {
  /** Runs that passed or failed. */
  readonly runs: number;
  readonly passed: number;
}

/** `undefined` when there are fewer than k runs. */
export function passAtK({ runs, passed }: RepeatedRuns, k: number): number | undefined {
  const allFail = shareOfDraws({ runs, marked: runs - passed }, k);
  return allFail === undefined ? undefined : 1 - allFail;
}

/** `undefined` when there are fewer than k runs. */
export function passHatK({ runs, passed }: RepeatedRuns, k: number): number | undefined {
  return shareOfDraws({ runs, marked: passed }, k);
}

/** Share of the draws of k runs without replacement that hold marked runs only: C(marked, k) / C(runs, k), without large numbers. */
function shareOfDraws({ runs, marked }: { readonly runs: number; readonly marked: number }, k: number): number | undefined {
  if (!Number.isInteger(k) || k < 1 || runs < k) return undefined;
  let share = 1;
  for (let drawn = 0; drawn < k && share > 0; drawn++) share *= Math.max(0, marked - drawn) / (runs - drawn);
  return share;
}
