/**
 * The thread that has the file. A transaction waits for the disk, and a question about a million runs takes its time: neither is to hold up a request.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { database, failed, openedId, type Answer, type Ask, type ThreadData } from './database.ts';

const port = parentPort;
if (port !== null) {
  try {
    const { answer } = database((workerData as ThreadData).file);
    port.on('message', (ask: Ask) => void answer(ask).then((given) => port.postMessage(given)));
    port.postMessage({ id: openedId, kind: 'done', rows: [], changes: 0, lastRowId: 0 } satisfies Answer);
  } catch (error) {
    port.postMessage(failed(openedId, error, (workerData as ThreadData).file));
  }
}
