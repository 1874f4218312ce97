/**
 * The parts of a large trace that hang together so far: spans whose parents have arrived, up to one that has none or whose parent is missing.
 * An agent that is done is in one part, and what arrives elsewhere does not concern it: so a trace that is open for a day need not be looked at
 * as a whole for each span of it.
 */
import type { SpanId } from '../../model/ids.ts';
import type { Span } from '../../model/span.ts';
import { deadlines } from '../../runtime/deadline-queue.ts';
import { earlier } from '../../model/nano-time.ts';

export interface Part {
  spans: SpanId[];
  /** Some span in it can carry a run. */
  carries: boolean;
  lastMs: number;
  /** When the first span came that no scan has seen yet. */
  waitsSinceMs: number | undefined;
}

export interface Parts {
  add(span: Span, nowMs: number, carries: boolean): Part;
  /** The part that holds a span. */
  of(spanId: SpanId): Part | undefined;
  /** When to look at a part. */
  set(part: Part, atMs: number): void;
  nextMs(): number;
  /** All parts that are due. */
  takeDue(nowMs: number): readonly Part[];
}

export function traceParts(): Parts {
  const partOf = new Map<SpanId, Part>();
  /** Spans by the parent that they wait for; one a part is enough. */
  const waiting = new Map<SpanId, SpanId[]>();
  const due = deadlines<Part>();
  let root: SpanId | undefined;

  /** The smaller goes into the larger, so that a span moves only a few times. */
  function joined(one: Part, other: Part): Part {
    if (one === other) return one;
    const [small, large] = one.spans.length < other.spans.length ? [one, other] : [other, one];
    for (const spanId of small.spans) {
      partOf.set(spanId, large);
      large.spans.push(spanId);
    }
    large.carries ||= small.carries;
    large.lastMs = Math.max(large.lastMs, small.lastMs);
    large.waitsSinceMs = earlier(large.waitsSinceMs, small.waitsSinceMs);
    due.remove(small);
    return large;
  }

  function wait(spanId: SpanId, parentSpanId: SpanId): void {
    const others = waiting.get(parentSpanId);
    if (others === undefined) waiting.set(parentSpanId, [spanId]);
    else others.push(spanId);
  }

  return {
    add({ spanId, parentSpanId }, nowMs, carries) {
      let part: Part = { spans: [spanId], carries, lastMs: nowMs, waitsSinceMs: undefined };
      partOf.set(spanId, part);
      // Spans without a parent belong together: requests with nothing around them are one run.
      const above = parentSpanId ?? root;
      const parent = above === undefined ? undefined : partOf.get(above);
      if (parentSpanId === undefined) root ??= spanId;
      if (parent !== undefined) part = joined(part, parent);
      else if (parentSpanId !== undefined) wait(spanId, parentSpanId);
      for (const child of waiting.get(spanId) ?? []) part = joined(part, partOf.get(child) ?? part);
      waiting.delete(spanId);
      part.lastMs = nowMs;
      return part;
    },
    of: (spanId) => partOf.get(spanId),
    set: (part, atMs) => due.set(part, atMs),
    nextMs: () => due.nextMs() ?? Infinity,
    takeDue(nowMs) {
      const found: Part[] = [];
      for (let part = due.takeDue(nowMs); part !== undefined; part = due.takeDue(nowMs)) found.push(part);
      return found;
    },
  };
}
