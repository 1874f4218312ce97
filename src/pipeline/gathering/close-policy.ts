/** When a run closes if nothing more arrives, and as what. */
import type { Collector } from '../../../collectors/collector.ts';
import type { Completeness, ToolDefinition } from '../../model/agent-trace.ts';
import { wire } from '../../model/attributes.ts';
import type { Draft } from '../assembly/assemble.ts';
import type { Trace } from './trace-table.ts';

export interface ClosingTimes {
  readonly settleMs: number;
  /** The same where an exporter sends batches of spans. Absent: `settleMs`. */
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
  trace: Arrival & Pick<Trace, 'lastMs'>,
  closing: ClosingTimes,
): { readonly atMs: number; readonly completeness: Completeness } {
  if (!draft.rootArrived) return { atMs: trace.lastMs + closing.abandonMs, completeness: 'abandoned' };
  if (draft.waitsFor.length > 0) return { atMs: draft.lastArrivedMs + closing.quietMs, completeness: 'partial' };
  // Its parent may still come and show that it works for another agent; one export interval is long enough to wait.
  if (draft.parentMissing) return { atMs: draft.lastArrivedMs + closing.quietMs, completeness: 'complete' };
  // Other traces may continue a fragment.
  const settleMs = draft.fragment === undefined ? settleMsOf(trace, closing) : closing.settleMs;
  return { atMs: draft.lastArrivedMs + settleMs, completeness: 'complete' };
}

type Arrival = Pick<Trace, 'isBatched' | 'records'>;

/**
 * An exporter that sends batches sends one after the other, in the order in which spans end. So once the agent's span has arrived, no span that
 * ended before it is still under way. Requests with one span each overtake one another. Log records have an exporter of their own.
 */
export function settleMsOf({ isBatched, records }: Arrival, { settleMs, batchedSettleMs = settleMs }: ClosingTimes): number {
  return isBatched && records.size === 0 ? batchedSettleMs : settleMs;
}

/** What a configuration says about runs that are still gathered. It may be exchanged while they are. */
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
  /** By name. */
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

/** What the gathering holds at most. */
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
