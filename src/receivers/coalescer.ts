/**
 * Copies the small pieces of a body together. A piece of one byte costs some two hundred bytes as an object and pins the read that it came in, so
 * whoever sends a body in single bytes would take many times what its lease says.
 */

export interface Coalescer {
  push(piece: Buffer): void;
  /** Hands out what is left; called at the end of the body. */
  flush(): void;
}

/** The first slab of a body whose length nobody announced. */
const firstSlabBytes = 1024;
/** As large as one read of a socket. */
const slabBytesMax = 64 * 1024;
/** A piece passes as it is when it is large, and most of the memory that it pins. */
const passingBytes = 8 * 1024;
const passingShare = 0.5;

/** `emit` gets all bytes in their order, in pieces that are worth an object each. Slabs double, so that they hold at most twice what came. */
export function coalescer(emit: (piece: Buffer) => void, announcedBytes = 0): Coalescer {
  let slab: Buffer | undefined;
  let used = 0;
  let nextBytes = announcedBytes > 0 ? Math.min(slabBytesMax, announcedBytes) : firstSlabBytes;
  /** Most bodies are one piece: it is copied when a second one comes. */
  let first: Buffer | undefined;
  let isFirst = true;

  function flush(): void {
    if (first !== undefined) emit(first);
    first = undefined;
    if (slab === undefined || used === 0) return;
    emit(slab.subarray(0, used));
    slab = undefined;
    used = 0;
  }

  function copy(piece: Buffer): void {
    for (let at = 0; at < piece.length;) {
      if (slab === undefined) {
        // Not out of Node's pool: a slab that is handed on must pin nothing but itself.
        slab = Buffer.allocUnsafeSlow(nextBytes);
        nextBytes = Math.min(slabBytesMax, nextBytes * 2);
      }
      const count = piece.copy(slab, used, at);
      at += count;
      used += count;
      if (used === slab.length) flush();
    }
  }

  return {
    push(piece) {
      const isSmall = piece.length < passingBytes || piece.length < piece.buffer.byteLength * passingShare;
      if (isFirst && isSmall) first = piece;
      else if (isSmall) {
        if (first !== undefined) copy(first);
        first = undefined;
        copy(piece);
      } else {
        flush();
        emit(piece);
      }
      isFirst = false;
    },
    flush,
  };
}
