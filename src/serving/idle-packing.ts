/** Makes what waits in memory smaller while the service has time for it. */
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Sleep } from '../model/clock.ts';
import type { Pipeline } from '../pipeline/pipeline.ts';
import type { Shelf } from '../pipeline/shelf.ts';
import { fastZstd } from '../stores/compression.ts';

/** A trace of a dozen spans takes a tenth to a third of a millisecond, so this is a tenth of the time at most. */
const everyMs = 100;
const tracesPerTurn = 32;

/** What the spans of an agent repeat is found by the fastest level as well. */
export const zstd: Shelf = { keep: (lent) => alone(zstdCompressSync(lent, fastZstd)), bytes: (kept) => zstdDecompressSync(kept) };

/** What the compressor gives lies in a larger piece. */
function alone(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

export interface IdlePacking {
  start(): void;
  /** May be called twice, and without `start`. */
  stop(): Promise<void>;
}

/** `mayWork`: false while there is more urgent work. */
export function idlePacking({ flow, sleep, mayWork }: { readonly flow: Pick<Pipeline, 'packIdle'>; readonly sleep: Sleep; readonly mayWork: () => boolean }): IdlePacking {
  const ended = new AbortController();
  let working: Promise<void> | undefined;

  async function work(): Promise<void> {
    while (!ended.signal.aborted) {
      await sleep(everyMs, ended.signal);
      if (mayWork()) flow.packIdle(tracesPerTurn);
    }
  }

  return {
    start() {
      working ??= work();
    },
    async stop() {
      ended.abort();
      await working;
    },
  };
}
