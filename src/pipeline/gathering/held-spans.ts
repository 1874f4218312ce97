/**
 * The spans of one trace. Spans that are not needed now are held as bytes: the garbage collector is slowest with thousands of objects a second that
 * live for long, and the requests that the spans came with would stay in memory as a whole. They are read again on demand.
 */
import type { SpanId } from '../../model/ids.ts';
import type { MemoryReference } from '../../model/ingest.ts';
import { spanBlocks, type SpanBlock, type SpanPacker } from '../../otlp/cut/span-packing.ts';
import type { Held } from '../assembly/assemble.ts';
import type { SlabAllocator } from './slab-allocator.ts';
import { hash } from 'node:crypto';
import { jsonText, type JsonValue } from '../../model/json.ts';
import type { AttributeValue, LogRecord } from '../../model/span.ts';

export interface Packing {
  readonly packer: SpanPacker;
  readonly slabs: SlabAllocator;
}

/** A span with its place in the order of arrival. */
interface Arrived extends Held {
  /** Where the journal has the request that brought it, or had it first; less than any position where it came with none. */
  readonly position: number;
  /** Grows from span to span, also within one request. */
  readonly ordinal: number;
}

/** Position of spans that no journal has: before every position of a journal. */
export const noPosition = -1;

/** Sorts in the order of arrival: by requests, and within one by place. */
export function byArrival(a: Arrived, b: Arrived): number {
  return a.position - b.position || a.ordinal - b.ordinal;
}

/** Spans inside the bodies that brought them, or copied out of these. */
interface Packed {
  readonly from: { readonly blocks: readonly SpanBlock[]; readonly packer: SpanPacker } | (Packing & { readonly kept: Buffer });
  /** Three numbers a span: when it arrived, its position and its ordinal. */
  readonly arrivals: readonly number[];
  /** Each between two spaces: one text takes a tenth of what a set of ids does, and is walked over in no time. */
  readonly ids: string;
}

/** Copying more than this would hold up everybody else. */
const packedBytesMax = 4 * 1024 * 1024;
/** Beyond it all become one. */
const packedMax = 8;
const numbersPerArrival = 3;

const nothing: readonly Packed[] = [];

/** By span id, in the order of arrival. */
export class HeldSpans {
  /** Those that are not packed; they were added after the others. */
  #spans: Map<SpanId, Arrived> | undefined;
  #packed: readonly Packed[] = nothing;
  /** Position of the span that arrived last. */
  #position = -Infinity;
  #ordinal = -Infinity;
  /** A span was added that had arrived before one that was there: of a trace that was joined, or of a request that the journal has written again. */
  #isMixed = false;

  get size(): number {
    let spans = this.#spans?.size ?? 0;
    for (const { arrivals } of this.#packed) spans += arrivals.length / numbersPerArrival;
    return spans;
  }

  has(spanId: SpanId): boolean {
    return this.#spans?.has(spanId) === true || this.#isPacked(spanId);
  }

  get(spanId: SpanId): Arrived | undefined {
    return this.#spans?.get(spanId) ?? (this.#isPacked(spanId) ? this.#unpacked().get(spanId) : undefined);
  }

  /** One that is not there yet. */
  set(spanId: SpanId, held: Arrived): void {
    (this.#spans ??= new Map<SpanId, Arrived>()).set(spanId, held);
    const { position, ordinal } = held;
    if (position < this.#position || (position === this.#position && ordinal < this.#ordinal)) this.#isMixed = true;
    else [this.#position, this.#ordinal] = [position, ordinal];
  }

  entries(): Iterable<readonly [SpanId, Arrived]> {
    return this.#inOrder().entries();
  }

  values(): Iterable<Arrived> {
    return this.#inOrder().values();
  }

  clear(): void {
    this.#spans = undefined;
    this.#packed = nothing;
    this.#isMixed = false;
    [this.#position, this.#ordinal] = [-Infinity, -Infinity];
  }

  /** Spans outside protobuf bodies stay unpacked, and so do large ones. True when no span refers to its body any more. */
  pack(packing: Packing): boolean {
    if (!this.packInPlace(packing.packer)) return false;
    this.#packed = this.#packed.map((packed) =>
      'blocks' in packed.from
        ? { ...packed, from: { ...packing, kept: packing.slabs.keep(packing.packer.pack(packed.from.blocks)) } }
        : packed,
    );
    return true;
  }

  /** Lets the spans go, and notes their places in the bodies that brought them. False when some stay, as with `pack`. */
  packInPlace(packer: SpanPacker): boolean {
    if (this.#packed.length >= packedMax) this.#unpacked();
    const held = [...(this.#spans?.values() ?? [])];
    if (held.length === 0) return true;
    if (held.reduce((sum, { span }) => sum + span.wireBytes, 0) > packedBytesMax) return false;
    const blocks = spanBlocks(held.map(({ span }) => span));
    if (blocks === undefined) return false;
    const arrivals: number[] = [];
    for (const { arrivedMs, position, ordinal } of held) arrivals.push(arrivedMs, position, ordinal);
    const ids = ` ${held.map(({ span }) => span.spanId).join(' ')} `;
    this.#packed = [...this.#packed, { from: { blocks, packer }, arrivals, ids }];
    this.#spans = undefined;
    return true;
  }

  #isPacked(spanId: SpanId): boolean {
    return this.#packed.length > 0 && this.#packed.some(({ ids }) => ids.includes(` ${spanId} `));
  }

  #inOrder(): Map<SpanId, Arrived> {
    const all = this.#unpacked();
    if (!this.#isMixed) return all;
    this.#isMixed = false;
    return (this.#spans = new Map([...all].sort(([, a], [, b]) => byArrival(a, b))));
  }

  #unpacked(): Map<SpanId, Arrived> {
    if (this.#packed.length === 0) return (this.#spans ??= new Map<SpanId, Arrived>());
    const all = new Map<SpanId, Arrived>();
    for (const { from, arrivals } of this.#packed) {
      // The packer reuses its buffer for the next one.
      const bytes = 'blocks' in from ? Buffer.from(from.packer.pack(from.blocks)) : from.slabs.bytes(from.kept);
      for (const [at, span] of from.packer.unpack(bytes).entries()) {
        const [arrivedMs = 0, position = noPosition, ordinal = 0] = arrivals.slice(at * numbersPerArrival, (at + 1) * numbersPerArrival);
        all.set(span.spanId, { span, arrivedMs, position, ordinal });
      }
    }
    for (const [spanId, held] of this.#spans ?? []) all.set(spanId, held);
    this.#packed = nothing;
    return (this.#spans = all);
  }
}

/** The memory in which spans of one trace lie, where it is used again. */
export class HeldMemory {
  #references: MemoryReference[] = [];
  #isWhole = true;

  /** False when spans are in memory whose readers are not counted. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  /** Undefined: the memory is not used again. */
  add(memory: MemoryReference | undefined): void {
    if (memory === undefined) this.#isWhole = false;
    // Spans of one request mostly come together.
    if (memory === undefined || this.#references.at(-1) === memory) return;
    memory.retain();
    this.#references.push(memory);
  }

  /** Takes over that of another trace. */
  join(other: HeldMemory): void {
    this.#references.push(...other.#references);
    this.#isWhole &&= other.#isWhole;
    other.#references = [];
  }

  /** No span is read there any more. */
  release(): void {
    for (const memory of this.#references) memory.release();
    this.#references = [];
    this.#isWhole = true;
  }
}

/** The log records of one trace. Those that were sent twice count once. */

/** Most traces have none, and there are many of these: what holds records is made for the first one. */
export class HeldRecords {
  #bySpan: Map<SpanId, LogRecord[]> | undefined;
  #keys: Set<string> | undefined;

  get size(): number {
    return this.#keys?.size ?? 0;
  }

  has(spanId: SpanId): boolean {
    return this.#bySpan?.has(spanId) === true;
  }

  /** In the order in which they came. */
  get bySpan(): ReadonlyMap<SpanId, readonly LogRecord[]> {
    return this.#bySpan ?? new Map();
  }

  /** Adds a record that belongs to this span. False when it is there already. */
  add(spanId: SpanId, record: LogRecord): boolean {
    const key = recordKey(record);
    if (this.#keys?.has(key) === true) return false;
    (this.#keys ??= new Set()).add(key);
    this.#bySpan ??= new Map();
    const known = this.#bySpan.get(spanId);
    if (known === undefined) this.#bySpan.set(spanId, [record]);
    else known.push(record);
    return true;
  }

  /** Takes over those of another trace; of a span that both have records of, its own stay. */
  join(other: HeldRecords): void {
    for (const [spanId, records] of other.bySpan) if (!this.has(spanId)) (this.#bySpan ??= new Map()).set(spanId, [...records]);
    for (const key of other.#keys ?? []) (this.#keys ??= new Set()).add(key);
  }

  /** All of them; none is held any more. */
  take(): readonly LogRecord[] {
    const all = [...this.bySpan.values()].flat();
    this.#bySpan = undefined;
    this.#keys = undefined;
    return all;
  }
}

/** Equal for two sendings of one record: span, time, event and content are the same. A hash, for contents are long. */
function recordKey(record: LogRecord): string {
  const attributes = record.attributeKeys().map((key) => `${key}=${textOf(record.attribute(key))}`);
  const content = `${record.spanId} ${record.timeUnixNano} ${record.eventName} ${textOf(record.body())} ${attributes.join(' ')}`;
  return hash('sha256', content, 'base64');
}

function textOf(value: AttributeValue | undefined): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('base64') : jsonText((value ?? null) as JsonValue);
}
