/** Where packed spans lie until somebody asks for them. */

export interface SlabAllocator {
  /** What is lent is copied, in whichever form. */
  keep(lent: Buffer): Buffer;
  /** What was lent, of what is kept. */
  bytes(kept: Buffer): Buffer;
}

/** Large enough to be asked of the system by itself, and given back to it by itself. */
const slabBytesDefault = 1024 * 1024;
/** Of a slab. What is larger has a piece of its own: little is lost at the end of a slab. */
const sharedMax = 1 / 8;

/**
 * For what lives about as long as its neighbours. Tens of thousands of bytes here and there, each let go at its own time, leave gaps that the allocator of the system
 * rarely gives back: the process stays as large as it was at its fullest.
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
