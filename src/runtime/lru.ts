/** Bounded maps. When the bound is exceeded, the least recently used entry goes first. */

export interface WeightedLruOptions<Value> {
  readonly weightOf: (value: Value) => number;
  /** Bound of all weights together. */
  readonly weightMax: number;
  readonly entriesMax?: number;
}

export interface WeightedLru<Value> {
  /** Removes the value; a caller that keeps using it puts it back. */
  take(key: string): Value | undefined;
  put(key: string, value: Value): void;
}

export function weightedLru<Value>({ weightOf, weightMax, entriesMax = Infinity }: WeightedLruOptions<Value>): WeightedLru<Value> {
  /** The least recently used entry stands first. */
  const entries = new Map<string, { readonly value: Value; readonly weight: number }>();
  let weights = 0;

  function take(key: string): Value | undefined {
    const entry = entries.get(key);
    if (entry === undefined) return undefined;
    entries.delete(key);
    weights -= entry.weight;
    return entry.value;
  }

  return {
    take,
    put(key, value) {
      take(key);
      const weight = weightOf(value);
      entries.set(key, { value, weight });
      weights += weight;
      for (const oldest of entries.keys()) {
        if (entries.size <= entriesMax && weights <= weightMax) return;
        take(oldest);
      }
    },
  };
}

/** Deletes the entries that were inserted first until the map holds at most `entriesMax`. */
export function trimOldest<Key>(entries: Pick<Map<Key, unknown>, 'size' | 'keys' | 'delete'>, entriesMax: number): void {
  for (const oldest of entries.keys()) {
    if (entries.size <= entriesMax) return;
    entries.delete(oldest);
  }
}
