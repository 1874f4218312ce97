/** A pooler that gives each transaction an idle connection, as pgbouncer does in its mode `transaction`. It has one connection. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

const sslRequest = 80_877_103;
const isReady = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
const terminate = 0x58;
/** Authentication is done; a process id that is the pooler's own. */
const welcome = Buffer.concat([
  Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0]),
  Buffer.from([0x4b, 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 1]),
  isReady,
]);

/** Resolves with its port; closed after the test. */
export async function transactionPooler(port: number): Promise<number> {
  const sockets = new Set<Socket>();
  let shared: Promise<Socket> | undefined;
  let current: Socket | undefined;

  async function opened(startup: Buffer): Promise<Socket> {
    const to = connect({ host: '127.0.0.1', port });
    sockets.add(to);
    to.on('error', () => undefined);
    to.write(startup);
    let said = Buffer.alloc(0);
    while (!said.subarray(-isReady.length).equals(isReady)) {
      const [bytes] = (await once(to, 'data')) as [Buffer];
      said = Buffer.concat([said, bytes]);
    }
    to.on('data', (bytes: Buffer) => void current?.write(bytes));
    return to;
  }

  const server = createServer((client) => {
    sockets.add(client);
    client.on('error', () => undefined);
    let hasBegun = false;
    client.on('data', (bytes: Buffer) => {
      if (!hasBegun && bytes.readInt32BE(4) === sslRequest) return void client.write('N');
      if (!hasBegun) {
        hasBegun = true;
        shared ??= opened(bytes);
        return void shared.then(() => client.write(welcome));
      }
      if (bytes[0] === terminate) return void client.end();
      void shared?.then((to) => {
        current = client;
        to.write(bytes);
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}
