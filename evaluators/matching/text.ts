/** Edit distance between texts, counted in code points. */

/** Longer texts (in code points) are compared by equality alone: the work grows with the product of both lengths. */
export const editTextMax = 2_000;

/** Insertions, deletions and replacements that turn one text into the other. */
export function editDistance(a: string, b: string): number {
  const [short, long] = byLength([...a], [...b]);
  let previous = Array.from({ length: short.length + 1 }, (_, at) => at);
  for (const [row, point] of long.entries()) {
    const current = [row + 1];
    for (const [column, other] of short.entries()) {
      const replaced = (previous[column] ?? 0) + (point === other ? 0 : 1);
      current.push(Math.min(replaced, (previous[column + 1] ?? 0) + 1, (current[column] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[short.length] ?? 0;
}

/** 1 for equal texts, 0 for texts with nothing in common: 1 − distance / length of the longer. Over `editTextMax`: 1 or 0. */
export function textSimilarity(a: string, b: string): number {
  if (a === b) return 1;
  const longest = Math.max(codePointLength(a), codePointLength(b));
  if (longest > editTextMax) return 0;
  return (longest - editDistance(a, b)) / longest;
}

export function codePointLength(text: string): number {
  let length = 0;
  for (const _ of text) length++;
  return length;
}

function byLength(a: readonly string[], b: readonly string[]): readonly [readonly string[], readonly string[]] {
  return a.length <= b.length ? [a, b] : [b, a];
}
