/**
 * A pool of buffers. Fresh memory costs page faults, and external memory triggers collections of the whole heap. A buffer counts its
 * readers: one that outlives the caller retains the buffer, and the last release returns it to the pool.
 */
import type { MemoryReference } from '../model/ingest.ts';

export interface PooledBuffer extends MemoryReference {
  readonly bytes: Buffer;
  /** The same memory and readers with fewer bytes. */
  cut(bytes: number): PooledBuffer;
}

export interface BufferPool {
  /** A buffer of exactly `bytes` bytes with one reader and undefined content. */
  take(bytes: number): PooledBuffer;
  /** Bytes of the buffers without a reader. */
  freeBytes(): number;
  /** Bytes of the buffers with readers, without the kept ones. */
  usedBytes(): number;
}

export interface BufferPoolOptions {
  /** Limit of the bytes without a reader; buffers beyond it are left to the garbage collector. */
  readonly freeBytesMax: number;
  /** When true, overwrites a returned buffer, so that a late reader fails at once. Used in tests. */
  readonly poisons?: boolean;
}

const sizeMin = 4 * 1024;
const stepsPerDoubling = 4;
const poison = 0xdd;

export function bufferPool({ freeBytesMax, poisons = false }: BufferPoolOptions): BufferPool {
  /** Free buffers by size. */
  const free = new Map<number, Buffer[]>();
  let [freeBytes, usedBytes] = [0, 0];

  function takeFree(size: number): Buffer | undefined {
    const memory = free.get(size)?.pop();
    if (memory !== undefined) freeBytes -= size;
    return memory;
  }

  function giveBack(memory: Buffer): void {
    usedBytes -= memory.length;
    if (poisons) memory.fill(poison);
    if (freeBytes + memory.length > freeBytesMax) return;
    const same = free.get(memory.length);
    if (same === undefined) free.set(memory.length, [memory]);
    else same.push(memory);
    freeBytes += memory.length;
  }

  return {
    take(bytes) {
      const size = sizeOf(bytes);
      usedBytes += size;
      return new CountedBuffer(takeFree(size) ?? Buffer.allocUnsafeSlow(size), bytes, { giveBack, kept: () => void (usedBytes -= size) });
    },
    freeBytes: () => freeBytes,
    usedBytes: () => usedBytes,
  };
}

/** Rounds up by at most a fifth, so buffers of similar length share memory. */
function sizeOf(bytes: number): number {
  if (bytes <= sizeMin) return sizeMin;
  const step = 2 ** (31 - Math.clz32(bytes - 1)) / stepsPerDoubling;
  return Math.ceil(bytes / step) * step;
}

interface BufferOwner {
  giveBack(memory: Buffer): void;
  kept(): void;
}

class CountedBuffer implements PooledBuffer {
  bytes: Buffer;
  readonly #memory: Buffer;
  readonly #owner: BufferOwner;
  #readers = 1;
  #isKept = false;

  constructor(memory: Buffer, bytes: number, owner: BufferOwner) {
    this.bytes = memory.subarray(0, bytes);
    this.#memory = memory;
    this.#owner = owner;
  }

  cut(bytes: number): PooledBuffer {
    this.#check();
    this.bytes = this.#memory.subarray(0, bytes);
    return this;
  }

  retain(): void {
    this.#check();
    this.#readers++;
  }

  release(): void {
    this.#check();
    if (--this.#readers === 0 && !this.#isKept) this.#owner.giveBack(this.#memory);
  }

  keep(): void {
    this.#check();
    if (!this.#isKept) this.#owner.kept();
    this.#isKept = true;
  }

  #check(): void {
    if (this.#readers === 0) throw new Error('a buffer is used after it was given back');
  }
}
