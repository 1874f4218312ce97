/** Splits a list, in order, into lists of at most `itemsMax`. */
export function chunks<Item>(items: readonly Item[], itemsMax: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / itemsMax) }, (_, at) => items.slice(at * itemsMax, (at + 1) * itemsMax));
}
