/** Pieces of spans, read again. */
import { setImmediate as turn } from 'node:timers/promises';
import { promisify } from 'node:util';
import { zstdDecompress } from 'node:zlib';
import { unbundled } from '../otlp/cut/bundle.ts';
import { runInTurns } from '../runtime/cooperative.ts';
import type { KeptSpans, SpanPiece } from '../model/store/store.ts';

/** Of all pieces of a trace, decompressed. */
const bytesMax = 256 * 1024 * 1024;

const decompressed = promisify(zstdDecompress);

/** Other work goes on in between. Undefined: there are no pieces. */
export async function keptSpans(pieces: readonly SpanPiece[]): Promise<KeptSpans | undefined> {
  if (pieces.length === 0) return undefined;
  const bundles: Buffer[] = [];
  let left = bytesMax;
  for (const { body } of pieces) {
    if (left <= 0) break;
    const bytes = await decompressed(body, { maxOutputLength: left }).catch(() => undefined);
    left -= bytes?.length ?? left;
    if (bytes !== undefined) bundles.push(bytes);
  }
  const found = await runInTurns(unbundled(bundles), turn);
  return { ...found, isWhole: bundles.length === pieces.length && pieces.every(({ isWhole }) => isWhole) };
}
