/**
 * The thread that has the file. A transaction waits for the disk, and a question about a million runs takes its time: neither is to hold up a request.
 */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { databaseClients, type NewClient } from './clients.ts';
import { database, failed, openedId, type Answer, type Ask, type ThreadData } from './database.ts';

const port = parentPort;
if (port !== null) {
  try {
    const newClient = databaseClients(database((workerData as ThreadData).file));
    const first = newClient();
    port.on('message', (ask: Ask | NewClient) => {
      if (ask.kind === 'client') serve(ask.port);
      else void first.ask(ask).then((given) => port.postMessage(given));
    });
    port.postMessage({ id: openedId, kind: 'done', rows: [], changes: 0, lastRowId: 0 } satisfies Answer);

    function serve(other: MessagePort): void {
      const client = newClient();
      other.on('message', (ask: Ask) => void client.ask(ask).then((given) => other.postMessage(given)));
      other.on('close', client.leave);
    }
  } catch (error) {
    port.postMessage(failed(openedId, error, (workerData as ThreadData).file));
  }
}
