/**
 * How hard pressed the service is, in levels, each of which gives up more than the one before: first the questions to judges, then the content
 * that the store would keep, then requests. What is never given up: rules on a run whose spans were taken. Pure under its clock.
 *
 * A level is entered at once and left late: when every strain has stayed below its `leaveShare` of the bounds of the level for `calmMs`.
 */
import type { Clock } from '../../model/clock.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { strainBounds, strainNames, type StrainName, type Strains } from './pressure-thresholds.ts';

/** In the order of what they give up. */
export const stressLevels = ['calm', 'shed_judges', 'shed_content', 'refuse'] as const;
export type StressLevel = (typeof stressLevels)[number];

export interface Stress {
  /** Called regularly with what bears now. */
  observe(strains: Strains): void;
  level(): StressLevel;
  /** What bears most, of those that make the level; undefined while calm. */
  cause(): StrainName | undefined;
  /** The cause's strain, in parts of what it takes to refuse for it. */
  burden(): number;
  /** What presses so much that no more is to be taken than gets done; undefined: nothing does. */
  pressing(): StrainName | undefined;
  /** True: not even senders that take little are let in. */
  refusesAll(): boolean;
}

export interface StressOptions {
  readonly clock: Clock;
  readonly telemetry: Telemetry;
}

/** How long strains must have been lower, for a level to be left. */
export const calmMs = 500;

export function stress({ clock, telemetry }: StressOptions): Stress {
  let level = 0;
  let cause: StrainName | undefined;
  let burden = 0;
  let isFull = false;
  let pressing: StrainName | undefined;
  let seenMs = clock.nowMs();
  /** Since when all strains would allow a lower level, and the highest that they allowed since. */
  let lower: { readonly sinceMs: number; readonly level: number } | undefined;
  telemetry.set('tracejury.stress.level', level);

  /** Time counts for the level that held until now. */
  function countTime(nowMs: number): void {
    telemetry.add('tracejury.stress.time', Math.max(0, nowMs - seenMs) / 1_000, { 'tracejury.stress.level': stressLevels[level] ?? '' });
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
    observe(strains) {
      const nowMs = clock.nowMs();
      countTime(nowMs);
      settle(nowMs, levelOf(strains, () => 1), levelOf(strains, (name) => strainBounds[name].leaveShare));
      cause = level === 0 ? undefined : mostOf(strains);
      burden = cause === undefined ? 0 : strains[cause] / refuseAt(cause);
      pressing = strainNames.find((name) => strains[name] >= strainBounds[name].ease);
      isFull = strainNames.some((name) => strains[name] >= strainBounds[name].refuseAll);
      telemetry.set('tracejury.stress.level', level);
      for (const name of strainNames) telemetry.set('tracejury.stress.strain', strains[name], { 'tracejury.strain': name });
    },
    level: () => stressLevels[level] ?? 'refuse',
    cause: () => cause,
    burden: () => burden,
    pressing: () => pressing,
    refusesAll: () => isFull,
  };
}

/** The highest level for which one of the strains reaches such a share of its bound. */
function levelOf(strains: Strains, shareOf: (name: StrainName) => number): number {
  return strainNames.reduce((highest, name) => {
    const { shedJudges, shedContent, refuse } = strainBounds[name];
    const own = [shedJudges, shedContent, refuse].findLastIndex((bound) => strains[name] >= bound * shareOf(name)) + 1;
    return Math.max(highest, own);
  }, 0);
}

/** Those that refuse by themselves do it at what they can bear. */
function refuseAt(name: StrainName): number {
  const { refuse } = strainBounds[name];
  return Number.isFinite(refuse) ? refuse : 1;
}

function mostOf(strains: Strains): StrainName | undefined {
  return strainNames.reduce<StrainName | undefined>((most, name) => (most === undefined || strains[name] / refuseAt(name) > strains[most] / refuseAt(most) ? name : most), undefined);
}
