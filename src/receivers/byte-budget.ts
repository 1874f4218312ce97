/** Bytes of requests that are not answered yet, bounded over all doors and connections. */
import type { Telemetry } from '../telemetry/telemetry.ts';

export interface Lease {
  /** False: the bound is reached; nothing was taken. */
  take(bytes: number): boolean;
  /** Gives everything back. May be called twice. */
  release(): void;
}

export type ByteLease = (isModest?: boolean) => Lease;

export interface ByteLeases {
  /** A lease for each request of a door; `keepFreeBytes` are left to the requests of others, and to senders that take little. */
  (reserve: { readonly keepFreeBytes: number }): ByteLease;
  /** Share of the bytes that is taken. */
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
