/** Measures the pressure on the service ten times a second, and decides which work it sheds. */
import type { Clock, Sleep } from '../model/clock.ts';
import { intakePace, retryAfter } from '../pipeline/overload/admission-rate.ts';
import {
  type PressureName,
  type Pressures,
  loadShedding,
  loadSheddingLevels,
  type LoadSheddingLevel,
} from '../pipeline/overload/load-shedding.ts';
import type { Admission, Ingest } from '../model/ingest.ts';
import { periodicTask, type PeriodicTask } from '../runtime/periodic-task.ts';
import type { Telemetry } from '../telemetry/telemetry.ts';

/** What only the host can measure, ten times a second. */
export interface Readings extends Omit<Pressures, 'closing' | 'event_loop'> {
  /** How late the closing of runs is; 0: in time. */
  readonly overdueMs: number;
  /** Of spans that were taken and whose runs are not closed. */
  readonly openBytes: number;
}

export interface OverloadMonitorOptions {
  readonly clock: Clock;
  readonly sleep: Sleep;
  /** 0..1 */
  readonly random: () => number;
  readonly telemetry: Telemetry;
  readonly closingLagMs: number;
  readonly retryAfterMaxSeconds: number;
  readonly read: () => Readings;
  readonly onFault: (error: unknown) => void;
}

export interface OverloadMonitor extends Required<Pick<Ingest, 'admission' | 'putOff'>> {
  /** A request was taken, of so many bytes. */
  readonly took: (bytes: number) => void;
  /** False: a run goes without judges. Counts what is given up. */
  readonly keepsJudges: () => boolean;
  /** True: nothing has to be given up. */
  readonly isCalm: () => boolean;
  /** False: the store gets no content of a run. Counts what is given up. */
  readonly keepsContent: () => boolean;
  start(): void;
  /** May be called twice, and without `start`. */
  stop(): Promise<void>;
}

const measureEveryMs = 100;
/** As late as the event loop may be. */
const loopLagMs = 1_000;

export function overloadMonitor(options: OverloadMonitorOptions): OverloadMonitor {
  const { clock, sleep, telemetry, closingLagMs, read } = options;
  const levels = loadShedding(options);
  const pace = intakePace(options);
  const away = retryAfter({ maxSeconds: options.retryAfterMaxSeconds, random: options.random });
  let overdueMs = 0;
  /** One scan of a huge trace is no overload, so the smaller one of two lags in a row counts. */
  let lagMs = 0;
  let refusingSinceMs: number | undefined;
  /** What the pace was last bound for. */
  let paced: PressureName = 'closing';
  let measuredAtMs = clock.nowMs();
  let measuring: PeriodicTask | undefined;

  function measure(): void {
    observe(Math.max(0, clock.nowMs() - measuredAtMs - measureEveryMs));
    measuredAtMs = clock.nowMs();
  }

  function observe(lateMs: number): void {
    const { overdueMs: overdue, openBytes, ...shares } = read();
    overdueMs = overdue;
    levels.observe({ ...shares, closing: overdue / closingLagMs, event_loop: Math.min(lagMs, lateMs) / loopLagMs });
    lagMs = lateMs;
    const pressing = levels.level() === 'refuse' ? levels.cause() : levels.pressing();
    paced = pressing ?? paced;
    pace.observe({ openBytes, isPressed: pressing !== undefined });
    if (levels.level() !== 'refuse') refusingSinceMs = undefined;
    else refusingSinceMs ??= clock.nowMs();
  }

  function refusedFor(strain: PressureName): number {
    telemetry.add('tracejury.stress.refused', 1, { 'tracejury.strain': strain });
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
      const strain = refusesAny ? (levels.cause() ?? 'closing') : paced;
      return { refuse: strain === 'journal' ? 'journal_full' : 'overloaded', retryAfterSeconds: refusedFor(strain) };
    },
    putOff: refusedFor,
    took: pace.took,
    keepsJudges: () => keeps('judge', 'shed_judges'),
    isCalm: () => levels.level() === 'calm',
    keepsContent: () => keeps('content', 'shed_content'),
    start() {
      measuredAtMs = clock.nowMs();
      measuring ??= periodicTask({ everyMs: measureEveryMs, sleep, work: measure, onFault: options.onFault, restsFirst: true });
    },
    async stop() {
      await measuring?.stop();
    },
  };
}
