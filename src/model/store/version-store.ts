/**
 * The part of a store with figures by version of an agent. It keeps sums of runs by time, version and evaluator, so that a look costs as
 * much as the sums and not as the runs. The sums of a version stay when its runs are pruned, for a comparison counts all of them.
 */
import type { Tenant } from '../ids.ts';
import type { Micros } from '../timestamp.ts';

export interface VersionStore {
  /** Sums again the times whose runs have changed, the newest first. Resolves with `true` when more are left. */
  refresh(options: RefreshOptions): Promise<boolean>;
  /** Number of times that are to be summed again, at most `limit`. */
  changedTimes(limit: number): Promise<number>;
  /** Sums over the given runs, by what `by` names. */
  figures(query: VersionQuery): Promise<readonly VersionFigure[]>;
  /** The latest states of alerts. */
  alertStates(): Promise<readonly AlertStateRow[]>;
  /** Writes states, and removes those of other alerts. */
  keepAlertStates(states: readonly AlertStateRow[]): Promise<void>;
  /** The notes of people on alerts, the oldest first. */
  alertMarks(): Promise<readonly AlertMark[]>;
  /** Replaces all marks by others, in one transaction; the same list changes nothing. Resolves with the marks that are then there. */
  changeAlertMarks(next: (before: readonly AlertMark[]) => readonly AlertMark[]): Promise<readonly AlertMark[]>;
}

/** A silence, or an acknowledgement. */
export interface AlertMark {
  readonly kind: 'silence' | 'acknowledged';
  readonly alert: string;
  /** `undefined`: all agents of the alert; empty: runs without an agent's name. */
  readonly agent: string | undefined;
  /** Tenant of the alert; empty when it is about all. */
  readonly tenant: string;
  readonly by: string;
  readonly note: string;
  readonly atMs: number;
  /** End of a silence; `undefined` for an acknowledgement. */
  readonly untilMs: number | undefined;
  /** Since when the acknowledged alert fires. */
  readonly firingMs: number | undefined;
}

export interface RefreshOptions {
  readonly now: Micros;
  /** Sums of runs before it become one sum for each version, and go when the version has had no run since. */
  readonly keepFrom: Micros;
  /** When true, leaves out the time that has not ended, to which runs still come. */
  readonly endedOnly?: boolean;
  /** Sums only times from this one on, and does nothing else. Defaults to all. */
  readonly changedFrom?: Micros;
}

/**
 * run: runs. pass: verdicts with a pass or fail, by evaluator; the value is 1 or 0. score: those without, by evaluator; the value is the score.
 * duration: runs by bucket of their duration, see `src/statistics/duration-bins.ts`. took: microseconds. input_tokens, output_tokens, cost: of the
 * runs that report them. model, prompt: runs by model, and by hash of the system prompt. status: runs that ended in an error or paused, by status.
 */
export const versionFigureKinds = [
  'run',
  'pass',
  'score',
  'duration',
  'took',
  'input_tokens',
  'output_tokens',
  'cost',
  'model',
  'prompt',
  'status',
  // Verdicts in sessions, by evaluator, and runs by `runsOfSession`: pairs of two in one session, each in both orders.
  'session',
] as const;
/** No evaluator has this name. */
export const runsOfSession = '';

export type VersionFigureKind = (typeof versionFigureKinds)[number];

export interface VersionQuery {
  /** Omitted for all agents. The empty text means runs without an agent. */
  readonly agent?: string;
  /** The empty text: runs without a version. */
  readonly version?: string;
  readonly tenant?: Tenant;
  /** Runs from this time on, to the width of a sum. Omitted for all. */
  readonly from?: Micros;
  readonly kinds: readonly VersionFigureKind[];
  /** Name of the evaluator, model or prompt. */
  readonly name?: string;
  /** When true, also by task, for runs with one. */
  readonly byTask?: boolean;
  /** When true, over all versions together. */
  readonly allVersions?: boolean;
  /** Only this many agents of each tenant, those with the most runs. Their rows come first by rank, so that no tenant crowds out another one. */
  readonly topAgents?: number;
}

export interface VersionFigure {
  readonly agent: string;
  readonly version: string;
  /** Empty: over all tasks. */
  readonly task: string;
  readonly kind: VersionFigureKind;
  readonly name: string;
  readonly runs: number;
  /** Σ w, with w = 1 / p for verdicts and 1 otherwise. */
  readonly weight: number;
  /** Σ w·value. */
  readonly value: number;
  /** Σ s, with s the least probability that a run could have had, divided by its own: 1 where it was not raised. */
  readonly share: number;
  /** Σ s·value. */
  readonly shareValue: number;
  /** Start of the first and of the last run. */
  readonly firstAt: Micros;
  readonly lastAt: Micros;
}

/** Rows of one answer; the others are left out. */
export const versionFiguresMax = 50_000;

export interface AlertStateRow {
  readonly alert: string;
  /** The agent that it looks at; empty: all. */
  readonly agent: string;
  /** JSON. */
  readonly state: string;
}
