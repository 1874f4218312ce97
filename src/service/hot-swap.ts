/** A client in use whose place another one can take: what is under way ends with the one that it began with, which is stopped then. */

export interface Stoppable {
  stop(): Promise<void>;
}

export interface Exchangeable<Client> {
  /** With whoever is in place now. */
  use<Result>(work: (client: Client) => Promise<Result>): Promise<Result>;
  exchange(next: Client): void;
  /** Stops all of them, whatever is under way. */
  stop(): Promise<void>;
}

interface Held<Client> {
  readonly client: Client;
  underWay: number;
}

export function exchangeable<Client extends Stoppable>(first: Client): Exchangeable<Client> {
  let current: Held<Client> = { client: first, underWay: 0 };
  /** Those that left and still have work. As many at most as there is work under way. */
  const retiring = new Set<Held<Client>>();

  function release(held: Held<Client>): void {
    if (held === current || held.underWay > 0) return;
    retiring.delete(held);
    void held.client.stop();
  }

  return {
    async use(work) {
      const held = current;
      held.underWay++;
      try {
        return await work(held.client);
      } finally {
        held.underWay--;
        release(held);
      }
    },
    exchange(next) {
      const before = current;
      current = { client: next, underWay: 0 };
      retiring.add(before);
      release(before);
    },
    async stop() {
      await Promise.all([current, ...retiring].map(({ client }) => client.stop()));
    },
  };
}
