/**
 * The part of a store that keeps datasets. Each change makes a version, numbered from 1. A version never changes once made: a changed
 * example gets a new body, and the old one stays valid for the versions before.
 */
import type { DatasetExample } from '../example.ts';
import type { Tenant } from '../ids.ts';
import type { Micros } from '../timestamp.ts';

export interface DatasetKey {
  readonly tenant: Tenant;
  readonly name: string;
}

/** 1 to 100 letters, digits, `.`, `_` and `-`. */
export const datasetNamePattern = '^[A-Za-z0-9._-]{1,100}$';
const datasetName = new RegExp(datasetNamePattern);

/** `.` and `..` are steps of a path, and not names. */
export function isDatasetName(name: string): boolean {
  return datasetName.test(name) && !/^\.+$/.test(name);
}

/** Limit per tenant. */
export const datasetsMax = 1_000;
/** Limit per version. */
export const datasetExamplesMax = 100_000;
/** Limit per dataset: its history ends there, and a copy of its newest version begins anew. */
export const datasetVersionsMax = 20_000;
/** Limit per example, of its JSON text in UTF-8. */
export const exampleBytesMax = 1024 * 1024;
/** Limit of examples per change: while one is written, other writers of the store wait. */
export const changedExamplesMax = 10_000;
/** Limit of examples per page. */
export const examplesPageMax = 1_000;

export interface StoredDataset extends DatasetKey {
  /** The newest version. */
  readonly version: number;
  /** Examples of the newest version. */
  readonly examples: number;
  /** Examples whose expectation has not been reviewed. */
  readonly drafts: number;
  readonly createdAt: Micros;
  readonly changedAt: Micros;
}

export interface DatasetVersion {
  readonly version: number;
  readonly at: Micros;
  /** The person, program or rule that made it. */
  readonly by: string;
  readonly note: string | undefined;
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  /** Examples of the version. */
  readonly examples: number;
}

export interface DatasetChange {
  /** New examples, and changed ones by the id of what they replace. When several share an id, the last counts. */
  readonly put?: readonly DatasetExample[];
  /** Ids; one that is also in `put` stays. */
  readonly remove?: readonly string[];
  readonly by: string;
  readonly at: Micros;
  readonly note?: string;
  /** The version that the change is based on; 0 when the dataset must not exist. Defaults to the newest. */
  readonly expected?: number;
  /** The examples that `put` may replace: `drafts` only those that have not been reviewed. Default: all. */
  readonly replaces?: 'all' | 'drafts' | 'none';
  /** When true, an example whose input has the fingerprint of another example is left out. */
  readonly isDistinct?: boolean;
  /** New examples beyond this number in the dataset are left out. Default and limit: `datasetExamplesMax`. */
  readonly examplesMax?: number;
}

/**
 * Why an example is not written. `kept`: `replaces` protects the present one. `unknown`: there is none to remove. `surplus`: more than
 * `changedExamplesMax` in one change.
 */
export const leftOutReasons = ['too_large', 'full', 'duplicate', 'kept', 'unknown', 'surplus'] as const;
export type LeftOutReason = (typeof leftOutReasons)[number];

export interface LeftOutExample {
  readonly id: string;
  readonly reason: LeftOutReason;
}

export type DatasetOutcome =
  | {
      readonly kind: 'written';
      /** The newest version; as before when nothing changed, 0 when there is no dataset. */
      readonly version: number;
      readonly added: number;
      readonly changed: number;
      /** Number of `changed` examples whose replaced body was reviewed. */
      readonly changedReviewed: number;
      readonly removed: number;
      /** Written again without a difference in content. */
      readonly unchanged: number;
      readonly leftOut: readonly LeftOutExample[];
    }
  /** `expected` is not the newest version, which is this one. */
  | { readonly kind: 'conflict'; readonly version: number }
  /** The store has `datasetsMax` datasets, or the dataset `datasetVersionsMax` versions. */
  | { readonly kind: 'full'; readonly of: 'datasets' | 'versions' };

export interface StoredExample {
  readonly example: DatasetExample;
  /** The version that it has been the same since. */
  readonly since: number;
}

export interface ExampleQuery {
  /** At most `examplesPageMax`. */
  readonly limit: number;
  /** Position of the last example of the page before. */
  readonly after?: number;
  readonly split?: string;
  readonly tag?: string;
  /** True for examples that have not been reviewed; false for the others. */
  readonly isDraft?: boolean;
}

export interface ExamplePage {
  readonly version: number;
  /** In the order in which they came to the dataset. */
  readonly examples: readonly StoredExample[];
  /** `undefined` on the last page. */
  readonly next: number | undefined;
}

/** A body of one example. */
export interface ExampleRevision {
  readonly from: DatasetVersion;
  /** The version that replaced or removed it; `undefined` for the present one. */
  readonly until: number | undefined;
  readonly example: DatasetExample;
}

/** An example that differs between two versions. `undefined`: it is not in that version. */
export interface ExampleDifference {
  readonly id: string;
  readonly before: DatasetExample | undefined;
  readonly after: DatasetExample | undefined;
}

export interface DatasetDifference {
  readonly added: number;
  readonly changed: number;
  readonly removed: number;
  readonly examples: readonly ExampleDifference[];
  readonly next: number | undefined;
}

export interface DatasetStore {
  /** Makes one version, or none when nothing changes. All or nothing. */
  change(key: DatasetKey, change: DatasetChange): Promise<DatasetOutcome>;
  /** Sorted by name; all tenants without one. */
  list(tenant?: Tenant): Promise<readonly StoredDataset[]>;
  dataset(key: DatasetKey): Promise<StoredDataset | undefined>;
  /** Newest first, before this one. */
  versions(key: DatasetKey, query: { readonly limit: number; readonly before?: number }): Promise<readonly DatasetVersion[]>;
  /** Examples of the newest version without one. `undefined` when the version does not exist. */
  examples(key: DatasetKey, version: number | undefined, query: ExampleQuery): Promise<ExamplePage | undefined>;
  /** `undefined`: the version has no such example. */
  example(key: DatasetKey, version: number | undefined, id: string): Promise<StoredExample | undefined>;
  /** All bodies of one example, newest first. */
  history(key: DatasetKey, id: string, limit: number): Promise<readonly ExampleRevision[]>;
  /** The changes from one version to another. `undefined` when one of them is missing. */
  diff(
    key: DatasetKey,
    versions: { readonly from: number; readonly to: number },
    query: { readonly limit: number; readonly after?: number },
  ): Promise<DatasetDifference | undefined>;
  /** Deletes the dataset with all its versions. False when it does not exist. */
  delete(key: DatasetKey): Promise<boolean>;
}
