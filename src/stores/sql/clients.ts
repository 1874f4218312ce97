/** One connection for several clients: the one that has begun a transaction has the connection until the transaction ends. */
import type { MessagePort } from 'node:worker_threads';
import type { Answer, Ask, Database } from './answers.ts';

/** Tells the thread of another client. */
export interface NewClient {
  readonly kind: 'client';
  readonly port: MessagePort;
}

export interface Client {
  /** Never rejects, as the database does not. */
  ask(ask: Ask): Promise<Answer>;
  /** Ends its transaction; its questions that wait are never answered. */
  leave(): void;
}

interface Waiting {
  readonly client: Client;
  readonly ask: Ask;
  readonly answered: (answer: Answer) => void;
}

const BEGIN = /^begin\b/;

export function databaseClients({ answer, isFree }: Database): () => Client {
  let waiting: Waiting[] = [];
  let owner: Client | undefined;
  let isBusy = false;

  function pump(): void {
    const at = isBusy ? -1 : waiting.findIndex(({ client }) => owner === undefined || client === owner);
    const [next] = at < 0 ? [] : waiting.splice(at, 1);
    if (next === undefined) return;
    isBusy = true;
    void answer(next.ask).then((given) => {
      isBusy = false;
      take(next, given);
      next.answered(given);
      pump();
    });
  }

  function take({ client, ask }: Waiting, given: Answer): void {
    if (ask.kind !== 'query') return;
    if (BEGIN.test(ask.sql) && given.kind !== 'failed') owner = client;
    // A rollback fails when SQLite has ended the transaction itself.
    else if (ask.sql === 'rollback' || (ask.sql === 'commit' && given.kind !== 'failed')) owner = undefined;
  }

  return () => {
    const client: Client = {
      // A copy of the file takes long and has a connection of its own.
      ask: (ask) =>
        ask.kind === 'backup' || isFree?.(ask) === true
          ? answer(ask)
          : new Promise((answered) => {
              waiting.push({ client, ask, answered });
              pump();
            }),
      leave() {
        waiting = waiting.filter((one) => one.client !== client);
        if (owner === client)
          waiting.unshift({ client, ask: { id: 0, kind: 'query', sql: 'rollback', parameters: [] }, answered: () => undefined });
        pump();
      },
    };
    return client;
  };
}
