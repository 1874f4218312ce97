/** Bytes of requests that are not answered yet, bounded over all doors and connections. */
import type { Telemetry } from '../telemetry/telemetry.ts';

export interface Lease {
  /** False: the bound is reached; nothing was taken. */
  take(bytes: number): boolean;
  /** Gives everything back. May be called twice. */
  release(): void;
}

/** A lease for each request of a door; `keepFreeBytes` are left to the requests of others. */
export type DoorLeases = (door: { readonly keepFreeBytes: number }) => () => Lease;

export function inFlightBytes(options: { readonly bytesMax: number; readonly telemetry: Telemetry }): DoorLeases {
  let total = 0;
  const change = (bytes: number): void => {
    total += bytes;
    options.telemetry.set('tracejury.receiver.in_flight', total);
  };
  return ({ keepFreeBytes }) => () => {
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
  };
}
