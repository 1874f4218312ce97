/** What bounds the service as a whole: memory, closing, journal, store, and how hard these press. */
import type { Config } from '../config/config.ts';
import type { Clock, Sleep } from '../model/clock.ts';
import { fairShare, type FairShare } from '../pipeline/overload/fair-share.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import { pressureThresholds } from '../pipeline/overload/load-shedding.ts';
import type { ByteLeases } from '../receivers/byte-budget.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';
import { memoryGuard, type Memory } from './memory-guard.ts';
import { overloadMonitor, type OverloadMonitor } from './overload-monitor.ts';

/** Of `limits.memory_bytes`, in bytes on the wire: what open and closed traces hold. The real size is looked at as well. */
export const tracesShare = 0.25;
/** Likewise what a journal in memory holds until it is stored; open traces stand on the same bytes. */
export const journalShare = 3 / 16;
/** Likewise the bodies of requests that are not answered yet. They are held twice while they are put together. */
export const inFlightShare = 1 / 8;
/** Requests in flight that only gRPC may use: its exporters in JavaScript do not come back after a refusal, those of HTTP do. */
export const grpcReserveShare = 1 / 32;
/** What the process takes whatever is configured: its code, its young objects, room for a few large requests. */
const residentBytesLeast = 320 * 1024 * 1024;
/** When the service holds less than this share of its memory, giving up anything would not make it smaller: then its size bears no more than this. */
const holdsLittleShare = 1 / 32;
const smallShare = 0.9;

export interface OverloadOptions {
  readonly limits: Config['limits'];
  readonly flow: Pick<Pipeline, 'bytes' | 'openBytes' | 'isOldestActive' | 'relieve' | 'nextDueMs'>;
  readonly leases: Pick<ByteLeases, 'fill' | 'bytesMax'>;
  /** Shares of what may be used. */
  readonly journalFill: () => number;
  readonly storeFill: () => number;
  readonly forwardFill: () => number;
  /** Looks at the deadlines again: what memory let go may have to close. */
  readonly wake: () => void;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
  readonly random: () => number;
  readonly memory: Memory;
  readonly onFault: (error: unknown) => void;
}

export interface Overload extends OverloadMonitor {
  /** What each sender sends. */
  readonly shares: FairShare;
  readonly spareBytesMax: () => number;
}

export function overload(options: OverloadOptions): Overload {
  const { limits, flow, leases, telemetry, clock } = options;
  const residentBytesMax = Math.max(limits.memoryBytes, residentBytesLeast);
  const heldBytesMax = limits.memoryBytes * tracesShare;
  const guard = memoryGuard({
    ...options,
    residentBytesMax,
    heldBytesMax,
    heldBytes: flow.bytes,
    relieve() {
      flow.relieve();
      options.wake();
    },
  });

  /** A process that is large and holds nothing would be pressed for ever. */
  function memoryStrain(): number {
    const share = guard.look();
    telemetry.set('tracejury.process.resident', options.memory.residentBytes());
    const held = flow.openBytes() + leases.fill() * leases.bytesMax;
    return held < limits.memoryBytes * holdsLittleShare ? Math.min(share, smallShare) : share;
  }

  /** Waiting helps only where traces close by themselves: when nothing comes to the oldest any more, it is closed for want of room instead. */
  function openTraces(): number {
    const share = flow.openBytes() / heldBytesMax;
    return share < pressureThresholds.open_traces.refuse || flow.isOldestActive() ? share : pressureThresholds.open_traces.shedContent;
  }

  const watch = overloadMonitor({
    ...options,
    closingLagMs: limits.closingLagMs,
    retryAfterMaxSeconds: limits.retryAfterMs / 1_000,
    read: () => ({
      in_flight: leases.fill(),
      open_traces: openTraces(),
      openBytes: flow.openBytes(),
      overdueMs: Math.max(0, clock.nowMs() - (flow.nextDueMs() ?? Infinity)),
      journal: options.journalFill(),
      store: options.storeFill(),
      forward: options.forwardFill(),
      memory: memoryStrain(),
    }),
  });
  const shares = fairShare({ clock });
  return {
    ...watch,
    shares: {
      ...shares,
      took(sender, bytes) {
        shares.took(sender, bytes);
        watch.took(bytes);
      },
    },
    spareBytesMax: guard.spareBytesMax,
  };
}
