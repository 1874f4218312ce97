/** "Did you mean": the known name that is nearest to what was written. */

/** Longer names are not compared, as the cost of the distance is quadratic. */
const lengthMax = 64;

/** The known name nearest to `written`; `undefined` when none is near: up to a third of the letters may differ. */
export function didYouMean(written: string, known: readonly string[]): string | undefined {
  if (written.length > lengthMax) return undefined;
  const plain = folded(written);
  const ranked = known
    .filter((name) => name.length <= lengthMax)
    .map((name) => ({ name, distance: editDistance(plain, folded(name)) }))
    .filter(({ name, distance }) => distance <= Math.max(1, Math.floor(Math.max(name.length, written.length) / 3)))
    .sort((a, b) => a.distance - b.distance);
  return ranked[0]?.name;
}

export interface KnownEvaluators {
  /** Names of the evaluators that are on. */
  readonly on: readonly string[];
  /** Names of all that exist. */
  readonly all: readonly string[];
}

/** The name to write in place of one that no enabled evaluator has; `otherwise` when none is near. */
export function meantEvaluator(written: string, { on, all }: KnownEvaluators, otherwise: string): string {
  const meant = all.includes(written) ? written : didYouMean(written, [...on, ...all]);
  if (meant === undefined) return otherwise;
  const guess = meant === written ? '' : `Did you mean ${meant}?`;
  return on.includes(meant) ? guess : `${guess} ${meant} exists but is not on: add it under evaluators.`.trimStart();
}

/** Ignores case and separators, in which people err most. */
function folded(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** Insertions, deletions, substitutions and swaps of neighbours, each one step (optimal string alignment). */
function editDistance(from: string, to: string): number {
  let beforeLast: readonly number[] = [];
  let last: readonly number[] = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1];
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          (last[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (last[column - 1] ?? 0) + (same ? 0 : 1),
          swapped ? (beforeLast[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY,
        ),
      );
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length] ?? 0;
}
