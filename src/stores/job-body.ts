/** A run as it waits for a judge: everything that evaluators may look at, compressed. */
import { deserialize, serialize } from 'node:v8';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import type { Run } from '../model/agent-trace.ts';

/** Raised when a later release could not ask about what this one wrote. */
const form = 1;

export function jobBody(run: Run): Buffer {
  return zstdCompressSync(serialize({ form, run }), { params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

/** Undefined: it cannot be read. */
export function jobRun(body: Uint8Array): Run | undefined {
  try {
    const read = deserialize(zstdDecompressSync(body)) as { readonly form?: unknown; readonly run?: Run };
    return read.form === form ? read.run : undefined;
  } catch {
    return undefined;
  }
}
