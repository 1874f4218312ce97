/** Bounds the bytes of unanswered requests over all listeners and connections. */
import type { Telemetry } from '../telemetry/telemetry.ts';

export interface Lease {
  /** False when the limit is reached, so that nothing is leased. */
  take(bytes: number): boolean;
  /** Gives everything back, and takes no more. May be called twice. */
  release(): void;
}

export type ByteLease = (isModest?: boolean) => Lease;

export interface ByteLeases {
  /** Leases for the requests of one listener. It leaves `keepFreeBytes` to other listeners and to senders with small requests. */
  (reserve: { readonly keepFreeBytes: number }): ByteLease;
  /** Number of requests that have a lease: their head has come, and their answer is not complete. */
  requests(): number;
  /** Used share of the bytes. */
  fill(): number;
  readonly bytesMax: number;
}

export function byteBudget(options: { readonly bytesMax: number; readonly telemetry: Telemetry }): ByteLeases {
  let total = 0;
  const open = new Set<Lease>();
  const change = (bytes: number): void => {
    total += bytes;
    options.telemetry.set('tracejury.receiver.in_flight', total);
  };
  return Object.assign(leasesOf, { requests: () => open.size, fill: () => total / options.bytesMax, bytesMax: options.bytesMax });

  function leasesOf({ keepFreeBytes }: { readonly keepFreeBytes: number }): ByteLease {
    return (isModest = false) => lease(isModest ? 0 : keepFreeBytes);
  }

  function lease(keepFreeBytes: number): Lease {
    let held = 0;
    let isReleased = false;
    const own: Lease = {
      take(bytes) {
        // A body may still inflate when its client is gone.
        if (isReleased || total + bytes > options.bytesMax - keepFreeBytes) return false;
        open.add(own);
        held += bytes;
        change(bytes);
        return true;
      },
      release() {
        isReleased = true;
        open.delete(own);
        change(-held);
        held = 0;
      },
    };
    return own;
  }
}
