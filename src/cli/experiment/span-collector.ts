/** Receives the spans of agents, and gives each run of an example its own: by the trace id it was given, or by resource attributes. */
import { wire } from '../../model/attributes.ts';
import type { SpanId, TraceId } from '../../model/ids.ts';
import type { Ingest, Received } from '../../model/ingest.ts';
import { type LogRecord, type Resource, type Span, spanWith, textAttribute } from '../../model/span.ts';

/** One run of one example, while its spans arrive. */
export interface RunSlot {
  readonly experimentId: string;
  readonly exampleId: string;
  readonly repeat: number;
  /** The trace that the agent is asked to continue, and the span that it is asked to take for its parent. */
  readonly traceId: TraceId;
  readonly parentSpanId: SpanId;
}

export interface CollectedSpans {
  readonly spans: readonly Span[];
  readonly records: readonly LogRecord[];
  /** Spans beyond the limit of one run. */
  readonly leftOut: number;
}

export interface OpenSlot {
  collected(): CollectedSpans;
  /** Resolves with the next spans, or when the signal aborts. */
  arrival(signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface SpanCollector {
  readonly ingest: Ingest;
  open(slot: RunSlot): OpenSlot;
  /** Spans that belong to no run in progress. */
  strays(): number;
}

interface Slot extends RunSlot {
  readonly spans: Span[];
  readonly records: LogRecord[];
  leftOut: number;
  wake: () => void;
}

const retryAfterSeconds = 1;
const recordsMax = 100_000;

/** Bytes of all runs in progress together. */
const heldBytesMax = 256 * 1024 * 1024;

export function spanCollector({ spansMax }: { readonly spansMax: number }): SpanCollector {
  const byTrace = new Map<TraceId, Slot>();
  const byNames = new Map<string, Slot>();
  let strays = 0;
  let heldBytes = 0;
  const slotOf = (item: { readonly traceId: TraceId; readonly resource: Resource }): Slot | undefined =>
    byTrace.get(item.traceId) ?? byNames.get(namesIn(item.resource) ?? '');
  const keep = <Item extends { readonly wireBytes: number }>(items: Item[], item: Item, slot: Slot, most: number): void => {
    if (items.length >= most) return void slot.leftOut++;
    items.push(item);
    heldBytes += item.wireBytes;
  };
  const ingest: Ingest = {
    async spans(_tenant, spans, request) {
      keepMemory(request);
      const woken = new Set<Slot>();
      for (const span of spans) {
        const slot = slotOf(span);
        if (slot === undefined) {
          strays++;
          continue;
        }
        // The span that the agent was given as its parent is never sent.
        keep(slot.spans, span.parentSpanId === slot.parentSpanId ? spanWith(span, { parentSpanId: undefined }) : span, slot, spansMax);
        woken.add(slot);
      }
      for (const slot of woken) slot.wake();
    },
    async logs(_tenant, records, request) {
      keepMemory(request);
      for (const record of records) {
        const slot = slotOf(record);
        if (slot !== undefined) keep(slot.records, record, slot, recordsMax);
      }
    },
    admission: () => (heldBytes < heldBytesMax ? 'open' : { refuse: 'journal_full', retryAfterSeconds }),
  };
  return {
    ingest,
    strays: () => strays,
    open(given) {
      const slot: Slot = { ...given, spans: [], records: [], leftOut: 0, wake() {} };
      const names = namesText(given);
      byTrace.set(given.traceId, slot);
      byNames.set(names, slot);
      return {
        collected: () => ({ spans: slot.spans, records: slot.records, leftOut: slot.leftOut }),
        arrival: (signal) =>
          new Promise((resolve) => {
            if (signal.aborted) return resolve();
            signal.addEventListener('abort', () => resolve(), { once: true });
            slot.wake = resolve;
          }),
        close() {
          byTrace.delete(given.traceId);
          byNames.delete(names);
          for (const { wireBytes } of [...slot.spans, ...slot.records]) heldBytes -= wireBytes;
        },
      };
    },
  };
}

/** The spans are read after the request is answered. */
function keepMemory({ bodyMemory, plainMemory }: Received): void {
  bodyMemory?.keep();
  plainMemory?.keep();
}

function namesIn(resource: Resource): string | undefined {
  const [experimentId, exampleId] = [textAttribute(resource, wire.experimentId), textAttribute(resource, wire.exampleId)];
  if (experimentId === undefined || exampleId === undefined) return undefined;
  return namesText({ experimentId, exampleId, repeat: Number(textAttribute(resource, wire.exampleRepeat) ?? 1) });
}

function namesText({ experimentId, exampleId, repeat }: Pick<RunSlot, 'experimentId' | 'exampleId' | 'repeat'>): string {
  return JSON.stringify([experimentId, exampleId, repeat]);
}
