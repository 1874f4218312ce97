/**
 * When a trace is scanned, and how much of it. A scan takes time for each span: a growing trace is scanned the less often the larger it is,
 * and of a large one only the parts in which a span arrived. A run closes on its agent's span, or on one without a parent: before such a
 * span has arrived, no scan is due.
 */
import type { SpanId } from '../../model/ids.ts';
import type { Span } from '../../model/span.ts';
import type { Held } from '../assembly/assemble.ts';
import { settleMsOf, type ClosingTimes } from './close-policy.ts';
import type { Reading } from '../assembly/span-facts.ts';
import { byArrival } from './held-spans.ts';
import type { Lasting } from './run-identity.ts';
import { traceParts, type Part, type Parts } from './connected-spans.ts';
import { sortedBy } from '../../model/nano-time.ts';
import type { Trace } from './trace-table.ts';

/** One scan, from its beginning until what is due has closed. */
export interface ScanProgress {
  /** When the scan was due. */
  readonly dueMs: number;
  /** When the last span arrived that it covers. */
  readonly lastMs: number;
  /** It took more than one piece so far. */
  isLong: boolean;
  /** When the first span arrived that it does not cover. */
  newsMs: number | undefined;
}

/** A quiet trace is scanned after so long for each span: scans take at most a tenth of the time. */
const scanMsPerSpan = 0.1;
/** One that never goes quiet is scanned too, for agents in it may be done: a few thousandths of the time. */
const busyMsPerSpan = 2;
/** Smaller traces are scanned as a whole. */
export const partsFromSpans = 256;

/** The input of a scan. */
export interface Scan {
  readonly held: readonly Held[];
  readonly isWhole: boolean;
}

/** The result of a scan. */
export interface ScanResult {
  readonly progress: ScanProgress;
  readonly isWhole: boolean;
  readonly lasting: Lasting;
  /** The reading that the scan made. */
  readonly reading: Reading;
}

export interface ScanPlanner {
  /** A span, or a record of one, has come. Returns when to scan the trace. */
  arrived(trace: Trace, spanId: SpanId, nowMs: number): number;
  due(trace: Trace, nowMs: number): Scan;
  whole(trace: Trace): Scan;
  /** A scan is over; what it covered and is still open closes then, if nothing more arrives. Returns when to scan the trace. */
  over(trace: Trace, pending: readonly Pending[], progress: ScanProgress): number;
}

export interface Pending {
  /** Some span of the run. */
  readonly spanId: SpanId;
  readonly atMs: number;
}

/** `times` returns the times that apply now. */
export function scanPlanner(times: () => ClosingTimes, canCarryRun: (trace: Trace, span: Span) => boolean): ScanPlanner {
  function scanAtMs(trace: Trace, spans: number, { lastMs, waitsSinceMs = lastMs }: Pick<Part, 'lastMs' | 'waitsSinceMs'> = trace): number {
    const { quietMs } = times();
    return Math.min(
      lastMs + Math.max(settleMsOf(trace, times()), spans * scanMsPerSpan),
      waitsSinceMs + Math.max(quietMs, spans * busyMsPerSpan),
    );
  }

  /** `undefined` when the trace is scanned as a whole: it is small, or every span in it concerns its root agent. */
  function partsOf(trace: Trace, nowMs: number): Parts | undefined {
    if (trace.joined.length > 0 || trace.isOneAgents || trace.held.size < partsFromSpans) return undefined;
    if (trace.parts !== undefined) return trace.parts;
    const parts = traceParts();
    for (const { span } of trace.held.values()) parts.add(span, nowMs, canCarryRun(trace, span));
    return (trace.parts = parts);
  }

  return {
    arrived(trace, spanId, nowMs) {
      trace.lastMs = nowMs;
      trace.waitsSinceMs ??= nowMs;
      const known = trace.parts;
      const parts = partsOf(trace, nowMs);
      if (parts === undefined) {
        trace.parts = undefined;
        return undividedScanMs(trace);
      }
      const held = trace.held.get(spanId);
      const part = parts.of(spanId) ?? (held === undefined ? undefined : parts.add(held.span, nowMs, canCarryRun(trace, held.span)));
      if (part !== undefined) touch(part, nowMs);
      // Spans that arrived before the trace grew large are scanned once more.
      if (known === undefined && trace.mayClose) trace.scanWholeAtMs = scanAtMs(trace, trace.held.size);
      if (part?.carries === true) parts.set(part, scanAtMs(trace, part.spans.length, part));
      return nextScanMs(trace, parts);
    },
    due(trace, nowMs) {
      trace.waitsSinceMs = undefined;
      const parts = trace.parts?.takeDue(nowMs) ?? [];
      for (const part of parts) part.waitsSinceMs = undefined;
      if (parts.length === 0 || trace.scanWholeAtMs <= nowMs) {
        trace.scanWholeAtMs = Infinity;
        return whole(trace);
      }
      return {
        held: sortedBy(
          parts.flatMap(({ spans }) => spans.flatMap((spanId) => trace.held.get(spanId) ?? [])),
          byArrival,
        ),
        isWhole: false,
      };
    },
    whole,
    over(trace, pending, { newsMs }) {
      const { parts } = trace;
      // Spans that arrived meanwhile have set the time of the next scan.
      if (parts === undefined) return newsMs === undefined ? earliest(pending) : undividedScanMs(trace);
      for (const [part, own] of Map.groupBy(pending, ({ spanId }) => parts.of(spanId))) {
        if (part === undefined) continue;
        const atMs =
          part.carries && newsMs !== undefined && part.lastMs >= newsMs ? scanAtMs(trace, part.spans.length, part) : earliest(own);
        // A part that is abandoned unless more arrives is scanned with the whole trace: that time moves on with every span.
        if (atMs < trace.lastMs + times().abandonMs) parts.set(part, atMs);
      }
      return nextScanMs(trace, parts);
    },
  };

  function undividedScanMs(trace: Trace): number {
    return trace.mayClose ? scanAtMs(trace, trace.held.size) : trace.lastMs + times().abandonMs;
  }

  function nextScanMs(trace: Trace, parts: Parts): number {
    return Math.min(parts.nextMs(), trace.scanWholeAtMs, trace.lastMs + times().abandonMs);
  }
}

function earliest(pending: readonly Pending[]): number {
  return pending.reduce((next, { atMs }) => Math.min(next, atMs), Infinity);
}

function whole(trace: Trace): Scan {
  return { held: [...trace.held.values()], isWhole: true };
}

function touch(part: Part, nowMs: number): void {
  part.lastMs = nowMs;
  part.waitsSinceMs ??= nowMs;
}
