/** The part of a store that tells single verdicts for figures over many runs, a page at a time. */
import type { RunKey } from '../agent-trace.ts';
import type { Tenant } from '../ids.ts';
import type { VerdictWord } from '../verdict.ts';
import type { Micros } from '../timestamp.ts';

export interface VerdictRows {
  /** Evaluators with verdicts in the store, by name; `kind` is that of the newest verdict. At most `evaluatorsMax`. */
  evaluators(): Promise<readonly { readonly name: string; readonly kind: string }[]>;
  /** From when on the newest `runsMax` runs of a period started: `from` where there are no more. */
  since(query: RunPeriod & { readonly runsMax: number }): Promise<Micros>;
  /** Verdicts of one evaluator, newest run first. */
  page(query: RunPeriod & { readonly name: string; readonly limit: number; readonly after?: RowPlace }): Promise<VerdictRowPage>;
  /** How runs ended for one evaluator; `waiting`: they have not. A run that has a verdict and is asked about anew does not wait. */
  decided(query: RunPeriod & { readonly name: string; readonly weightMax?: number }): Promise<readonly DecidedRuns[]>;
}

export const evaluatorsMax = 1_000;

/** Runs that started from `from` on, before `to`. */
export interface RunPeriod {
  readonly from: Micros;
  readonly to: Micros;
  readonly agent?: string;
  /** Absent: of all tenants. */
  readonly tenant?: Tenant;
}

export interface VerdictRow extends RunKey {
  readonly agent: string | undefined;
  readonly sessionId: string | undefined;
  readonly word: VerdictWord;
  readonly score: number | undefined;
  readonly label: string;
  readonly sampleProbability: number;
}

/** Where a row stands. */
export interface RowPlace {
  readonly startedAt: Micros;
  readonly id: number;
}

export interface VerdictRowPage {
  readonly rows: readonly VerdictRow[];
  /** Undefined: there are no more. */
  readonly next: RowPlace | undefined;
}

export interface DecidedRuns {
  readonly agent: string | undefined;
  readonly decision: string;
  readonly runs: number;
  /** Of these, without a verdict: those that were chosen, */
  readonly chosen: number;
  /** the Σ 1 / p of them, by the probabilities with which they were, each `weightMax` at most, */
  readonly weight: number;
  /** and those that were not chosen, or of which an older release has not noted it. */
  readonly unchosen: number;
}
