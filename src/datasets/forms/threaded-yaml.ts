/** Reads YAML texts of requests beside the thread that answers, within time and memory. */
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { YamlRead } from './yaml-value.ts';

/** One text. The parser takes about a second for a million characters, and several times as long for hostile ones. */
export const yamlMs = 20_000;
const heapMb = 512;

export async function threadedYaml(text: string, withinMs = yamlMs): Promise<YamlRead> {
  // Both files are in one folder, as sources and as built files.
  const thread = new Worker(new URL(`./yaml-thread${extname(import.meta.url)}`, import.meta.url), {
    workerData: text,
    name: 'tracejury-yaml',
    resourceLimits: { maxOldGenerationSizeMb: heapMb },
  });
  let late: NodeJS.Timeout | undefined;
  try {
    return await new Promise<YamlRead>((resolve, reject) => {
      late = setTimeout(
        () => resolve({ kind: 'fault', why: `it takes longer than ${withinMs / 1_000} s to read. Write it as JSON lines.` }),
        withinMs,
      );
      thread.once('message', resolve);
      thread.once('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? resolve({ kind: 'fault', why: `it takes more than ${heapMb} MiB to read. Write it as JSON lines.` })
          : reject(error),
      );
    });
  } finally {
    clearTimeout(late);
    await thread.terminate();
  }
}
