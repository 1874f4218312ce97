/**
 * Buffers that are used again. Fresh memory costs page faults on every byte, and the garbage collector walks the whole heap for what comes from
 * outside of it. A buffer counts its readers: whoever reads it later than the caller retains it, and the last release gives it back.
 */
import type { MemoryReference } from '../model/ingest.ts';

export interface PooledBuffer extends MemoryReference {
  readonly bytes: Buffer;
  /** The same memory and readers with fewer bytes. */
  cut(bytes: number): PooledBuffer;
}

export interface BufferPool {
  /** A buffer of exactly so many bytes, with one reader. What the bytes hold is undefined. */
  take(bytes: number): PooledBuffer;
  /** Of the buffers that nobody reads. */
  freeBytes(): number;
  /** Of the buffers that somebody reads, without those that are kept. */
  usedBytes(): number;
}

export interface BufferPoolOptions {
  /** Of the buffers that nobody reads; what is given back beyond them is garbage. */
  readonly freeBytesMax: number;
  /** True: a buffer that was given back is overwritten, so that whoever still reads it reads nonsense at once. For tests. */
  readonly poisons?: boolean;
}

const sizeMin = 4 * 1024;
const stepsPerDoubling = 4;
const poison = 0xdd;

export function bufferPool({ freeBytesMax, poisons = false }: BufferPoolOptions): BufferPool {
  /** By size. */
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

/** Rounded up, a fifth at most, so that buffers of about one length serve each other. */
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
