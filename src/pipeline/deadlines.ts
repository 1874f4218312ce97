/** A queue of deadlines: the earliest first, each key at most once. */

export interface Deadlines<Key> {
  /** Sets or moves the deadline of a key. */
  set(key: Key, atMs: number): void;
  remove(key: Key): void;
  /** Takes out the earliest key that is due, if any. */
  takeDue(nowMs: number): Key | undefined;
  nextMs(): number | undefined;
}

interface Entry<Key> {
  readonly key: Key;
  readonly atMs: number;
}

/** A binary heap. A moved deadline leaves its old entry behind, which is passed over when it comes up. */
export function deadlines<Key>(): Deadlines<Key> {
  const heap: Entry<Key>[] = [];
  const current = new Map<Key, Entry<Key>>();

  function dropStale(): void {
    for (let top = heap[0]; top !== undefined && current.get(top.key) !== top; top = heap[0]) removeTop();
  }

  function removeTop(): void {
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = 2 * at + 1;
      const right = left + 1;
      const smaller = (heap[right]?.atMs ?? Infinity) < (heap[left]?.atMs ?? Infinity) ? right : left;
      const child = heap[smaller];
      if (child === undefined || child.atMs >= last.atMs) break;
      heap[at] = child;
      at = smaller;
    }
    heap[at] = last;
  }

  return {
    set(key, atMs) {
      if (current.get(key)?.atMs === atMs) return;
      const entry = { key, atMs };
      current.set(key, entry);
      let at = heap.push(entry) - 1;
      while (at > 0) {
        const above = (at - 1) >> 1;
        const parent = heap[above];
        if (parent === undefined || parent.atMs <= atMs) break;
        heap[at] = parent;
        at = above;
      }
      heap[at] = entry;
    },
    remove(key) {
      current.delete(key);
      dropStale();
    },
    takeDue(nowMs) {
      dropStale();
      const top = heap[0];
      if (top === undefined || top.atMs > nowMs) return undefined;
      current.delete(top.key);
      removeTop();
      return top.key;
    },
    nextMs() {
      dropStale();
      return heap[0]?.atMs;
    },
  };
}
