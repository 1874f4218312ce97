/** Where packed spans lie until somebody asks for them. */

export interface Shelf {
  /** What is lent is copied, in whichever form. */
  keep(lent: Buffer): Kept;
}

export interface Kept {
  /** What was lent; a copy, which may be kept. Throws when it was let go. */
  bytes(): Buffer;
  /** Nobody asks for it any more. Who forgets to call it costs room until the collector comes by. */
  free(): void;
}

/** Large enough to be asked of the system by itself, and given back to it by itself. */
const slabBytesDefault = 1024 * 1024;
/** Of a slab. What is larger has a piece of its own: little is lost at the end of a slab. */
const sharedMax = 1 / 8;
/** Slabs in which nothing lies any more, for what comes next. Beyond it they go. */
const sparesMax = 32;

interface Slab {
  readonly bytes: Buffer;
  at: number;
  /** Pieces that are kept in it. */
  pieces: number;
}

/**
 * For what lives about as long as its neighbours. Tens of thousands of bytes here and there, each let go at its own time, leave gaps that the allocator of the system
 * rarely gives back: the process stays as large as it was at its fullest. And what the system gives anew is garbage again some time later, for which the collector
 * walks over the whole heap: slabs are used again.
 */
export function slabs(slabBytes = slabBytesDefault): Shelf {
  const spares: Slab[] = [];
  let open = newSlab(0);

  function slabFor(bytes: number): Slab {
    if (bytes > slabBytes * sharedMax) return newSlab(bytes);
    if (open.at + bytes > open.bytes.length) open = spares.pop() ?? newSlab(slabBytes);
    return open;
  }

  function free(slab: Slab): void {
    if (--slab.pieces > 0) return;
    slab.at = 0;
    if (slab !== open && slab.bytes.length === slabBytes && spares.length < sparesMax) spares.push(slab);
  }

  return {
    keep(lent) {
      const slab = slabFor(lent.length);
      const from = slab.at;
      lent.copy(slab.bytes, from);
      slab.at += lent.length;
      slab.pieces++;
      return new Piece(slab, from, slab.at, free);
    },
  };
}

function newSlab(bytes: number): Slab {
  return { bytes: Buffer.allocUnsafeSlow(bytes), at: 0, pieces: 0 };
}

/** There are tens of thousands of them: two functions for each would be as large again. */
class Piece implements Kept {
  #slab: Slab | undefined;
  readonly #from: number;
  readonly #to: number;
  readonly #free: (slab: Slab) => void;

  constructor(slab: Slab, from: number, to: number, free: (slab: Slab) => void) {
    this.#slab = slab;
    this.#from = from;
    this.#to = to;
    this.#free = free;
  }

  bytes(): Buffer {
    if (this.#slab === undefined) throw new Error('what was let go is asked for');
    return Buffer.from(this.#slab.bytes.subarray(this.#from, this.#to));
  }

  free(): void {
    const slab = this.#slab;
    this.#slab = undefined;
    if (slab !== undefined) this.#free(slab);
  }
}
