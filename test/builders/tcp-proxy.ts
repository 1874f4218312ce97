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
  /** Holds back for ever what the present connections carry, as a network does that is cut without a word. */
  stall(): void;
}

/** Listens; closed after the test. */
export async function tcpProxy(target: { readonly host: string; readonly port: number }): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
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
      for (const socket of sockets) socket.pause();
    },
  };
}
