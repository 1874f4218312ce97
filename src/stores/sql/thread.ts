/**
 * The thread of a store. A transaction waits for the disk, and a question about a million runs takes its time: neither is to hold up a request.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { getHeapStatistics } from 'node:v8';
import { collectOnGrowth, garbageCollector } from '../garbage.ts';
import { failedAnswer, openedId, type Answer, type Ask, type Database } from './answers.ts';
import { databaseClients, type Client, type NewClient } from './clients.ts';
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
    const newClient = databaseClients(await opened());
    const first = newClient();
    const tidy = collectOnGrowth({
      bytes: () => getHeapStatistics().external_memory,
      growthMax: garbageBytesMax,
      collect: garbageCollector(),
    });
    port.on('message', (ask: Ask | NewClient) => {
      if (ask.kind === 'client') serve(ask.port);
      else answer(port, first, ask);
    });
    port.postMessage({ id: openedId, kind: 'done', rows: [], changes: 0, lastRowId: 0 } satisfies Answer);

    function serve(other: MessagePort): void {
      const client = newClient();
      other.on('message', (ask: Ask) => answer(other, client, ask));
      other.on('close', client.leave);
    }

    function answer(to: MessagePort, client: Client, ask: Ask): void {
      void client.ask(ask).then((given) => {
        to.postMessage(given);
        tidy();
      });
    }
  } catch (error) {
    port.postMessage(await failure(error));
  }
}
