/** One-to-one pairing of expectations with actual things: as many pairs as possible, or as much weight as possible. */
import type { Pair } from './sequences.ts';

/** Up to this many on the longer side the weighted pairing is exact; beyond it is greedy and says so. */
export const exactWeightMax = 64;

export interface WeightedPairing {
  readonly pairs: readonly Pair[];
  readonly method: 'exact' | 'greedy';
}

/**
 * A maximum bipartite matching by augmenting paths. Expectations with the fewest candidates come first, so that most find a free one;
 * what a search in vain has seen can lie on no later path and is not searched again.
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

/** Most messages of a conversation ask for one call. */
function firstPair(actual: number, matches: (expected: number, actual: number) => boolean): readonly Pair[] {
  for (let a = 0; a < actual; a++) if (matches(0, a)) return [{ expected: 0, actual: a }];
  return [];
}

/** Most runs that do what was expected do it in that order: then no table of all pairs is needed. */
function eachAtItsPlace(length: number, matches: (expected: number, actual: number) => boolean): boolean {
  for (let at = 0; at < length; at++) if (!matches(at, at)) return false;
  return true;
}

function inPlace(length: number): readonly Pair[] {
  return Array.from({ length }, (_, at) => ({ expected: at, actual: at }));
}

function matchesOf(e: number, actual: number, matches: (expected: number, actual: number) => boolean): readonly number[] {
  const found: number[] = [];
  for (let a = 0; a < actual; a++) if (matches(e, a)) found.push(a);
  return found;
}

/** Searches breadth first for a free actual and flips the path to it. No recursion: a path may be as long as the run. */
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

/** The pairing with the greatest total weight; pairs of weight 0 are left out. Weights are 0 to 1. */
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
 * The assignment algorithm with potentials (Kuhn–Munkres, cubic) on a square matrix of costs −weight; rows and columns count
 * from 1, and 0 stands for "none".
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
