/** Bytes of requests that are not answered yet, bounded over all connections. */
import type { Telemetry } from '../telemetry/telemetry.ts';

export interface Lease {
  /** False: the bound is reached; nothing was taken. */
  take(bytes: number): boolean;
  /** Gives everything back. May be called twice. */
  release(): void;
}

export function inFlightBytes(options: { readonly bytesMax: number; readonly telemetry: Telemetry }): () => Lease {
  let total = 0;
  const change = (bytes: number): void => {
    total += bytes;
    options.telemetry.set('tracejury.receiver.in_flight', total);
  };
  return () => {
    let held = 0;
    return {
      take(bytes) {
        if (total + bytes > options.bytesMax) return false;
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
