/** Several requests in one piece of bytes, to be put away together: each with its signal and encoding before it. */
import type { LogRecord, Span } from '../../model/span.ts';
import type { OtlpSignal } from './trace-extract.ts';
import { logsInSteps, tracesInSteps, type OtlpEncoding } from '../read/read.ts';
import type { Steps } from '../../runtime/cooperative.ts';

/** One request. */
export interface BundlePart {
  readonly signal: OtlpSignal;
  readonly encoding: OtlpEncoding;
  readonly bytes: Buffer;
}

/** The head of each request: its kind in one byte, its length in four. */
const headBytes = 5;
/** In the order of their numbers, which are written down: a new kind is added at the end. */
const kinds: readonly Omit<BundlePart, 'bytes'>[] = [
  { signal: 'traces', encoding: 'protobuf' },
  { signal: 'logs', encoding: 'protobuf' },
  { signal: 'traces', encoding: 'json' },
  { signal: 'logs', encoding: 'json' },
];

export function bundle(parts: readonly BundlePart[]): Buffer {
  return Buffer.concat(
    parts.flatMap(({ signal, encoding, bytes }) => {
      const head = Buffer.alloc(headBytes);
      head[0] = kinds.findIndex((kind) => kind.signal === signal && kind.encoding === encoding);
      head.writeUInt32LE(bytes.length, 1);
      return [head, bytes];
    }),
  );
}

export interface Unbundled {
  /** Each span once. */
  readonly spans: readonly Span[];
  readonly records: readonly LogRecord[];
}

/** Spans and records of bundles, in their order. Requests that cannot be read, or are of a kind that a later release wrote, are passed over. */
export function* unbundled(bundles: readonly Buffer[]): Steps<Unbundled> {
  const spans = new Map<string, Span>();
  const records: LogRecord[] = [];
  for (const from of bundles) {
    for (const { signal, encoding, bytes } of partsOf(from)) {
      if (signal === 'logs') records.push(...(yield* logsInSteps(bytes, encoding)).records);
      else for (const span of (yield* tracesInSteps(bytes, encoding)).spans) if (!spans.has(keyOf(span))) spans.set(keyOf(span), span);
    }
  }
  return { spans: [...spans.values()], records };
}

function keyOf({ traceId, spanId }: Span): string {
  return `${traceId}${spanId}`;
}

/** The requests that a bundle holds. */
export function partsOf(from: Buffer): readonly BundlePart[] {
  const parts: BundlePart[] = [];
  for (let at = 0; at + headBytes <= from.length;) {
    const end = at + headBytes + from.readUInt32LE(at + 1);
    const kind = kinds[from[at] ?? -1];
    if (end > from.length) break;
    if (kind !== undefined) parts.push({ ...kind, bytes: from.subarray(at + headBytes, end) });
    at = end;
  }
  return parts;
}
