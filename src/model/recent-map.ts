/**
 * A map of recent entries. It keeps at least the newest half of `entriesMax` entries, deleted ones counted, and at most all of them. It
 * drops whole generations, as removing single entries from the front of a large Map is slow.
 */
export interface RecentMap<Key, Value> {
  get(key: Key): Value | undefined;
  has(key: Key): boolean;
  /** Makes the entry the newest. */
  set(key: Key, value: Value): void;
  delete(key: Key): void;
  clear(): void;
}

export function recentMap<Key, Value>(entriesMax: number): RecentMap<Key, Value> {
  const generationMax = Math.max(1, Math.floor(entriesMax / 2));
  let young = new Map<Key, Value>();
  let old = new Map<Key, Value>();
  return {
    get: (key) => young.get(key) ?? old.get(key),
    has: (key) => young.has(key) || old.has(key),
    set(key, value) {
      if (!young.has(key) && young.size >= generationMax) {
        old = young;
        young = new Map();
      }
      old.delete(key);
      young.set(key, value);
    },
    delete(key) {
      young.delete(key);
      old.delete(key);
    },
    clear() {
      young = new Map();
      old = new Map();
    },
  };
}
