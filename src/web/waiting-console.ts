/** The console listener of a service that waits for its store: health, and for everything else the answer that it is too early. */
import { once } from 'node:events';
import type { RequestListener } from 'node:http';
import type { TlsOptions } from 'node:tls';
import { failure } from './api/serve-api.ts';
import { consoleServer } from './console-server.ts';

export interface WaitingConsole {
  listen(): Promise<void>;
  stop(): Promise<void>;
}

interface WaitingOptions {
  readonly host: string;
  readonly port: number;
  readonly tls?: TlsOptions;
  /** Text for people. Read with each request. */
  readonly reason: () => string;
}

const retryAfterSeconds = 5;

export function waitingListener({ host, port, tls, reason }: WaitingOptions): WaitingConsole {
  const answer: RequestListener = (request, response) => {
    const isAlive = request.url === '/livez';
    // Only the address of health names the database: the others may ask for a token.
    const why = request.url === '/readyz' ? reason() : 'The service waits for its store.';
    const body = isAlive ? { status: 'ok' } : failure('not_ready', why, 'Wait: /readyz answers 200 when the service is ready.');
    response
      .writeHead(isAlive ? 200 : 503, {
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        connection: 'close',
        ...(isAlive ? {} : { 'retry-after': String(retryAfterSeconds) }),
      })
      .end(JSON.stringify(body));
  };
  const server = consoleServer(answer, tls);
  return {
    async listen() {
      server.listen({ host, port });
      await once(server, 'listening');
    },
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}
