/** The part of a store that keeps drift measurements: verdicts of judges on fixed sets of runs over time. */
import type { VerdictWord } from '../verdict.ts';
import type { Micros } from '../timestamp.ts';
import type { JsonObject } from '../json.ts';

/** Comparable measurements of one evaluator: the same question, asked in the same way, about the same runs. */
export interface DriftSeries {
  /** Number of the series, from 1. */
  readonly number: number;
  readonly beganAt: Micros;
  /** The judge and the question; a change ends the series. */
  readonly asked: JsonObject;
  /** Differences from the previous series, as sentences; empty for the first one. */
  readonly because: readonly string[];
}

/** `open`: in progress. `kept`: it counts. `unfinished`: too few runs got a verdict, so it does not count. */
export const driftStates = ['open', 'kept', 'unfinished'] as const;
export type DriftState = (typeof driftStates)[number];

export interface DriftMeasurement {
  /** Name of the configured evaluator. */
  readonly name: string;
  readonly series: DriftSeries;
  /** Number of the measurement; 0 is the baseline. */
  readonly look: number;
  readonly state: DriftState;
  readonly beganAt: Micros;
  /** `undefined` while it is open. */
  readonly endedAt: Micros | undefined;
  /** Size of the set. */
  readonly runs: number;
  readonly answers: readonly DriftAnswer[];
  /** Comparison with the baseline; `undefined` for the baseline, and for one that does not count. */
  readonly result: DriftResult | undefined;
}

export interface DriftAnswer {
  /** Hash of the run's content, which identifies it in its set. */
  readonly run: string;
  readonly word: VerdictWord;
  /** Number of attempts. */
  readonly tries: number;
}

/** Runs that passed or failed in both measurements. */
export interface DriftCounts {
  readonly stayedPass: number;
  readonly stayedFail: number;
  readonly toPass: number;
  readonly toFail: number;
}

export const driftWords = ['passes_more', 'passes_less', 'no_change_shown'] as const;
export type DriftWord = (typeof driftWords)[number];

export interface DriftResult {
  readonly counts: DriftCounts;
  /** Planned number of measurements; `undefined` for any number. */
  readonly planned: number | undefined;
  readonly word: DriftWord;
  /** The change that this measurement shows, or else the last one that the series has shown. */
  readonly shown: DriftWord;
}

/** Limit per evaluator; the oldest go first, except the baseline of the newest series. */
export const driftMeasurementsMax = 400;

export interface DriftStore {
  /** Names of evaluators with measurements. */
  names(): Promise<readonly string[]>;
  /** Measurements of all series, newest first. */
  looks(query: { readonly name: string; readonly state?: DriftState; readonly limit: number }): Promise<readonly DriftMeasurement[]>;
  /** `undefined` when no baseline counts. */
  baseline(name: string, series: number): Promise<DriftMeasurement | undefined>;
  /** Replaces the measurement of the same series and number. */
  write(look: DriftMeasurement): Promise<void>;
}
