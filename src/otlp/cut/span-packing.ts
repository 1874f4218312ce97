/** Spans that nobody will read for a while, as bytes: a request made of the very bytes that came. */
import type { Span } from '../../model/span.ts';
import type { KeyShapes } from '../read/key-shapes.ts';
import { defaultOtlpLimits } from '../read/limits.ts';
import { protobufWriter, type ProtobufWriter } from '../write/protobuf-writer.ts';
import { tracesInSteps } from '../read/read.ts';
import { runSteps } from '../../runtime/cooperative.ts';
import { isEmptyScope, writeResource, writeScope } from '../write/write.ts';

export interface SpanPacker {
  /** Lent: the next call uses the same memory. Undefined: some of them do not lie in a protobuf body. */
  pack(spans: readonly Span[]): Buffer | undefined;
  /** Equal spans in the same order. */
  unpack(packed: Buffer): readonly Span[];
}

/** Each span was within the limits when it came; together they may come from any number of requests. */
const limits = { ...defaultOtlpLimits, spansPerRequest: Infinity, blocksPerRequest: Infinity, itemsPerRequest: Infinity };

export function spanPacker(shapes: KeyShapes): SpanPacker {
  const out = protobufWriter();
  return {
    pack(spans) {
      if (spans.some((span) => span.asWritten === undefined)) return undefined;
      out.restart();
      for (let at = 0; at < spans.length;) at = writeBlock(out, spans, at);
      return out.lent();
    },
    unpack: (packed) => runSteps(tracesInSteps(packed, 'protobuf', limits, shapes)).spans,
  };
}

/** The spans from `from` on that have the same resource and scope; gives where the next ones begin. */
function writeBlock(to: ProtobufWriter, spans: readonly Span[], from: number): number {
  const first = spans[from];
  if (first === undefined) return spans.length;
  const { resource, scope } = first;
  let at = from;
  to.message(1, () => {
    writeResource(to, resource);
    to.message(2, () => {
      if (!isEmptyScope(scope)) to.message(1, () => writeScope(to, scope));
      for (let span: Span | undefined = first; span?.resource === resource && span.scope === scope; span = spans[++at]) {
        const bytes = span.asWritten?.();
        if (bytes !== undefined) to.bytes(2, bytes);
      }
    });
  });
  return at;
}
