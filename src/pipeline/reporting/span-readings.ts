/** The facts that the collectors read from the archived spans of one trace, for people who inspect it. */
import type { Collector } from '../../../collectors/collector.ts';
import { repeats } from '../../../collectors/parsing/repeats.ts';
import type { SpanId } from '../../model/ids.ts';
import { compare } from '../../model/nano-time.ts';
import type { LogRecord, Span } from '../../model/span.ts';
import type { Steps } from '../../runtime/cooperative.ts';
import { spanReadingOf, type SpanReading } from '../assembly/span-facts.ts';
import { spansPerStep } from '../assembly/span-tree.ts';

export interface ReadSpan {
  readonly span: Span;
  readonly reading: SpanReading;
}

interface TraceContent {
  readonly spans: readonly Span[];
  readonly records: readonly LogRecord[];
}

/** In the order of `spans`. */
export function* spanReadings({ spans, records }: TraceContent, collectors: readonly Collector[]): Steps<readonly ReadSpan[]> {
  const bySpan = new Map<SpanId, LogRecord[]>();
  for (const record of records) {
    if (record.spanId === undefined) continue;
    const own = bySpan.get(record.spanId);
    if (own === undefined) bySpan.set(record.spanId, [record]);
    else own.push(record);
  }
  const input = { collectors, records: bySpan, repeats: repeats() };
  const read: ReadSpan[] = [];
  for (const span of spans) {
    read.push({ span, reading: spanReadingOf(input, span) });
    if (read.length % spansPerStep === 0) yield;
  }
  return read;
}

/** The run's span and its descendants, sub-agents included. */
export function ownSpans(spans: readonly Span[], root: SpanId): ReadonlySet<Span> {
  const children = Map.groupBy(spans, ({ parentSpanId }) => parentSpanId);
  const own = new Set(spans.filter(({ spanId }) => spanId === root));
  const next: SpanId[] = [root];
  for (let at = next.pop(); at !== undefined; at = next.pop()) {
    for (const child of children.get(at) ?? []) {
      if (own.has(child)) continue;
      own.add(child);
      next.push(child.spanId);
    }
  }
  return own;
}

/** Among equal starts the first to arrive comes first. */
export function inOrderOfStart(spans: readonly Span[]): readonly Span[] {
  return spans.toSorted((one, other) => compare(one.startUnixNano, other.startUnixNano));
}
