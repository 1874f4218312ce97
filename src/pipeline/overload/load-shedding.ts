/**
 * How hard pressed the service is, in levels that each give up more than the one before: first the questions to judges, then the content
 * that the store would keep, then requests. Rules on a run whose spans were taken are never given up. Pure under its clock.
 *
 * A level is entered at once and left late: when every strain has stayed below its `leaveShare` of the bounds of the level for `calmMs`.
 */
import type { Context } from '../../telemetry/context.ts';

/** In the order of what they give up. */
export const loadSheddingLevels = ['calm', 'shed_judges', 'shed_content', 'refuse'] as const;
export type LoadSheddingLevel = (typeof loadSheddingLevels)[number];

export interface LoadShedding {
  /** Called regularly with what bears now. `isBurst`: what came lately fits in memory, so closing may be late up to its bound before anything is shed. */
  observe(strains: Pressures, isBurst?: boolean): void;
  level(): LoadSheddingLevel;
  /** The greatest strain of those that make the level; `undefined` while calm. */
  cause(): PressureName | undefined;
  /** The cause's strain, in parts of what it takes to refuse for it. */
  burden(): number;
  /** The strain that requires that no more is taken than gets done; `undefined` when there is none. */
  pressing(): PressureName | undefined;
  /** True when even senders of little are refused. */
  refusesAll(): boolean;
}

/** How long strains must have been lower, for a level to be left. */
export const calmMs = 500;

export function loadShedding({ clock, telemetry }: Pick<Context, 'clock' | 'telemetry'>): LoadShedding {
  let level = 0;
  let cause: PressureName | undefined;
  let burden = 0;
  let isFull = false;
  let pressing: PressureName | undefined;
  let seenMs = clock.nowMs();
  /** Since when all strains would allow a lower level, and the highest that they allowed since. */
  let lower: { readonly sinceMs: number; readonly level: number } | undefined;
  telemetry.set('tracejury.stress.level', level);

  /** Time counts for the level that held until now. */
  function countTime(nowMs: number): void {
    telemetry.add('tracejury.stress.time', Math.max(0, nowMs - seenMs) / 1_000, {
      'tracejury.stress.level': loadSheddingLevels[level] ?? '',
    });
    seenMs = nowMs;
  }

  function settle(nowMs: number, entered: number, kept: number): void {
    if (entered >= level || kept >= level) {
      level = Math.max(level, entered);
      lower = undefined;
      return;
    }
    lower = { sinceMs: lower?.sinceMs ?? nowMs, level: Math.max(kept, lower?.level ?? 0) };
    if (nowMs - lower.sinceMs < calmMs) return;
    level = lower.level;
    lower = undefined;
  }

  return {
    observe(strains, isBurst = false) {
      const nowMs = clock.nowMs();
      countTime(nowMs);
      const shedding = isBurst && strains.closing < pressureThresholds.closing.refuse ? { ...strains, closing: 0 } : strains;
      settle(
        nowMs,
        levelOf(shedding, () => 1),
        levelOf(shedding, (name) => pressureThresholds[name].leaveShare),
      );
      cause = level === 0 ? undefined : mostOf(strains);
      burden = cause === undefined ? 0 : strains[cause] / refuseAt(cause);
      pressing = pressureNames.find((name) => strains[name] >= pressureThresholds[name].ease);
      isFull = pressureNames.some((name) => strains[name] >= pressureThresholds[name].refuseAll);
      telemetry.set('tracejury.stress.level', level);
      for (const name of pressureNames) telemetry.set('tracejury.stress.strain', strains[name], { 'tracejury.strain': name });
    },
    level: () => loadSheddingLevels[level] ?? 'refuse',
    cause: () => cause,
    burden: () => burden,
    pressing: () => pressing,
    refusesAll: () => isFull,
  };
}

/** The highest level for which one of the strains reaches such a share of its bound. */
function levelOf(strains: Pressures, shareOf: (name: PressureName) => number): number {
  return pressureNames.reduce((highest, name) => {
    const { shedJudges, shedContent, refuse } = pressureThresholds[name];
    const own = [shedJudges, shedContent, refuse].findLastIndex((bound) => strains[name] >= bound * shareOf(name)) + 1;
    return Math.max(highest, own);
  }, 0);
}

/** Those that refuse by themselves do it at what they can bear. */
function refuseAt(name: PressureName): number {
  const { refuse } = pressureThresholds[name];
  return Number.isFinite(refuse) ? refuse : 1;
}

function mostOf(strains: Pressures): PressureName | undefined {
  return pressureNames.reduce<PressureName | undefined>(
    (most, name) => (most === undefined || strains[name] / refuseAt(name) > strains[most] / refuseAt(most) ? name : most),
    undefined,
  );
}

export interface PressureThresholds {
  /** From here on no judge is asked. */
  readonly shedJudges: number;
  /** From here on the store keeps only verdicts, no content. */
  readonly shedContent: number;
  /** From here on no more is taken than gets done. */
  readonly ease: number;
  /** From here on requests are refused. */
  readonly refuse: number;
  /** From here on also those of senders that take little. */
  readonly refuseAll: number;
  /** Share of the bounds at which a level was entered: below it the level may be left. */
  readonly leaveShare: number;
}

const never = Infinity;

export const pressureThresholds = {
  /** Bytes of requests that are not answered yet, of those that may be in flight. Each request is refused by itself when there is no room for it. */
  in_flight: { shedJudges: 0.5, shedContent: 0.75, ease: never, refuse: never, refuseAll: never, leaveShare: 0.8 },
  /** Bytes of open traces, as a share of the limit. At the bound the oldest would be closed early. */
  open_traces: { shedJudges: 0.7, shedContent: 0.8, ease: 0.85, refuse: 0.95, refuseAll: 0.99, leaveShare: 0.8 },
  /** How late closing is, of `limits.closing_lag`. */
  closing: { shedJudges: 0.25, shedContent: 0.5, ease: 0.2, refuse: 1, refuseAll: 2, leaveShare: 0.8 },
  /** How late the event loop is, of a second. */
  event_loop: { shedJudges: 0.4, shedContent: 0.6, ease: 0.7, refuse: 1, refuseAll: 2, leaveShare: 0.8 },
  /** Bytes of the journal that hold records, of `limits.journal_bytes`. Judges and content take none of them. */
  journal: { shedJudges: never, shedContent: never, ease: never, refuse: 1, refuseAll: 1, leaveShare: 0.8 },
  /** Requests that have not gone on to the target of `forward`, of those that may wait. Their bytes are the journal's. */
  forward: { shedJudges: never, shedContent: never, ease: never, refuse: 1, refuseAll: 1, leaveShare: 0.8 },
  /** Runs that wait for the store, of those that may. Refusing would not help: it drops the oldest by itself when it cannot be written. */
  store: { shedJudges: 0.3, shedContent: 0.3, ease: 0.05, refuse: never, refuseAll: never, leaveShare: 0.8 },
  /** Resident memory of the process, of `limits.memory_bytes`. Closed traces go before anything is shed, so it is never far below. */
  memory: { shedJudges: 0.95, shedContent: 1, ease: never, refuse: 1.05, refuseAll: 1.1, leaveShare: 0.95 },
} as const satisfies { readonly [name: string]: PressureThresholds };

export type PressureName = keyof typeof pressureThresholds;
/** Shares: 0 is at rest. */
export type Pressures = { readonly [name in PressureName]: number };

export const pressureNames = Object.keys(pressureThresholds) as readonly PressureName[];
