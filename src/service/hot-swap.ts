/** A client that another one can replace. Work in progress ends with the client that it began with; that client stops afterwards. */

export interface Stoppable {
  stop(): Promise<void>;
}

export interface Exchangeable<Client> {
  /** Works with the current client. */
  use<Result>(work: (client: Client) => Promise<Result>): Promise<Result>;
  exchange(next: Client): void;
  /** Stops the current client and the replaced ones, even with work in progress. */
  stop(): Promise<void>;
}

interface Held<Client> {
  readonly client: Client;
  inProgress: number;
}

export function exchangeable<Client extends Stoppable>(first: Client): Exchangeable<Client> {
  let current: Held<Client> = { client: first, inProgress: 0 };
  /** Replaced clients with work in progress: never more than there is work. */
  const retiring = new Set<Held<Client>>();

  function release(held: Held<Client>): void {
    if (held === current || held.inProgress > 0) return;
    retiring.delete(held);
    void held.client.stop();
  }

  return {
    async use(work) {
      const held = current;
      held.inProgress++;
      try {
        return await work(held.client);
      } finally {
        held.inProgress--;
        release(held);
      }
    },
    exchange(next) {
      const before = current;
      current = { client: next, inProgress: 0 };
      retiring.add(before);
      release(before);
    },
    async stop() {
      await Promise.all([current, ...retiring].map(({ client }) => client.stop()));
    },
  };
}
