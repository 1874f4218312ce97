/** Of scores in places that hold one of a name, the worst: one span may be that of several tool calls. */
import type { NativeScore } from './score-api-score.ts';

export function oneAName<Placed extends { readonly score: NativeScore }>(all: readonly Placed[], placeOf: (placed: Placed) => string): readonly Placed[] {
  const kept = new Map<string, Placed>();
  for (const placed of all) {
    const key = `${placeOf(placed)} ${placed.score.name}`;
    const before = kept.get(key);
    if (before === undefined || numberOf(placed.score) < numberOf(before.score)) kept.set(key, placed);
  }
  return [...kept.values()];
}

function numberOf({ value }: NativeScore): number {
  return value.kind === 'scored' ? value.score : Infinity;
}
