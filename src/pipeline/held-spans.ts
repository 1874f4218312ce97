/**
 * The spans of one trace. Once the trace is done they are held as bytes, and read again when something comes late: what is done is most of what is
 * held, and thousands of objects a second that live for an hour are what the garbage collector is slowest with.
 */
import type { SpanId } from '../model/ids.ts';
import type { SpanPacker } from '../otlp/pack.ts';
import type { Held } from './assemble.ts';

interface Packed {
  readonly bytes: Buffer;
  readonly arrivedMs: Float64Array;
  readonly packer: SpanPacker;
}

/** Copying a larger trace would hold up everybody else. */
const packedBytesMax = 4 * 1024 * 1024;

/** By span id, in the order in which they came. */
export class HeldSpans {
  #spans = new Map<SpanId, Held>();
  #packed: Packed | undefined;

  get size(): number {
    return this.#packed?.arrivedMs.length ?? this.#spans.size;
  }

  has(spanId: SpanId): boolean {
    return this.#unpacked().has(spanId);
  }

  get(spanId: SpanId): Held | undefined {
    return this.#unpacked().get(spanId);
  }

  set(spanId: SpanId, held: Held): void {
    this.#unpacked().set(spanId, held);
  }

  entries(): Iterable<readonly [SpanId, Held]> {
    return this.#unpacked().entries();
  }

  values(): Iterable<Held> {
    return this.#unpacked().values();
  }

  clear(): void {
    this.#packed = undefined;
    this.#spans = new Map();
  }

  /** Nobody is expected to ask for them soon. `wireBytes`: of all of them. */
  pack(packer: SpanPacker, wireBytes: number): void {
    if (this.#packed !== undefined || wireBytes > packedBytesMax) return;
    const held = [...this.#spans.values()];
    const bytes = packer.pack(held.map(({ span }) => span));
    if (bytes === undefined) return;
    this.#packed = { bytes, arrivedMs: Float64Array.from(held, ({ arrivedMs }) => arrivedMs), packer };
    this.#spans = new Map();
  }

  #unpacked(): Map<SpanId, Held> {
    if (this.#packed === undefined) return this.#spans;
    const { bytes, arrivedMs, packer } = this.#packed;
    this.#packed = undefined;
    for (const [at, span] of packer.unpack(bytes).entries()) this.#spans.set(span.spanId, { span, arrivedMs: arrivedMs[at] ?? 0 });
    return this.#spans;
  }
}
