/**
 * The part of a store that replays use: stored runs with the identity of each verdict, revisions of verdicts, and checkpoints of
 * unfinished replays. Another process, the service, may use the same store meanwhile.
 */
import type { JsonValue } from '../json.ts';
import type { ScoredRun } from '../scored-run.ts';
import type { Micros } from '../timestamp.ts';
import type { EvaluatorKind } from '../verdict.ts';
import type { NewExport } from './export-store.ts';
import type { RunFilter, RunPlace, RunRow, Store, StoredVerdict } from './store.ts';

/** A verdict with what identifies the configured evaluator that gave it. */
export interface ReplayedVerdict extends StoredVerdict {
  readonly kind: EvaluatorKind;
  readonly optionsHash: string;
}

export interface ReplayRun extends Omit<RunRow, 'verdicts' | 'labels'> {
  readonly place: RunPlace;
  readonly verdicts: readonly ReplayedVerdict[];
}

export interface ReplayQuery {
  readonly filter: RunFilter;
  readonly limit: number;
  readonly after?: RunPlace | undefined;
}

export interface ReplayPage {
  /** Newest first. */
  readonly runs: readonly ReplayRun[];
  /** `undefined` on the last page. */
  readonly next: RunPlace | undefined;
}

/** New verdicts of one run. */
export interface Revision {
  /** The run at its next revision, with only the changed verdicts and their decisions. Its other members are not written. */
  readonly item: ScoredRun;
  /** The revision that the verdicts replace. */
  readonly before: number;
  /** Items for exporters, which may hold verdicts that did not change. */
  readonly exports: readonly NewExport[];
}

/** written: it is a revision now. changed: the run has a revision other than the expected one, and keeps it. gone: the run is deleted. */
export type RevisionFate = 'written' | 'changed' | 'gone';

/** The progress of a replay. It is written in the transaction of the revisions, so a killed replay repeats nothing and omits nothing. */
export interface ReplayCheckpoint {
  /** Names the configuration and the filters. */
  readonly id: string;
  /** The results so far, as JSON. */
  readonly state: JsonValue;
  /** The replay looks at runs that started before. */
  readonly to: Micros;
  /** Every run down to this place is done. */
  readonly after: RunPlace;
  readonly at: Micros;
}

export interface StoredCheckpoint extends ReplayCheckpoint {
  readonly fates: { readonly [fate in RevisionFate]: number };
}

export interface ReplayStore {
  page(query: ReplayQuery): Promise<ReplayPage>;
  count(filter: RunFilter): Promise<number>;
  /** Writes all or none, each revision only when its run is still at `before`. Resolves with the fate of each, in order. */
  revise(revisions: readonly Revision[], checkpoint: ReplayCheckpoint): Promise<readonly RevisionFate[]>;
  checkpoint(id: string): Promise<StoredCheckpoint | undefined>;
  /** Deletes a checkpoint. */
  forget(id: string): Promise<void>;
}

/** A store whose runs can be scored again. */
export interface ReplayableStore extends Store {
  readonly replays: ReplayStore;
}
