/** A port of the loopback address on which nothing listens. */
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/** Below the ports that systems give to outgoing connections and to listeners of any port: those could take it before its user does. */
const [from, to] = [15_000, 32_000];

export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(from, to);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
