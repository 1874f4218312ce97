/** The longest common subsequence of two sequences over any match relation. */

export interface Pair {
  readonly expected: number;
  readonly actual: number;
}

/** Pairs in order, as many as can be; of several longest ones the one that takes partners earliest. */
export function longestCommonSubsequence(
  expected: number,
  actual: number,
  matches: (expected: number, actual: number) => boolean,
): readonly Pair[] {
  const begun = commonBeginning(Math.min(expected, actual), matches);
  if (begun.length === Math.min(expected, actual)) return begun;
  const from = begun.length;
  const rest = longestOfRest(expected - from, actual - from, (e, a) => matches(from + e, from + a));
  return from === 0 ? rest : [...begun, ...rest.map((pair) => ({ expected: from + pair.expected, actual: from + pair.actual }))];
}

/** Pairs at equal places from the beginning on: a longest subsequence never does better than to take them. */
function commonBeginning(length: number, matches: (expected: number, actual: number) => boolean): readonly Pair[] {
  const pairs: Pair[] = [];
  for (let at = 0; at < length && matches(at, at); at++) pairs.push({ expected: at, actual: at });
  return pairs;
}

function longestOfRest(expected: number, actual: number, matches: (expected: number, actual: number) => boolean): readonly Pair[] {
  const width = actual + 1;
  /** lengths[e × width + a]: the longest over expected[e…] and actual[a…]. */
  const lengths = new Uint32Array((expected + 1) * width);
  for (let e = expected - 1; e >= 0; e--) {
    for (let a = actual - 1; a >= 0; a--) {
      const skip = Math.max(lengths[(e + 1) * width + a] ?? 0, lengths[e * width + a + 1] ?? 0);
      const taken = matches(e, a) ? (lengths[(e + 1) * width + a + 1] ?? 0) + 1 : 0;
      lengths[e * width + a] = Math.max(skip, taken);
    }
  }
  return walked(lengths, expected, actual, matches);
}

function walked(
  lengths: Uint32Array,
  expected: number,
  actual: number,
  matches: (expected: number, actual: number) => boolean,
): readonly Pair[] {
  const width = actual + 1;
  const pairs: Pair[] = [];
  let e = 0;
  let a = 0;
  while (e < expected && a < actual) {
    const here = lengths[e * width + a] ?? 0;
    if (matches(e, a) && here === (lengths[(e + 1) * width + a + 1] ?? 0) + 1) {
      pairs.push({ expected: e, actual: a });
      e++;
      a++;
    } else if ((lengths[e * width + a + 1] ?? 0) === here) a++;
    else e++;
  }
  return pairs;
}

/** The subsequence with the greatest total weight, in order; pairs of weight 0 are none. Weights are 0 or more. */
export function heaviestCommonSubsequence(
  expected: number,
  actual: number,
  weight: (expected: number, actual: number) => number,
): readonly Pair[] {
  const width = actual + 1;
  /** totals[e × width + a]: the heaviest over expected[e…] and actual[a…]. */
  const totals = new Float64Array((expected + 1) * width);
  const at = (e: number, a: number): number => totals[e * width + a] ?? 0;
  for (let e = expected - 1; e >= 0; e--) {
    for (let a = actual - 1; a >= 0; a--) totals[e * width + a] = Math.max(at(e + 1, a), at(e, a + 1), weight(e, a) + at(e + 1, a + 1));
  }
  const pairs: Pair[] = [];
  let [e, a] = [0, 0];
  while (e < expected && a < actual) {
    if (at(e, a) === at(e, a + 1)) a++;
    else if (at(e, a) === at(e + 1, a)) e++;
    else pairs.push({ expected: e++, actual: a++ });
  }
  return pairs;
}
