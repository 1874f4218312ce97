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

/** A bounded map that several holders share. */
export interface SharedLru<Value> {
  get(holder: string, key: string): Value | undefined;
  /** Makes the entry the newest of its holder. */
  set(holder: string, key: string, value: Value): void;
  delete(holder: string, key: string): void;
}

/** Beyond the bound the holder with the most entries loses its oldest, so that a flood of one leaves the entries of the others. */
export function sharedLru<Value>(entriesMax: number): SharedLru<Value> {
  const entries = new Map<string, Map<string, Value>>();
  let size = 0;

  function dropOldest(): void {
    let [largest, most]: [string, number] = ['', 0];
    for (const [holder, own] of entries) if (own.size > most) [largest, most] = [holder, own.size];
    for (const oldest of entries.get(largest)?.keys() ?? []) return drop(largest, oldest);
  }

  function drop(holder: string, key: string): void {
    const own = entries.get(holder);
    if (own?.delete(key) !== true) return;
    size--;
    if (own.size === 0) entries.delete(holder);
  }

  return {
    get: (holder, key) => entries.get(holder)?.get(key),
    set(holder, key, value) {
      const own = entries.get(holder) ?? new Map<string, Value>();
      entries.set(holder, own);
      if (!own.delete(key)) size++;
      own.set(key, value);
      if (size > entriesMax) dropOldest();
    },
    delete: drop,
  };
}
