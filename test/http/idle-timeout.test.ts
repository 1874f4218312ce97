/** Quiet connections of a server that end, over real sockets. */
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { idleTimeout } from '../../src/http/idle-timeout.ts';

async function served(handler: RequestListener, ms = 30): Promise<(text: string) => Promise<Socket>> {
  const server = createServer({ keepAliveTimeout: 1, keepAliveTimeoutBuffer: 1 }, handler);
  idleTimeout(server, ms);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return async (text) => {
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    await new Promise((resolve) => socket.write(text, resolve));
    return socket;
  };
}

async function textOf(socket: Socket): Promise<string> {
  let text = '';
  socket.on('data', (data) => (text += String(data)));
  await once(socket, 'close');
  return text;
}

test('idle timeout: a request that the server works on outlives the limit, and has its answer', async () => {
  const send = await served(({ socket }, response) => {
    // From here on, so that a slow machine has read the request.
    socket.setTimeout(30).once('timeout', () => setImmediate(() => response.end('done')));
  }, 60_000);
  expect(await textOf(await send('POST / HTTP/1.1\r\nhost: a\r\nconnection: close\r\ncontent-length: 1\r\n\r\n1'))).toContain('done');
});

for (const [what, text] of [
  ['a silent connection', ''],
  ['a body that does not come to its end', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\n1'],
  ['a connection whose request has its answer', 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'],
] as const)
  test(`idle timeout: ${what} ends`, async () => {
    const send = await served((request, response) => void request.resume().on('end', () => response.end('x')));
    await textOf(await send(text));
  });

test('idle timeout: a client that does not read its answer loses its connection', async () => {
  const closed = Promise.withResolvers<void>();
  const send = await served((_request, response) => {
    response.once('close', closed.resolve);
    response.end(Buffer.alloc(64 * 1024 * 1024));
  });
  (await send('GET / HTTP/1.1\r\nhost: a\r\n\r\n')).pause();
  await closed.promise;
});
