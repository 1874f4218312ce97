/** The sockets of the servers that are watched, and which of them have a request under way: a door that stops waits for those alone. */
import type { Server } from 'node:http';
import type { Socket } from 'node:net';

export interface Connections {
  watch(server: Server): void;
  /** Closes the sockets on which no request is under way: silent ones, kept-open ones, and those in the middle of their headers. */
  closeIdle(): void;
  closeAll(): void;
}

export function openConnections(): Connections {
  // By the client's address: over TLS the plain socket is replaced by the secure one, which has the same. Bounded by `maxConnections`.
  const sockets = new Map<string, Socket>();
  const busy = new Set<Socket>();
  const add = (socket: Socket): void => {
    const key = `${socket.remoteAddress} ${socket.remotePort}`;
    sockets.set(key, socket);
    socket.once('close', () => {
      busy.delete(socket);
      if (sockets.get(key) === socket) sockets.delete(key);
    });
  };
  return {
    watch(server) {
      server.on('connection', add).on('secureConnection', add);
      server.on('request', ({ socket }, response) => {
        busy.add(socket);
        response.once('close', () => busy.delete(socket));
      });
    },
    closeIdle() {
      for (const socket of sockets.values()) if (!busy.has(socket)) socket.destroy();
    },
    closeAll() {
      for (const socket of sockets.values()) socket.destroy();
    },
  };
}
