/** Spans that are not read for a while: their places in the bodies that brought them, or a request made of the very bytes that came. */
import type { Resource, Scope, Span, WrittenBytes } from '../../model/span.ts';
import type { KeyShapes } from '../read/key-shapes.ts';
import { defaultOtlpLimits } from '../read/limits.ts';
import { protobufWriter } from '../write/protobuf-writer.ts';
import { tracesInSteps } from '../read/read.ts';
import { runSteps } from '../../runtime/cooperative.ts';
import { isEmptyScope, writeResource, writeScope } from '../write/write.ts';

export interface SpanPacker {
  /** Lent: the next call uses the same memory. */
  pack(blocks: readonly SpanBlock[]): Buffer;
  /** Equal spans in the same order. */
  unpack(packed: Buffer): readonly Span[];
}

/** Adjacent spans with the same resource and scope in one body. */
export interface SpanBlock {
  readonly resource: Resource;
  readonly scope: Scope;
  readonly bytes: Buffer;
  /** Two numbers a span: where it starts and ends. */
  readonly places: number[];
}

/** Each span was within the limits when it came; together they may come from any number of requests. */
const limits = { ...defaultOtlpLimits, spansPerRequest: Infinity, blocksPerRequest: Infinity, itemsPerRequest: Infinity };

export function spanPacker(shapes: KeyShapes): SpanPacker {
  const out = protobufWriter();

  function writeBlock({ resource, scope, bytes, places }: SpanBlock): void {
    out.message(1, () => {
      writeResource(out, resource);
      out.message(2, () => {
        if (!isEmptyScope(scope)) out.message(1, () => writeScope(out, scope));
        for (let at = 0; at < places.length; at += 2) out.bytes(2, bytes.subarray(places[at], places[at + 1]));
      });
    });
  }

  return {
    pack(blocks) {
      out.restart();
      for (const block of blocks) writeBlock(block);
      return out.lent();
    },
    unpack: (packed) => runSteps(tracesInSteps(packed, 'protobuf', limits, shapes)).spans,
  };
}

/** `undefined` when some of them are not in a protobuf body. */
export function spanBlocks(spans: Iterable<Span>): readonly SpanBlock[] | undefined {
  const blocks: SpanBlock[] = [];
  let last: SpanBlock | undefined;
  for (const span of spans) {
    const written: WrittenBytes | undefined = span.asWritten?.();
    if (written === undefined) return undefined;
    const { resource, scope } = span;
    const { bytes, start, end } = written;
    if (last?.resource === resource && last.scope === scope && last.bytes === bytes) last.places.push(start, end);
    else blocks.push((last = { resource, scope, bytes, places: [start, end] }));
  }
  return blocks;
}
