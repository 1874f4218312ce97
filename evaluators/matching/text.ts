/** Edit distance between texts, counted in code points. */

/** Longer texts (in code points) are compared by equality alone: the work grows with the product of both lengths. */
export const editTextMax = 2_000;

/** Insertions, deletions and replacements that turn one text into the other. */
export function editDistance(a: string, b: string): number {
  const [short, long] = byLength(codePoints(a), codePoints(b));
  /** Distances of the beginnings of the shorter text from the beginning of the longer one so far. */
  const row = Uint32Array.from({ length: short.length + 1 }, (_, at) => at);
  for (const [before, point] of long.entries()) {
    let diagonal = before;
    let left = before + 1;
    row[0] = left;
    for (let column = 0; column < short.length; column++) {
      const above = row[column + 1] ?? 0;
      left = Math.min(short[column] === point ? diagonal : diagonal + 1, above + 1, left + 1);
      row[column + 1] = left;
      diagonal = above;
    }
  }
  return row[short.length] ?? 0;
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

function codePoints(text: string): readonly number[] {
  const points: number[] = [];
  for (let at = 0; at < text.length; at++) {
    const point = text.codePointAt(at) ?? 0;
    points.push(point);
    if (point > 0xffff) at++;
  }
  return points;
}

function byLength<List extends readonly unknown[]>(a: List, b: List): readonly [List, List] {
  return a.length <= b.length ? [a, b] : [b, a];
}
