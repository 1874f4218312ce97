/** When a run closes if nothing more arrives, and as what. */
import type { Collector } from '../../../collectors/collector.ts';
import type { Completeness, ToolDefinition } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import type { Draft } from '../assembly/assemble.ts';
import type { Trace } from './trace-table.ts';

export interface ClosingTimes {
  readonly settleMs: number;
  /** The same for a trace that one request brought. Defaults to `settleMs`. */
  readonly batchedSettleMs?: number;
  readonly quietMs: number;
  readonly abandonMs: number;
  readonly lateMs: number;
}

export const defaultClosing = {
  settleMs: 500,
  batchedSettleMs: 50,
  quietMs: 5_000,
  abandonMs: 600_000,
  lateMs: 3_600_000,
} as const satisfies ClosingTimes;

export function closesAt(
  draft: Draft,
  { lastMs, settleMs, partsLateMs = 0 }: { readonly lastMs: number; readonly settleMs: number; readonly partsLateMs?: number },
  closing: ClosingTimes,
): { readonly atMs: number; readonly completeness: Completeness } {
  if (!draft.rootArrived) return { atMs: lastMs + closing.abandonMs, completeness: 'abandoned' };
  if (draft.waitsFor.length > 0) return { atMs: draft.lastArrivedMs + closing.quietMs, completeness: 'partial' };
  // Its parent may still come and show that it works for another agent; one export interval is long enough to wait.
  if (draft.parentMissing) return { atMs: draft.lastArrivedMs + closing.quietMs, completeness: 'complete' };
  // Other traces may continue a fragment.
  const waitMs = draft.fragment === undefined ? settleMs : closing.settleMs + partsLateMs;
  return { atMs: draft.lastArrivedMs + waitMs, completeness: 'complete' };
}

/**
 * The short wait holds for the first close of a trace that one request brought, with several spans. Two requests of one exporter may overtake one
 * another: some SDKs flush their batches at the same time, a Collector sends with several consumers, and a retry comes later. A trace in one request
 * gives no sign of a second one. Log records have a separate exporter.
 */
export function settleMsOf(
  { requests, held, records, closed }: Pick<Trace, 'requests' | 'held' | 'records' | 'closed'>,
  { settleMs, batchedSettleMs = settleMs }: ClosingTimes,
): number {
  const cameAtOnce = requests === 1 && held.size > 1 && records.size === 0 && closed === undefined;
  return cameAtOnce ? batchedSettleMs : settleMs;
}

/** Settings for runs that are still gathered. They may be exchanged while they are. */
export interface GatheringSettings {
  readonly closing?: ClosingTimes;
  /** Definitions for runs whose spans carry none. */
  readonly tools?: readonly ToolDefinition[];
  /** Collectors of the configuration; they stand before the built-in ones. */
  readonly dialects?: readonly Collector[];
  /** The attribute that holds the version of an agent. Default: `service.version`. */
  readonly versionKey?: string;
}

export interface InForce {
  readonly closing: ClosingTimes;
  readonly dialects: readonly Collector[];
  /** Definitions by name. */
  readonly tools: ReadonlyMap<string, ToolDefinition>;
  readonly versionKey: string;
}

const noDialects: readonly Collector[] = [];

export function inForce({
  closing = defaultClosing,
  tools = [],
  dialects = noDialects,
  versionKey = wire.serviceVersion,
}: GatheringSettings): InForce {
  return { closing, dialects, versionKey, tools: new Map(tools.map((definition) => [definition.name, definition] as const)) };
}

/** Limits of the gathering. */
export interface GroupLimits {
  /** Bytes on the wire of all spans and records that are held. */
  readonly bytesMax: number;
  /** Asked again and again: up to how many of them traces are kept that are done, or to which nothing has come for a minute. */
  readonly spareBytesMax?: () => number;
  readonly spansPerTraceMax: number;
  readonly recordsPerTraceMax: number;
  /** Traces that are done are remembered up to this number, the newest half of it at least, so that a straggler founds no new run. */
  readonly tombstonesMax: number;
}

export const defaultGroupLimits: GroupLimits = {
  bytesMax: 256 * 1024 * 1024,
  spansPerTraceMax: 50_000,
  recordsPerTraceMax: 50_000,
  tombstonesMax: 100_000,
};
