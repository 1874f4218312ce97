/** The part of a store that keeps experiments. Each run of each example has exactly one result, however often it is written. */
import { JuryError } from '../errors.ts';
import type { Experiment, ExperimentResult, ExperimentState, Provenance, ResultStatus } from '../experiment.ts';
import type { Tenant } from '../ids.ts';
import type { Micros } from '../timestamp.ts';

export interface ExperimentKey {
  readonly tenant: Tenant;
  readonly id: string;
}

/** Limit per tenant, of experiments with a runner. */
export const experimentsMax = 10_000;
/** Limit per tenant of experiments begun by spans: their senders choose the ids. */
export const spanExperimentsMax = 1_000;
/** Limit of experiments that one call deletes. */
export const deletedExperimentsMax = 1_000;
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
  /** True for those begun by spans, false for those with a runner, omitted for both. */
  readonly isFromSpans?: boolean;
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

/**
 * `known`: this run of the example has its result already, which stays. `unknown`: there is no such experiment. `closed`: it is done, or another
 * source writes its results.
 */
export type AddedResult = 'added' | 'known' | 'unknown' | 'full' | 'closed';

/** At least one member besides `tenant` is given. */
export interface ExperimentsToDelete {
  readonly tenant: Tenant;
  readonly name?: string;
  readonly dataset?: string;
  /** Without a change since then. */
  readonly before?: Micros;
}

export interface ExperimentStore {
  /**
   * `known`: the id is in use. `full`: the tenant has its limit of experiments of this source. An experiment begun by spans gives its id to one with
   * a runner, and goes on under another one: senders choose ids.
   */
  begin(experiment: Experiment): Promise<'begun' | 'known' | 'full'>;
  /** Changes the state; false: there is no such experiment, or it is done. */
  update(
    key: ExperimentKey,
    change: { readonly state: ExperimentState; readonly endedAt: Micros | undefined; readonly provenance?: Provenance },
  ): Promise<boolean>;
  add(key: ExperimentKey, result: ExperimentResult): Promise<AddedResult>;
  /**
   * The service scores runs one verdict after the other. The verdicts of a run are added to its result, and replace those of the same name. A run
   * without a result gets the next number of its example; the `repeat` of `result` is not read. Only an experiment begun by spans takes them.
   */
  merge(key: ExperimentKey, result: ExperimentResult & Required<Pick<ExperimentResult, 'run'>>, at: Micros): Promise<AddedResult>;
  list(query: ExperimentQuery): Promise<ExperimentPage>;
  experiment(key: ExperimentKey): Promise<StoredExperiment | undefined>;
  results(key: ExperimentKey, query: ResultQuery): Promise<ResultPage>;
  /** The runs of examples that have a result. */
  done(key: ExperimentKey): Promise<readonly Pick<ExperimentResult, 'exampleId' | 'repeat'>[]>;
  /** Deletes the experiment with its results. False when it does not exist. */
  delete(key: ExperimentKey): Promise<boolean>;
  /** Deletes the oldest that match, at most `deletedExperimentsMax`; resolves with their number. */
  deleteSome(which: ExperimentsToDelete): Promise<number>;
  /** Closes experiments begun by spans, and deletes those without a change since `before`. Resolves with the number of deleted ones. */
  prune(limits: { readonly now: Micros; readonly before: Micros; readonly limit: number }): Promise<number>;
}

export async function allResults(experiments: Pick<ExperimentStore, 'results'>, key: ExperimentKey): Promise<readonly ExperimentResult[]> {
  const found: ExperimentResult[] = [];
  let after: number | undefined;
  do {
    const page = await experiments.results(key, { limit: resultsPageMax, ...(after === undefined ? {} : { after }) });
    found.push(...page.results);
    after = page.next;
  } while (after !== undefined);
  return found;
}

/** Finds it by id, or takes the newest of a name. Senders of spans choose ids, so an experiment with a runner precedes one begun by spans. */
export async function referredExperiment(
  experiments: Pick<ExperimentStore, 'experiment' | 'list'>,
  tenant: Tenant,
  reference: string,
): Promise<StoredExperiment | undefined> {
  const byId = await experiments.experiment({ tenant, id: reference });
  if (byId !== undefined && byId.isFromSpans !== true) return byId;
  const newest = async (isFromSpans: boolean): Promise<StoredExperiment | undefined> =>
    (await experiments.list({ tenant, name: reference, isFromSpans, limit: 1 })).experiments[0];
  return (await newest(false)) ?? byId ?? (await newest(true));
}

const refusals: { readonly [outcome in Exclude<AddedResult, 'added'>]: string } = {
  known: 'has a result already, which another program has written',
  unknown: 'belongs to an experiment that is gone',
  full: `does not fit: the experiment has its limit of ${resultsMax} results`,
  closed: 'comes too late: the experiment is done, or it was made from spans',
};

/** Writes a result of a runner. Rejects with RESULT_REFUSED unless the store took it: a report without it would be wrong. */
export async function addResult(experiments: Pick<ExperimentStore, 'add'>, key: ExperimentKey, result: ExperimentResult): Promise<void> {
  const outcome = await experiments.add(key, result);
  if (outcome !== 'added')
    throw new JuryError('RESULT_REFUSED', `Run ${result.repeat} of the example ${JSON.stringify(result.exampleId)} ${refusals[outcome]}.`);
}
