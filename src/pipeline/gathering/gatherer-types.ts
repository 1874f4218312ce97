/** What the gathering of spans offers, and what it needs. */
import type { Collector } from '../../../collectors/collector.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { Clock } from '../../model/clock.ts';
import type { Tenant } from '../../model/ids.ts';
import type { LogRecord, Span } from '../../model/span.ts';
import type { Steps } from '../../runtime/cooperative.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import type { GatheringSettings, GroupLimits } from './close-policy.ts';
import type { Reopening } from './late-spans.ts';
import type { SlabAllocator } from './slab-allocator.ts';
import type { JournalReferences } from './journal-references.ts';

export interface Gathering extends Reopening {
  /** `position` tells where the journal has the request that they came with, `origin` where it had it before it was written again. */
  addSpans(tenant: Tenant, spans: readonly Span[], position?: number, origin?: number): void;
  addRecords(tenant: Tenant, records: readonly LogRecord[], position?: number): void;
  readonly standings: JournalReferences;
  /**
   * Runs that close now; does no more than so many pieces of looking and as many of closing, so that whoever asks can do other work in between. Without any (0) it gives those
   * that had to close for want of room: a journal is told at once that they are finished, so they are asked for in the turn in which something was added or let go.
   */
  due(piecesMax?: number): readonly Run[];
  /** When to ask again, in milliseconds since the epoch; undefined while nothing waits. */
  nextDueMs(): number | undefined;
  /** Closes everything that is open, for the end of the process. */
  closeAll(): readonly Run[];
  /** For everything that closes from now on. What was looked at and has not closed yet is looked at again. */
  exchange(settings: GatheringSettings): void;
  /** Brings what is held within the limits, when one of them has become tighter. What closes is due at once. */
  relieve(): void;
  /** Makes the spans of so many open traces smaller to which nothing has come for a while. */
  packIdle(tracesMax: number): void;
  /** True: spans still come to the open trace that was begun first. */
  isOldestActive(): boolean;
  readonly bytes: () => number;
  /** Of these, what belongs to traces that are not done. */
  readonly openBytes: () => number;
  readonly traces: () => number;
}

export interface GatheringOptions extends GatheringSettings {
  readonly collectors: readonly Collector[];
  readonly clock: Clock;
  readonly telemetry: Telemetry;
  readonly limits?: GroupLimits;
  /** Makes the spans of traces smaller that are open for long; absent: they stay as long as they are. */
  readonly squeeze?: SlabAllocator;
  /** Work on a large run, a piece at a time, before it closes: once it has closed, its verdicts must come in the same turn. */
  readonly beforeClose?: (run: Run) => Steps<void>;
  /** Told of the keys of traces of which nothing is open any more, or that have shown no run so far; the verdicts of their runs come in the same turn. */
  readonly settled?: (keys: readonly string[]) => void;
}
