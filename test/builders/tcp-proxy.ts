/** A TCP proxy that a test cuts, stalls and opens again. */
import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

export interface TcpProxy {
  readonly port: number;
  /** Ends all connections and refuses further ones. */
  close(): Promise<void>;
  /** Listens again on the same port. */
  open(): Promise<void>;
  /** Ends all connections. */
  cut(): void;
  /** Holds all bytes back in both directions, until the function that it gives is called. */
  stall(): () => void;
  /** Connections that are open. */
  connections(): number;
}

/** Listens; closed after the test. */
export async function tcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let isStalled = false;
  const server = createServer((inner) => {
    const outer = connect(target);
    const pair = [inner, outer] as const;
    for (const [from, to] of [pair, [outer, inner] as const]) {
      sockets.add(from);
      from.on('data', (bytes) => void to.write(bytes));
      from.on('error', () => undefined);
      from.on('close', () => {
        sockets.delete(from);
        to.destroy();
      });
      if (isStalled) from.pause();
    }
  });
  const cut = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  let port = 0;
  async function open(): Promise<void> {
    server.listen({ host: '127.0.0.1', port });
    await once(server, 'listening');
    ({ port } = server.address() as AddressInfo);
  }
  async function close(): Promise<void> {
    if (!server.listening) return;
    const closed = once(server, 'close');
    server.close();
    cut();
    await closed;
  }
  await open();
  onTestFinished(close);
  return {
    port,
    open,
    close,
    cut,
    stall() {
      isStalled = true;
      for (const socket of sockets) socket.pause();
      return () => {
        isStalled = false;
        for (const socket of sockets) socket.resume();
      };
    },
    connections: () => sockets.size / 2,
  };
}
