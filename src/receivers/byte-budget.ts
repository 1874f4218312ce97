/** Bounds the bytes of unanswered requests over all listeners and connections. */
import type { Telemetry } from '../telemetry/telemetry.ts';

export interface Lease {
  /** False: the limit is reached, and nothing is leased. */
  take(bytes: number): boolean;
  /** Gives everything back. May be called twice. */
  release(): void;
}

export type ByteLease = (isModest?: boolean) => Lease;

export interface ByteLeases {
  /** Leases for the requests of one listener. It leaves `keepFreeBytes` to other listeners and to senders with small requests. */
  (reserve: { readonly keepFreeBytes: number }): ByteLease;
  /** Used share of the bytes. */
  fill(): number;
  readonly bytesMax: number;
}

export function byteBudget(options: { readonly bytesMax: number; readonly telemetry: Telemetry }): ByteLeases {
  let total = 0;
  const change = (bytes: number): void => {
    total += bytes;
    options.telemetry.set('tracejury.receiver.in_flight', total);
  };
  return Object.assign(leasesOf, { fill: () => total / options.bytesMax, bytesMax: options.bytesMax });

  function leasesOf({ keepFreeBytes }: { readonly keepFreeBytes: number }): ByteLease {
    return (isModest = false) => lease(isModest ? 0 : keepFreeBytes);
  }

  function lease(keepFreeBytes: number): Lease {
    let held = 0;
    return {
      take(bytes) {
        if (total + bytes > options.bytesMax - keepFreeBytes) return false;
        held += bytes;
        change(bytes);
        return true;
      },
      release() {
        change(-held);
        held = 0;
      },
    };
  }
}
