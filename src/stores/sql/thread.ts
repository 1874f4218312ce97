/**
 * The thread of a store. A transaction waits for the disk, and a question about a million runs takes its time: neither is to hold up a request.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { getHeapStatistics } from 'node:v8';
import { collectOnGrowth, garbageCollector } from '../garbage.ts';
import { failedAnswer, openedId, type Answer, type Ask, type Database } from './answers.ts';
import type { ThreadData } from './thread-client.ts';

/**
 * Batches bring bytes outside the heap. The heap itself hardly grows, so V8 would collect the bytes of a minute together. A collection of this
 * small heap takes some 10 ms.
 */
const garbageBytesMax = 8 * 1024 * 1024;

const data = workerData as ThreadData;

/** The parts of an engine load in its thread. */
async function opened(): Promise<Database> {
  if (data.engine === 'sqlite') return (await import('../sqlite/database.ts')).database(data.file);
  return await (await import('../postgres/database.ts')).postgresDatabase(data.url);
}

async function failure(error: unknown): Promise<Answer> {
  if (data.engine === 'sqlite') return (await import('../sqlite/database.ts')).failed(openedId, error, data.file);
  return failedAnswer(openedId, error);
}

const port = parentPort;
if (port !== null) {
  try {
    const { answer, isFree } = await opened();
    const tidy = collectOnGrowth({
      bytes: () => getHeapStatistics().external_memory,
      growthMax: garbageBytesMax,
      collect: garbageCollector(),
    });
    let last: Promise<unknown> = Promise.resolve();
    /** The database never rejects, so neither does a turn. */
    const inTurn = (work: () => Promise<Answer>): Promise<Answer> => {
      const given = last.then(work);
      last = given;
      return given;
    };
    port.on('message', (ask: Ask) => {
      // A copy of the file takes long and has its own connection.
      const given = ask.kind === 'backup' || isFree?.(ask) === true ? answer(ask) : inTurn(() => answer(ask));
      void given.then((one) => {
        port.postMessage(one);
        tidy();
      });
    });
    port.postMessage({ id: openedId, kind: 'done', rows: [], changes: 0, lastRowId: 0 } satisfies Answer);
  } catch (error) {
    port.postMessage(await failure(error));
  }
}
