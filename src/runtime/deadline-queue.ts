/** A queue of deadlines: the earliest first, each key at most once. */

export interface Deadlines<Key> {
  /** Sets or moves the deadline of a key. */
  set(key: Key, atMs: number): void;
  remove(key: Key): void;
  /** Takes out the earliest key that is due, if any; of equal deadlines the one that was set first. */
  takeDue(nowMs: number): Key | undefined;
  nextMs(): number | undefined;
}

interface Entry<Key> {
  readonly key: Key;
  readonly atMs: number;
  /** Ascending number, which orders equal deadlines. */
  readonly turn: number;
  /** Index in the heap. */
  place: number;
}

/** A binary heap whose entries know their index, so removal is immediate. */
export function deadlines<Key>(): Deadlines<Key> {
  const heap: Entry<Key>[] = [];
  const current = new Map<Key, Entry<Key>>();
  let turns = 0;

  function put(entry: Entry<Key>, place: number): void {
    heap[place] = entry;
    entry.place = place;
  }

  function rise(entry: Entry<Key>, from: number): void {
    let at = from;
    for (let above = heap[(at - 1) >> 1]; at > 0 && above !== undefined && isBefore(entry, above); above = heap[(at - 1) >> 1]) {
      put(above, at);
      at = (at - 1) >> 1;
    }
    put(entry, at);
  }

  function sink(entry: Entry<Key>, from: number): void {
    let at = from;
    for (;;) {
      const left = heap[2 * at + 1];
      const right = heap[2 * at + 2];
      const child = left !== undefined && right !== undefined && isBefore(right, left) ? right : left;
      if (child === undefined || !isBefore(child, entry)) break;
      const place = child.place;
      put(child, at);
      at = place;
    }
    put(entry, at);
  }

  function takeOut(entry: Entry<Key>): void {
    current.delete(entry.key);
    const last = heap.pop();
    if (last === undefined || last === entry) return;
    const above = heap[(entry.place - 1) >> 1];
    if (entry.place > 0 && above !== undefined && isBefore(last, above)) rise(last, entry.place);
    else sink(last, entry.place);
  }

  return {
    set(key, atMs) {
      const known = current.get(key);
      if (known?.atMs === atMs) return;
      if (known !== undefined) takeOut(known);
      const entry = { key, atMs, turn: turns++, place: heap.length };
      current.set(key, entry);
      rise(entry, heap.length);
    },
    remove(key) {
      const known = current.get(key);
      if (known !== undefined) takeOut(known);
    },
    takeDue(nowMs) {
      const first = heap[0];
      if (first === undefined || first.atMs > nowMs) return undefined;
      takeOut(first);
      return first.key;
    },
    nextMs: () => heap[0]?.atMs,
  };
}

function isBefore<Key>(a: Entry<Key>, b: Entry<Key>): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.turn < b.turn);
}
