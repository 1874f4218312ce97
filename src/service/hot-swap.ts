/** A client that can be replaced in use: open work ends with the client that began it, which then stops. */

export interface Stoppable {
  stop(): Promise<void>;
}

export interface Exchangeable<Client> {
  /** With the current client. */
  use<Result>(work: (client: Client) => Promise<Result>): Promise<Result>;
  exchange(next: Client): void;
  /** Stops every client, also with open work. */
  stop(): Promise<void>;
}

interface Held<Client> {
  readonly client: Client;
  openCount: number;
}

export function exchangeable<Client extends Stoppable>(first: Client): Exchangeable<Client> {
  let current: Held<Client> = { client: first, openCount: 0 };
  /** Replaced clients with open work, at most as many as there is open work. */
  const replaced = new Set<Held<Client>>();

  function release(held: Held<Client>): void {
    if (held === current || held.openCount > 0) return;
    replaced.delete(held);
    void held.client.stop();
  }

  return {
    async use(work) {
      const held = current;
      held.openCount++;
      try {
        return await work(held.client);
      } finally {
        held.openCount--;
        release(held);
      }
    },
    exchange(next) {
      const before = current;
      current = { client: next, openCount: 0 };
      replaced.add(before);
      release(before);
    },
    async stop() {
      await Promise.all([current, ...replaced].map(({ client }) => client.stop()));
    },
  };
}
