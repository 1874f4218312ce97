/** Encodes the run of a waiting judge job, compressed, with everything that evaluators read. */
import { deserialize, serialize } from 'node:v8';
import { zstdDecompressSync } from 'node:zlib';
import type { Run } from '../model/agent-trace.ts';
import { compressed } from './compression.ts';

/** Raised when a later release could not ask about what this one wrote. */
const form = 1;

/** Never throws: what cannot be written must not hold up the batch that it is in, and is found to be unreadable when its turn comes. */
export function jobBody(run: Run): Buffer {
  try {
    return compressed(serialize({ form, run }));
  } catch {
    return Buffer.alloc(0);
  }
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
