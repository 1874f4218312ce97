/** The part of a store that keeps experiments. Each run of each example has exactly one result, however often it is written. */
import type { Experiment, ExperimentResult, ExperimentState, Provenance, ResultStatus } from '../experiment.ts';
import type { Tenant } from '../ids.ts';
import type { Micros } from '../timestamp.ts';

export interface ExperimentKey {
  readonly tenant: Tenant;
  readonly id: string;
}

/** Limit per store. */
export const experimentsMax = 10_000;
/** Limit per experiment. */
export const resultsMax = 1_000_000;
/** Limit of one result, of its JSON text in UTF-8: explanations and messages beyond it are left out. */
export const resultBytesMax = 256 * 1024;
/** Limit of results per page. */
export const resultsPageMax = 1_000;
/** Limit of experiments per page. */
export const experimentsPageMax = 200;

export interface StoredExperiment extends Experiment {
  readonly results: number;
  /** Results by status. */
  readonly statuses: { readonly [status in ResultStatus]: number };
}

export interface ExperimentQuery {
  readonly tenant?: Tenant;
  readonly name?: string;
  /** Name of the dataset. */
  readonly dataset?: string;
  /** At most `experimentsPageMax`. */
  readonly limit: number;
  /** Position of the last experiment of the page before. */
  readonly after?: number;
}

export interface ExperimentPage {
  /** Newest first. */
  readonly experiments: readonly StoredExperiment[];
  /** `undefined` on the last page. */
  readonly next: number | undefined;
}

export interface ResultQuery {
  /** At most `resultsPageMax`. */
  readonly limit: number;
  /** Position of the last result of the page before. */
  readonly after?: number;
  readonly status?: ResultStatus;
  readonly exampleId?: string;
}

export interface ResultPage {
  /** In the order in which they came. */
  readonly results: readonly ExperimentResult[];
  /** `undefined` on the last page. */
  readonly next: number | undefined;
}

/** `known`: this run of the example has its result already, which stays. `unknown`: there is no such experiment. */
export type AddedResult = 'added' | 'known' | 'unknown' | 'full';

export interface ExperimentStore {
  /** `known`: the id is in use. `full`: the store has `experimentsMax` experiments. */
  begin(experiment: Experiment): Promise<'begun' | 'known' | 'full'>;
  /** Changes the state; false: there is no such experiment. */
  update(
    key: ExperimentKey,
    change: { readonly state: ExperimentState; readonly endedAt: Micros | undefined; readonly provenance?: Provenance },
  ): Promise<boolean>;
  add(key: ExperimentKey, result: ExperimentResult): Promise<AddedResult>;
  /**
   * For runs that the service scores one verdict after the other. The verdicts of a run are added to its result, and replace those of the
   * same name. A run without a result gets the next number of its example; the `repeat` of `result` is not read.
   */
  merge(key: ExperimentKey, result: ExperimentResult & Required<Pick<ExperimentResult, 'run'>>): Promise<AddedResult>;
  list(query: ExperimentQuery): Promise<ExperimentPage>;
  experiment(key: ExperimentKey): Promise<StoredExperiment | undefined>;
  results(key: ExperimentKey, query: ResultQuery): Promise<ResultPage>;
  /** Which runs of which examples have a result. */
  done(key: ExperimentKey): Promise<readonly Pick<ExperimentResult, 'exampleId' | 'repeat'>[]>;
  /** Deletes the experiment with its results. False: there is none. */
  delete(key: ExperimentKey): Promise<boolean>;
}
