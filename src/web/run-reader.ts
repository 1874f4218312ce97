/**
 * Reads the stored spans of runs for the console. A page about one run asks several times for the same spans, and a large run takes some tenths of a
 * second to read, so the last ones stay in memory.
 */
import { setImmediate as turn } from 'node:timers/promises';
import type { Collector } from '../../collectors/collector.ts';
import type { RunKey } from '../model/agent-trace.ts';
import type { Span } from '../model/span.ts';
import type { KeptSpans } from '../model/store/store.ts';
import { inOrderOfStart, ownSpans, type ReadSpan, spanReadings } from '../pipeline/reporting/span-readings.ts';
import { runInTurns } from '../runtime/cooperative.ts';
import { weightedLru } from '../runtime/lru.ts';
import type { MetricRegistry } from '../telemetry/registry.ts';

/** Spans that are read of one trace. */
export const readSpansMax = 10_000;

/** Bytes of all runs in memory, by an estimate. A larger run is read for each request. */
const weightMax = 48 * 1024 * 1024;
const entriesMax = 16;
/** Size of a decoded span beside its texts, and of a decompressed byte. */
const spanWeight = 3 * 1024;
const weightPerByte = 20;

export interface ReadRun {
  readonly kept: KeptSpans;
  /** Spans of the run come first, by start; at most `readSpansMax`. */
  readonly read: readonly ReadSpan[];
  /** The span of the run, and its descendants. */
  readonly own: ReadonlySet<Span>;
}

/** The stored spans of a trace. */
export interface TraceSource {
  /** Another one when the store has other spans. */
  readonly mark: string;
  readonly spans: number;
  /** As they are stored, compressed. */
  readonly bytes: number;
  load(): Promise<KeptSpans | undefined>;
}

export interface RunReader {
  /** Resolves with `undefined` when the store has no spans of the run's trace. */
  read(run: RunKey, collectors: readonly Collector[]): Promise<ReadRun | undefined>;
}

interface RunReaderOptions {
  readonly source: (run: RunKey) => Promise<TraceSource | undefined>;
  readonly telemetry: Pick<MetricRegistry, 'add'>;
}

interface Entry {
  readonly mark: string;
  readonly collectors: readonly Collector[];
  readonly run: Promise<ReadRun | undefined>;
  readonly weight: number;
}

export function runReader({ source, telemetry }: RunReaderOptions): RunReader {
  const entries = weightedLru<Entry>({ weightOf: ({ weight }) => weight, weightMax, entriesMax });
  return {
    async read(key, collectors) {
      const found = await source(key);
      if (found === undefined) return undefined;
      const name = JSON.stringify([key.tenant, key.traceId, key.spanId]);
      const known = entries.take(name);
      const isKnown = known?.mark === found.mark && isSame(known.collectors, collectors);
      telemetry.add('tracejury.console.runs_read', 1, { 'tracejury.outcome': isKnown ? 'cached' : 'read' });
      const entry = isKnown
        ? known
        : {
            mark: found.mark,
            collectors,
            run: readRun(found, key, collectors),
            weight: found.spans * spanWeight + found.bytes * weightPerByte,
          };
      entries.put(name, entry);
      try {
        return await entry.run;
      } catch (error) {
        entries.take(name);
        throw error;
      }
    },
  };
}

function isSame(one: readonly Collector[], other: readonly Collector[]): boolean {
  return one.length === other.length && one.every((collector, at) => collector === other[at]);
}

async function readRun(source: TraceSource, { spanId }: RunKey, collectors: readonly Collector[]): Promise<ReadRun | undefined> {
  const kept = await source.load();
  if (kept === undefined) return undefined;
  const own = ownSpans(kept.spans, spanId);
  const ordered = [...inOrderOfStart([...own]), ...inOrderOfStart(kept.spans.filter((span) => !own.has(span)))];
  return { kept, own, read: await readSpans({ ...kept, spans: ordered.slice(0, readSpansMax) }, collectors) };
}

/** Other work goes on in between. */
export async function readSpans(kept: KeptSpans, collectors: readonly Collector[]): Promise<readonly ReadSpan[]> {
  return await runInTurns(spanReadings(kept, collectors), () => turn());
}
