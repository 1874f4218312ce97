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
  /** Each between two spaces: one text takes a tenth of what a set of ids does, and is walked over in no time. */
  readonly ids: string;
}

/** Copying more than this would hold up everybody else. */
const packedBytesMax = 4 * 1024 * 1024;
/** Beyond it all become one. */
const packedMax = 8;

const nothing: readonly Packed[] = [];

/** By span id, in the order in which they came. */
export class HeldSpans {
  /** Those that are not packed; they came after the others. */
  #spans: Map<SpanId, Held> | undefined;
  #packed: readonly Packed[] = nothing;

  get size(): number {
    return this.#packed.reduce((sum, { arrivedMs }) => sum + arrivedMs.length, this.#spans?.size ?? 0);
  }

  has(spanId: SpanId): boolean {
    return this.#spans?.has(spanId) === true || this.#isPacked(spanId);
  }

  get(spanId: SpanId): Held | undefined {
    return this.#spans?.get(spanId) ?? (this.#isPacked(spanId) ? this.#unpacked().get(spanId) : undefined);
  }

  /** One that is not there yet. */
  set(spanId: SpanId, held: Held): void {
    (this.#spans ??= new Map<SpanId, Held>()).set(spanId, held);
  }

  entries(): Iterable<readonly [SpanId, Held]> {
    return this.#unpacked().entries();
  }

  values(): Iterable<Held> {
    return this.#unpacked().values();
  }

  clear(): void {
    this.#spans = undefined;
    this.#packed = nothing;
  }

  /** What does not lie in a protobuf body stays as it is, and so does what is large. */
  pack(packing: Packing): void {
    if (this.#packed.length >= packedMax) this.#unpacked();
    const held = [...(this.#spans?.values() ?? [])];
    if (held.length === 0 || held.reduce((sum, { span }) => sum + span.wireBytes, 0) > packedBytesMax) return;
    const bytes = packing.packer.pack(held.map(({ span }) => span));
    if (bytes === undefined) return;
    this.#packed = [...this.#packed, { ...packing, kept: packing.shelf.keep(bytes), arrivedMs: held.map(({ arrivedMs }) => arrivedMs), ids: ` ${held.map(({ span }) => span.spanId).join(' ')} ` }];
    this.#spans = undefined;
  }

  #isPacked(spanId: SpanId): boolean {
    return this.#packed.length > 0 && this.#packed.some(({ ids }) => ids.includes(` ${spanId} `));
  }

  #unpacked(): Map<SpanId, Held> {
    if (this.#packed.length === 0) return (this.#spans ??= new Map<SpanId, Held>());
    const all = new Map<SpanId, Held>();
    for (const { kept, arrivedMs, packer, shelf } of this.#packed) {
      for (const [at, span] of packer.unpack(shelf.bytes(kept)).entries()) all.set(span.spanId, { span, arrivedMs: arrivedMs[at] ?? 0 });
    }
    for (const [spanId, held] of this.#spans ?? []) all.set(spanId, held);
    this.clear();
    return (this.#spans = all);
  }
}
