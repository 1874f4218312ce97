/**
 * Pairs expectations with actual items: in order (longest common subsequence), or one to one with the most pairs or the greatest weight.
 */

export interface Pair {
  readonly expected: number;
  readonly actual: number;
}

/** The longest sequence of pairs in order; of several, the one with the earliest partners. */
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

/** The common prefix, which belongs to some longest subsequence. */
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

/** The subsequence with the greatest total weight. Weights are not negative; pairs of weight 0 are left out. */
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

/** Limit of the longer side for exact weighted pairing; beyond it the pairing is greedy and reports so. */
export const exactWeightMax = 64;

interface WeightedPairing {
  readonly pairs: readonly Pair[];
  readonly method: 'exact' | 'greedy';
}

/**
 * Maximum bipartite matching by augmenting paths. Starts with the expectations with the fewest candidates. Nodes of a failed search are not
 * visited again.
 */
export function maximumPairing(expected: number, actual: number, matches: (expected: number, actual: number) => boolean): readonly Pair[] {
  if (expected === 0 || actual === 0) return [];
  if (expected === 1) return firstPair(actual, matches);
  if (expected === actual && eachAtItsPlace(expected, matches)) return inPlace(expected);
  const neighbours = Array.from({ length: expected }, (_, e) => matchesOf(e, actual, matches));
  const partnerOf: (number | undefined)[] = Array.from({ length: actual });
  const candidates = (e: number): number => neighbours[e]?.length ?? 0;
  const order = Array.from({ length: expected }, (_, e) => e).sort((one, other) => candidates(one) - candidates(other));
  const dead = new Set<number>();
  for (const e of order) augment(e, neighbours, partnerOf, dead);
  return partnerOf
    .flatMap((e, a) => (e === undefined ? [] : [{ expected: e, actual: a }]))
    .sort((one, other) => one.expected - other.expected);
}

/** Fast path: most messages request one call. */
function firstPair(actual: number, matches: (expected: number, actual: number) => boolean): readonly Pair[] {
  for (let a = 0; a < actual; a++) if (matches(0, a)) return [{ expected: 0, actual: a }];
  return [];
}

/** Fast path: most runs follow the expected order, and need no table of pairs. */
function eachAtItsPlace(length: number, matches: (expected: number, actual: number) => boolean): boolean {
  for (let at = 0; at < length; at++) if (!matches(at, at)) return false;
  return true;
}

export function inPlace(length: number): readonly Pair[] {
  return Array.from({ length }, (_, at) => ({ expected: at, actual: at }));
}

function matchesOf(e: number, actual: number, matches: (expected: number, actual: number) => boolean): readonly number[] {
  const found: number[] = [];
  for (let a = 0; a < actual; a++) if (matches(e, a)) found.push(a);
  return found;
}

/** Breadth-first search for a free partner; flips the path to it. Iterative, as a path may be as long as the run. */
function augment(start: number, neighbours: readonly (readonly number[])[], partnerOf: (number | undefined)[], dead: Set<number>): void {
  const cameFrom = new Map<number, number>();
  const queue = [start];
  for (const e of queue) {
    for (const a of neighbours[e] ?? []) {
      if (cameFrom.has(a) || dead.has(a)) continue;
      cameFrom.set(a, e);
      const holder = partnerOf[a];
      if (holder === undefined) return flip(a, start, cameFrom, partnerOf);
      queue.push(holder);
    }
  }
  for (const a of cameFrom.keys()) dead.add(a);
}

function flip(end: number, start: number, cameFrom: ReadonlyMap<number, number>, partnerOf: (number | undefined)[]): void {
  let a: number | undefined = end;
  while (a !== undefined) {
    const e: number | undefined = cameFrom.get(a);
    if (e === undefined) return;
    const next: number | undefined = e === start ? undefined : heldBy(e, partnerOf);
    partnerOf[a] = e;
    a = next;
  }
}

function heldBy(expected: number, partnerOf: readonly (number | undefined)[]): number | undefined {
  const at = partnerOf.indexOf(expected);
  return at === -1 ? undefined : at;
}

/** The pairing with the greatest total weight. Weights are from 0 to 1; pairs of weight 0 are left out. */
export function heaviestPairing(expected: number, actual: number, weight: (expected: number, actual: number) => number): WeightedPairing {
  if (expected === actual && eachAtItsPlace(expected, (e, a) => weight(e, a) === 1)) return { pairs: inPlace(expected), method: 'exact' };
  const matrix = Array.from({ length: expected }, (_, e) => Array.from({ length: actual }, (_unused, a) => weight(e, a)));
  const at = (e: number, a: number): number => matrix[e]?.[a] ?? 0;
  const exact = Math.max(expected, actual) <= exactWeightMax;
  const pairs = exact ? hungarian(expected, actual, at) : greedy(expected, actual, at);
  return { pairs: pairs.filter((pair) => at(pair.expected, pair.actual) > 0), method: exact ? 'exact' : 'greedy' };
}

function greedy(expected: number, actual: number, at: (e: number, a: number) => number): readonly Pair[] {
  const candidates: (Pair & { readonly weight: number })[] = [];
  for (let e = 0; e < expected; e++) {
    for (let a = 0; a < actual; a++) {
      const weight = at(e, a);
      if (weight > 0) candidates.push({ expected: e, actual: a, weight });
    }
  }
  candidates.sort((one, other) => other.weight - one.weight);
  const takenExpected = new Set<number>();
  const takenActual = new Set<number>();
  return candidates
    .filter(({ expected: e, actual: a }) => {
      if (takenExpected.has(e) || takenActual.has(a)) return false;
      takenExpected.add(e);
      takenActual.add(a);
      return true;
    })
    .map(({ expected: e, actual: a }) => ({ expected: e, actual: a }))
    .sort((one, other) => one.expected - other.expected);
}

/**
 * The assignment algorithm with potentials (Kuhn–Munkres, cubic) on a square matrix of costs −weight; rows and columns count from 1, and 0 means
 * "none".
 */
function hungarian(expected: number, actual: number, at: (e: number, a: number) => number): readonly Pair[] {
  const size = Math.max(expected, actual);
  const rowPotential = zeros(size);
  const columnPotential = zeros(size);
  const rowOf = zeros(size);
  for (let row = 1; row <= size; row++) assignRow(row, size, at, rowPotential, columnPotential, rowOf);
  const pairs: Pair[] = [];
  for (let column = 1; column <= actual; column++) {
    const row = rowOf[column] ?? 0;
    if (row >= 1 && row <= expected) pairs.push({ expected: row - 1, actual: column - 1 });
  }
  return pairs.sort((one, other) => one.expected - other.expected);
}

function assignRow(
  row: number,
  size: number,
  at: (e: number, a: number) => number,
  rowPotential: number[],
  columnPotential: number[],
  rowOf: number[],
): void {
  const least: number[] = Array.from({ length: size + 1 }, () => Infinity);
  const previous = zeros(size);
  const used: boolean[] = Array.from({ length: size + 1 }, () => false);
  rowOf[0] = row;
  let column = 0;
  do {
    used[column] = true;
    const current = rowOf[column] ?? 0;
    let delta = Infinity;
    let next = 0;
    for (let other = 1; other <= size; other++) {
      if (used[other]) continue;
      const reduced = -at(current - 1, other - 1) - (rowPotential[current] ?? 0) - (columnPotential[other] ?? 0);
      if (reduced < (least[other] ?? Infinity)) {
        least[other] = reduced;
        previous[other] = column;
      }
      if ((least[other] ?? Infinity) < delta) {
        delta = least[other] ?? Infinity;
        next = other;
      }
    }
    for (let other = 0; other <= size; other++) {
      if (used[other]) {
        const held = rowOf[other] ?? 0;
        rowPotential[held] = (rowPotential[held] ?? 0) + delta;
        columnPotential[other] = (columnPotential[other] ?? 0) - delta;
      } else least[other] = (least[other] ?? Infinity) - delta;
    }
    column = next;
  } while ((rowOf[column] ?? 0) !== 0);
  while (column !== 0) {
    const before = previous[column] ?? 0;
    rowOf[column] = rowOf[before] ?? 0;
    column = before;
  }
}

function zeros(size: number): number[] {
  return Array.from({ length: size + 1 }, () => 0);
}
