/**
 * The spans of one trace. What nobody asks for is held as bytes: thousands of objects a second that live for long are what the garbage collector is
 * slowest with, and the requests that the spans came with would stay in memory as a whole. They are read again when somebody asks.
 */
import type { SpanId } from '../model/ids.ts';
import type { SpanPacker } from '../otlp/pack.ts';
import type { Held } from './assemble.ts';
import type { Shelf } from './shelf.ts';

export interface Packing {
  readonly packer: SpanPacker;
  readonly shelf: Shelf;
}

interface Packed extends Packing {
  readonly kept: Buffer;
  readonly arrivedMs: readonly number[];
}

/** Copying more than this would hold up everybody else. */
const packedBytesMax = 4 * 1024 * 1024;
/** Beyond it all become one. */
const packedMax = 8;

/** By span id, in the order in which they came. */
export class HeldSpans {
  /** Those that are not packed; they came after the others. */
  #spans = new Map<SpanId, Held>();
  #packed: Packed[] = [];
  #packedIds = new Set<SpanId>();

  get size(): number {
    return this.#packedIds.size + this.#spans.size;
  }

  has(spanId: SpanId): boolean {
    return this.#spans.has(spanId) || this.#packedIds.has(spanId);
  }

  get(spanId: SpanId): Held | undefined {
    return this.#spans.get(spanId) ?? (this.#packedIds.has(spanId) ? this.#unpacked().get(spanId) : undefined);
  }

  /** One that is not there yet. */
  set(spanId: SpanId, held: Held): void {
    this.#spans.set(spanId, held);
  }

  entries(): Iterable<readonly [SpanId, Held]> {
    return this.#unpacked().entries();
  }

  values(): Iterable<Held> {
    return this.#unpacked().values();
  }

  clear(): void {
    this.#spans = new Map();
    this.#packed = [];
    this.#packedIds = new Set();
  }

  /** What does not lie in a protobuf body stays as it is, and so does what is large. */
  pack(packing: Packing): void {
    if (this.#packed.length >= packedMax) this.#unpacked();
    const held = [...this.#spans.values()];
    if (held.length === 0 || held.reduce((sum, { span }) => sum + span.wireBytes, 0) > packedBytesMax) return;
    const bytes = packing.packer.pack(held.map(({ span }) => span));
    if (bytes === undefined) return;
    this.#packed.push({ ...packing, kept: packing.shelf.keep(bytes), arrivedMs: held.map(({ arrivedMs }) => arrivedMs) });
    for (const spanId of this.#spans.keys()) this.#packedIds.add(spanId);
    this.#spans = new Map();
  }

  #unpacked(): Map<SpanId, Held> {
    if (this.#packed.length === 0) return this.#spans;
    const all = new Map<SpanId, Held>();
    for (const { kept, arrivedMs, packer, shelf } of this.#packed) {
      for (const [at, span] of packer.unpack(shelf.bytes(kept)).entries()) all.set(span.spanId, { span, arrivedMs: arrivedMs[at] ?? 0 });
    }
    for (const [spanId, held] of this.#spans) all.set(spanId, held);
    this.clear();
    return (this.#spans = all);
  }
}
