/** Measures the pressure on memory, closing, journal and store, and sheds load. */
import type { Config } from '../config/config.ts';
import type { Admission, Ingest } from '../model/ingest.ts';
import { intakePace, retryAfter } from '../pipeline/overload/admission-rate.ts';
import { heldRequests, type HoldingRequests } from '../pipeline/overload/held-requests.ts';
import { fairShare, type FairShare } from '../pipeline/overload/fair-share.ts';
import {
  loadShedding,
  type LoadSheddingLevel,
  loadSheddingLevels,
  type PressureName,
  type Pressures,
  pressureThresholds,
} from '../pipeline/overload/load-shedding.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { ByteLeases } from '../receivers/byte-budget.ts';
import type { Activity } from '../runtime/activity.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import { lateMs as closingLateMs } from './close-scheduler.ts';
import { type Memory, memoryGuard } from './memory-guard.ts';
import type { TaskContext } from '../telemetry/context.ts';

// Shares of `limits.memory_bytes`, in bytes on the wire.
/** Open and closed traces. The memory guard measures their real size as well. */
export const tracesShare = 0.25;
/** A journal in memory. Open traces share its bytes. */
export const journalShare = 3 / 16;
/** Bodies of requests without an answer. A body of unknown length needs its size twice while it grows. */
export const inFlightShare = 1 / 8;
/** Reserved for gRPC: its exporters in JavaScript do not retry after a refusal, those of HTTP do. */
export const grpcReserveShare = 1 / 32;
/** Requests that are held until there is room. */
const heldShare = 1 / 64;
/** The system and Node have read this much at most of a held request: less with HTTP/1.1, the window of a connection with gRPC. */
const heldRequestBytes = 256 * 1024;
/** A burst that is taken at once, of what open traces may hold: below what sheds judges. */
const burstShare = 0.6;
/** The process needs this much under any configuration: code, young objects, a few large requests. */
const residentBytesLeast = 320 * 1024 * 1024;
/** When spans and bodies take less than this share, shedding load frees nothing: the memory pressure then stays at `smallShare`, and a burst has room. */
const holdsLittleShare = 1 / 32;
const smallShare = 0.9;
/**
 * The allocator keeps what it once took from the system, so a full process does not become smaller when the service refuses: it only must not grow.
 * From `crampedFrom` on open traces may hold less, down to `crampedRoom` of their bytes from `crampedTo` on. That much bears a load that closes in time.
 */
const crampedFrom = 0.95;
const crampedTo = 1.05;
const crampedRoom = 0.25;

interface OverloadOptions extends TaskContext {
  readonly limits: Pick<Config['limits'], 'memoryBytes' | 'closingLagMs' | 'retryAfterMs'>;
  readonly flow: Pick<Pipeline, 'bytes' | 'openBytes' | 'isOldestActive' | 'relieve' | 'nextDueMs'>;
  readonly leases: Pick<ByteLeases, 'fill' | 'bytesMax'>;
  /** Shares of their limits. */
  readonly journalFill: () => number;
  readonly storeFill: () => number;
  readonly forwardFill: () => number;
  /** Reads the deadlines again: an evicted trace may be due. */
  readonly wake: () => void;
  /** Without it, the service measures at the same rate while nothing comes. */
  readonly activity?: Pick<Activity, 'rest' | 'isQuiet'>;
  readonly random: () => number;
  readonly memory: Memory;
}

export interface Overload extends OverloadMonitor {
  /** The share of each sender. */
  readonly shares: FairShare;
  readonly spareBytesMax: () => number;
  readonly held: HoldingRequests;
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

  /** A large process without spans would otherwise refuse requests for ever. */
  function memoryPressure(): number {
    const share = guard.measure();
    telemetry.set('tracejury.process.resident', options.memory.residentBytes());
    const held = flow.openBytes() + leases.fill() * leases.bytesMax;
    return held < limits.memoryBytes * holdsLittleShare ? Math.min(share, smallShare) : share;
  }

  /**
   * A refusal helps only while the oldest traces still receive spans; idle ones are evicted instead. A full process refuses senders that take much
   * before those that take little.
   */
  function openTraces(memory: number): number {
    const { refuse, shedContent } = pressureThresholds.open_traces;
    const share = flow.openBytes() / heldBytesMax;
    const pressure = Math.max(share, Math.min(share / roomOfOpenTraces(memory), refuse));
    return pressure < refuse || flow.isOldestActive() ? pressure : shedContent;
  }

  const held = heldRequests({ ...options, requestsMax: Math.floor((limits.memoryBytes * heldShare) / heldRequestBytes) });
  const watch = overloadMonitor({
    ...options,
    held,
    burstBytes: heldBytesMax * burstShare,
    closingLagMs: limits.closingLagMs,
    retryAfterMaxSeconds: limits.retryAfterMs / 1_000,
    read() {
      const memory = memoryPressure();
      return {
        in_flight: leases.fill(),
        open_traces: openTraces(memory),
        openBytes: flow.openBytes(),
        overdueMs: Math.max(0, clock.nowMs() - (flow.nextDueMs() ?? Infinity)),
        journal: options.journalFill(),
        store: options.storeFill(),
        forward: options.forwardFill(),
        memory,
      };
    },
  });
  const shares = fairShare({ clock });
  return {
    ...watch,
    held,
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

/** A share, of what open traces may hold while memory is free. */
function roomOfOpenTraces(memory: number): number {
  const cramped = Math.min(1, Math.max(0, (memory - crampedFrom) / (crampedTo - crampedFrom)));
  return 1 - cramped * (1 - crampedRoom);
}

/** The measurements of the host, ten times a second while requests come or work is done. */
export interface Readings extends Omit<Pressures, 'closing' | 'event_loop'> {
  /** Lag of the closing of runs; 0 when it is in time. */
  readonly overdueMs: number;
  /** Bytes of spans whose runs are open. */
  readonly openBytes: number;
}

interface OverloadMonitorOptions extends TaskContext {
  readonly activity?: Pick<Activity, 'rest' | 'isQuiet'>;
  /** 0..1 */
  readonly random: () => number;
  readonly closingLagMs: number;
  /** Bytes that are let in after a calm time under any pressure. */
  readonly burstBytes: number;
  readonly retryAfterMaxSeconds: number;
  readonly read: () => Readings;
  readonly held?: Pick<HoldingRequests, 'letIn' | 'isHolding'>;
}

export interface OverloadMonitor extends Required<Pick<Ingest, 'admission' | 'putOff' | 'outlook'>> {
  /** Records an accepted request of this size. */
  readonly took: (bytes: number) => void;
  /** `false` when a run goes without judges; counts the loss. */
  readonly keepsJudges: () => boolean;
  /** `true` while the service sheds nothing. */
  readonly isCalm: () => boolean;
  /** `true` while what comes fits in memory, so that it may be worked off later. */
  readonly hasBurst: () => boolean;
  /** `false` when the store gets no content of a run; counts the loss. */
  readonly keepsContent: () => boolean;
  start(): void;
  /** May be called twice, and without `start`. */
  stop(): Promise<void>;
}

/** A full journal waits for the store, and a target that takes nothing for its operator. Held requests would take of the memory that is scarce. */
function isLasting(pressure: PressureName | undefined): boolean {
  return pressure === 'journal' || pressure === 'forward' || pressure === 'memory';
}

const measureEveryMs = 100;
/** Lag of the event loop that counts as full pressure. */
const loopLagMs = 1_000;

/** Measures the pressure on the service, and decides which work it sheds. */
export function overloadMonitor(options: OverloadMonitorOptions): OverloadMonitor {
  const { clock, sleep, activity, telemetry, closingLagMs, read } = options;
  const levels = loadShedding(options);
  const pace = intakePace(options);
  const away = retryAfter({ maxSeconds: options.retryAfterMaxSeconds, random: options.random });
  let overdueMs = 0;
  /** One scan of a huge trace is not overload, so the smaller of two lags in a row counts. */
  let lagMs = 0;
  let refusingSinceMs: number | undefined;
  /** The last pressure that limited the admission rate. */
  let paced: PressureName = 'closing';
  let measuredAtMs = clock.nowMs();
  let measuring: PeriodicTask | undefined;
  /** The following rest may be a long one, which does not count as lag. */
  let mayRestLong = false;

  function measure(): void {
    observe(mayRestLong ? 0 : Math.max(0, clock.nowMs() - measuredAtMs - measureEveryMs));
    mayRestLong = !hasWork() && activity?.isQuiet(measureEveryMs) === true;
    measuredAtMs = clock.nowMs();
  }

  /** Limits are lifted by measuring. */
  const hasWork = (): boolean =>
    levels.level() !== 'calm' || levels.pressing() !== undefined || pace.isLimited() || options.held?.isHolding() === true;

  function observe(lateMs: number): void {
    const { overdueMs: overdue, openBytes, ...shares } = read();
    overdueMs = overdue;
    levels.observe({ ...shares, closing: overdue / closingLagMs, event_loop: Math.min(lagMs, lateMs) / loopLagMs }, pace.hasBurst());
    lagMs = lateMs;
    const pressing = levels.level() === 'refuse' ? levels.cause() : levels.pressing();
    paced = pressing ?? paced;
    pace.observe({
      openBytes,
      isPressed: pressing !== undefined,
      fitsBurst: shares.memory <= smallShare,
      isBehind: overdue >= closingLateMs,
    });
    if (levels.level() !== 'refuse') refusingSinceMs = undefined;
    else refusingSinceMs ??= clock.nowMs();
    options.held?.letIn();
  }

  function refusedFor(pressure: PressureName): number {
    telemetry.add('tracejury.stress.refused', 1, { 'tracejury.strain': pressure });
    const refusingSeconds = refusingSinceMs === undefined ? 0 : (clock.nowMs() - refusingSinceMs) / 1_000;
    return away.seconds({ lateSeconds: overdueMs / 1_000, burden: levels.burden(), refusingSeconds });
  }

  function keeps(what: 'judge' | 'content', from: LoadSheddingLevel): boolean {
    if (loadSheddingLevels.indexOf(levels.level()) < loadSheddingLevels.indexOf(from)) return true;
    telemetry.add('tracejury.stress.shed', 1, { 'tracejury.what': what, 'tracejury.strain': levels.cause() ?? '' });
    return false;
  }

  return {
    admission(isModest): Admission {
      const refusesAny = levels.level() === 'refuse';
      if (isModest ? !levels.refusesAll() : !refusesAny && pace.admits()) return 'open';
      const pressure = refusesAny ? (levels.cause() ?? 'closing') : paced;
      const waitSeconds = refusedFor(pressure);
      // While only the pace limits, there is room again within moments.
      return {
        refuse: pressure === 'journal' ? 'journal_full' : 'overloaded',
        retryAfterSeconds: refusesAny || isModest ? waitSeconds : Math.min(waitSeconds, pace.waitSeconds() + overdueMs / 1_000),
      };
    },
    outlook(isModest) {
      const refusesAny = levels.level() === 'refuse';
      if (isModest ? !levels.refusesAll() : !refusesAny && pace.hasRoom()) return 'open';
      return isLasting(refusesAny ? levels.cause() : paced) ? 'later' : 'soon';
    },
    putOff: refusedFor,
    took: pace.took,
    keepsJudges: () => keeps('judge', 'shed_judges'),
    isCalm: () => levels.level() === 'calm',
    hasBurst: pace.hasBurst,
    keepsContent: () => keeps('content', 'shed_content'),
    start() {
      measuredAtMs = clock.nowMs();
      measuring ??= periodicTask({
        everyMs: measureEveryMs,
        sleep,
        rest: activity?.rest,
        hasWork,
        work: measure,
        onFault: options.onFault,
        restsFirst: true,
      });
    },
    async stop() {
      await measuring?.stop();
    },
  };
}
