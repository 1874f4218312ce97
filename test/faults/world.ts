/** Facts for the process of a trial about the machine that it believes to be on. Everything is plain data: it goes over a command line. */

/** Behaviour of the journal's disk. */
export type DiskFault =
  /** Unsynced bytes are lost with the process; pieces of them reach the disk all the same, in any order. */
  | { readonly kind: 'forgetful'; readonly seed: number }
  /** As `forgetful`, and a sync keeps nothing either: no service can promise anything on it. */
  | { readonly kind: 'lying'; readonly seed: number }
  /** The operation of this number fails, and `times` of them in a row; counted from the start of the process on, or from when it is up. */
  | {
      readonly kind: 'failing';
      readonly since: 'start' | 'up';
      readonly from: number;
      readonly times: number;
      readonly how: 'ENOSPC' | 'EIO' | 'short' | 'late';
    }
  | { readonly kind: 'slow'; readonly syncMs: number };

export interface World {
  readonly disk?: DiskFault;
  /** Error of the machine's clock when the process starts. */
  readonly clockMs?: number;
}
