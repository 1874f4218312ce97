/** Ends connections on which nothing moves while their client has to act. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * The client has to act when it is to send the rest of a request, to read an answer, or to ask again. A connection whose request the server works on
 * stays, however long that takes: closing it would not stop the work, and the client would not learn the outcome.
 */
export function idleTimeout(server: Server, ms: number): void {
  const open = new WeakMap<Socket, Map<ServerResponse, IncomingMessage>>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    const own = open.get(socket) ?? new Map<ServerResponse, IncomingMessage>();
    open.set(socket, own.set(response, request));
    response.once('close', () => own.delete(response));
  });
  server.setTimeout(ms, (socket) => {
    const requests = [...(open.get(socket)?.values() ?? [])];
    const isWorking = requests.length > 0 && requests.every(({ complete }) => complete) && socket.writableLength === 0;
    if (!isWorking) socket.destroy();
  });
}
