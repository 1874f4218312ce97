/** The part of a store that keeps what judges said of fixed sets of runs, look by look. */
import type { VerdictWord } from '../verdict.ts';
import type { Micros } from '../timestamp.ts';
import type { JsonObject } from '../json.ts';

/** Looks of one evaluator that can be compared: all were asked the same, in the same way, about the same runs. */
export interface DriftSeries {
  /** From 1, of this evaluator. */
  readonly number: number;
  readonly beganAt: Micros;
  /** Who was asked what: a series ends when it differs. */
  readonly asked: JsonObject;
  /** In words, what differs from the series before; empty: it is the first one. */
  readonly because: readonly string[];
}

/** `open`: it is being asked. `kept`: it counts. `unfinished`: too few runs got a verdict, so it counts for nothing. */
export const driftStates = ['open', 'kept', 'unfinished'] as const;
export type DriftState = (typeof driftStates)[number];

export interface DriftMeasurement {
  /** Of the configured evaluator. */
  readonly name: string;
  readonly series: DriftSeries;
  /** 0 is the baseline. */
  readonly look: number;
  readonly state: DriftState;
  readonly beganAt: Micros;
  /** Undefined while it is open. */
  readonly endedAt: Micros | undefined;
  /** Runs of the set. */
  readonly runs: number;
  readonly answers: readonly DriftAnswer[];
  /** Beside the baseline; undefined: it is the baseline, or does not count. */
  readonly result: DriftResult | undefined;
}

export interface DriftAnswer {
  /** Of the run in its set: a hash of what it holds. */
  readonly run: string;
  readonly word: VerdictWord;
  /** How often it was asked for. */
  readonly tries: number;
}

/** Runs that passed or failed both then and now. */
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
  /** Looks that the series has at most; undefined: any number. */
  readonly planned: number | undefined;
  readonly word: DriftWord;
  /** Of this look where it shows a change, else of the last look of its series that showed one. */
  readonly shown: DriftWord;
}

/** Of one evaluator the newest looks stay; the baseline of its newest series does in any case. */
export const driftMeasurementsMax = 400;

export interface DriftStore {
  /** Evaluators with looks, by name. */
  names(): Promise<readonly string[]>;
  /** Newest first, of all series. */
  looks(query: { readonly name: string; readonly state?: DriftState; readonly limit: number }): Promise<readonly DriftMeasurement[]>;
  /** Undefined: there is none that counts. */
  baseline(name: string, series: number): Promise<DriftMeasurement | undefined>;
  /** Takes the place of the look of the same number and series. */
  write(look: DriftMeasurement): Promise<void>;
}
