/** Values by key, so many and so heavy together at most: the least recently used are given up first. */

export interface WeighedCacheOptions<Value> {
  /** Of one value. */
  readonly weightOf: (value: Value) => number;
  /** Of all values together. */
  readonly weightMax: number;
  readonly entriesMax?: number;
}

export interface WeighedCache<Value> {
  /** The value is not held any more: who goes on using it puts it back. */
  take(key: string): Value | undefined;
  put(key: string, value: Value): void;
}

export function weighedCache<Value>({ weightOf, weightMax, entriesMax = Infinity }: WeighedCacheOptions<Value>): WeighedCache<Value> {
  /** The least recently used first. */
  const held = new Map<string, { readonly value: Value; readonly weight: number }>();
  let weights = 0;

  function take(key: string): Value | undefined {
    const one = held.get(key);
    if (one === undefined) return undefined;
    held.delete(key);
    weights -= one.weight;
    return one.value;
  }

  return {
    take,
    put(key, value) {
      take(key);
      const weight = weightOf(value);
      held.set(key, { value, weight });
      weights += weight;
      for (const oldest of held.keys()) {
        if (held.size <= entriesMax && weights <= weightMax) return;
        take(oldest);
      }
    },
  };
}
