/** The part of a store that lists single verdicts for rates over many runs, in pages. */
import type { RunKey } from '../agent-trace.ts';
import type { Tenant } from '../ids.ts';
import type { SampledBy, VerdictWord } from '../verdict.ts';
import type { Micros } from '../timestamp.ts';

export interface VerdictRows {
  /** Names of evaluators with verdicts, up to `evaluatorsMax`; `kind` is that of the newest verdict. */
  evaluators(): Promise<readonly { readonly name: string; readonly kind: string }[]>;
  /** Start of the oldest among the newest `runsMax` runs of a period; `from` when there are fewer. */
  since(query: RunPeriod & { readonly runsMax: number }): Promise<Micros>;
  /** Verdicts of one evaluator, newest run first. */
  page(query: RunPeriod & { readonly name: string; readonly limit: number; readonly after?: RowPlace }): Promise<VerdictRowPage>;
  /** Decisions of one evaluator; `waiting`: without a decision yet. A run with a verdict does not wait while it is evaluated again. */
  decided(query: RunPeriod & { readonly name: string; readonly weightMax?: number }): Promise<readonly DecidedRuns[]>;
}

export const evaluatorsMax = 1_000;

/** Runs by start: `from` inclusive, `to` exclusive. */
export interface RunPeriod {
  readonly from: Micros;
  readonly to: Micros;
  readonly agent?: string;
  /** Omitted for all tenants. */
  readonly tenant?: Tenant;
  /** Version of the agent. */
  readonly version?: string;
  /** Model of the agent. */
  readonly model?: string;
  /** Hash of the system prompt. */
  readonly prompt?: string;
}

/** The properties that can split figures about runs. */
export const runSplits = ['version', 'model', 'prompt'] as const;
export type RunSplit = (typeof runSplits)[number];

/** Values of a split with separate figures: those of the most runs. The others count together as `other`. */
export const splitValuesMax = 20;
export const otherSplit = 'other';

export interface VerdictRow extends RunKey, SampledBy {
  readonly agent: string | undefined;
  readonly version: string | undefined;
  readonly model: string | undefined;
  readonly prompt: string | undefined;
  readonly sessionId: string | undefined;
  readonly word: VerdictWord;
  readonly score: number | undefined;
  readonly label: string;
  readonly sampleProbability: number;
}

/** Position of a row. */
export interface RowPlace {
  readonly startedAt: Micros;
  readonly id: number;
}

export interface VerdictRowPage {
  readonly rows: readonly VerdictRow[];
  /** `undefined` on the last page. */
  readonly next: RowPlace | undefined;
}

export interface DecidedRuns {
  readonly agent: string | undefined;
  readonly decision: string;
  readonly runs: number;
  /** Chosen runs without a verdict. */
  readonly chosen: number;
  /** Σ 1 / p of these, by their probability, each at most `weightMax`. */
  readonly weight: number;
  /** Runs that were not chosen, or for which an older release recorded no choice. */
  readonly unchosen: number;
}
