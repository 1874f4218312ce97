/** Leases: how one process at a time holds what each process on a store could work on. */
import type { Clock } from '../clock.ts';
import type { Micros } from '../timestamp.ts';

/**
 * Both times are of the process that asks. Only the length between them counts where machines share a store: it adds the length to the time of the
 * store's clock, so leases do not depend on the clocks of the machines.
 */
export interface Lease {
  /** The name under which the process holds what it takes. */
  readonly owner: string;
  readonly now: Micros;
  /** Afterwards another process may take it. */
  readonly until: Micros;
}

/** A process that does not renew within this time counts as dead, and others take what it held. */
export const leaseMs = 30_000;
/** Between two renewals, so that one that fails can be tried again. */
export const leaseRenewalMs = 10_000;

/** A lease that begins now. */
export function leaseOf(owner: string, clock: Clock): Lease {
  const nowMs = clock.nowMs();
  return { owner, now: Math.floor(nowMs * 1_000), until: Math.floor((nowMs + leaseMs) * 1_000) };
}
