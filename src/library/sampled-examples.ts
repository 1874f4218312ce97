/** A share of a dataset, chosen by the ids of its examples alone. */
import { createHash } from 'node:crypto';

/** Places in the dataset, in its order: at least one of them, and in all a share that is rounded up. A larger share holds all of a smaller one. */
export function sampledPlaces(ids: readonly string[], percent: number): readonly number[] {
  const places = ids.map((_, at) => at);
  const size = Math.min(ids.length, Math.max(1, Math.ceil((ids.length * percent) / 100)));
  if (size === ids.length) return places;
  const hashes = ids.map((id) => createHash('sha256').update(id).digest('hex'));
  const rank = (at: number): string => hashes[at] ?? '';
  const chosen = new Set(places.toSorted((one, other) => (rank(one) < rank(other) ? -1 : 1)).slice(0, size));
  return places.filter((at) => chosen.has(at));
}
