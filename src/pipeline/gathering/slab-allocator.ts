/** Memory for packed spans until they are needed. */

export interface SlabAllocator {
  /** Copies the lent bytes, in either form. */
  keep(lent: Buffer): Buffer;
  /** Returns the bytes that were lent for the kept ones. */
  bytes(kept: Buffer): Buffer;
}

/** Large enough to be asked of the system by itself, and given back to it by itself. */
const slabBytesDefault = 1024 * 1024;
/** Share of a slab. A larger piece gets a buffer for itself: little is lost at the end of a slab. */
const sharedMax = 1 / 8;

/**
 * An allocator for data that lives about as long as its neighbours. Tens of thousands of bytes here and there, each freed at a different time, leave
 * gaps that the system's allocator rarely gives back: the process stays as large as its peak.
 */
export function slabs(slabBytes = slabBytesDefault): SlabAllocator {
  let slab = Buffer.alloc(0);
  let at = 0;

  function room(bytes: number): Buffer {
    if (bytes > slabBytes * sharedMax) return Buffer.allocUnsafeSlow(bytes);
    if (at + bytes > slab.length) {
      slab = Buffer.allocUnsafeSlow(slabBytes);
      at = 0;
    }
    at += bytes;
    return slab.subarray(at - bytes, at);
  }

  return {
    keep(lent) {
      const kept = room(lent.length);
      lent.copy(kept);
      return kept;
    },
    bytes: (kept) => kept,
  };
}
