/** The HTTP server of the console listener, with its timeouts and bounds. */
import type { RequestListener, Server, ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { TlsOptions } from 'node:tls';
import { idleTimeout } from '../http/idle-timeout.ts';
import { createServer } from '../http/node-http.ts';

/** Time limit from the first byte of a request to its last. */
const requestTimeoutMs = 10_000;
/** Time limit of the headers of a request; a silent connection ends after it too. */
const headersTimeoutMs = 5_000;
const checkingMs = 1_000;
/** Without a byte in either direction, while the client has to act. */
const connectionTimeoutMs = 10_000;
const keepAliveTimeoutMs = 5_000;
const headerBytesMax = 16 * 1024;
const headersMax = 100;

export function consoleServer(handler: RequestListener, tls: TlsOptions | undefined): Server {
  const options: ServerOptions = {
    requestTimeout: requestTimeoutMs,
    headersTimeout: headersTimeoutMs,
    connectionsCheckingInterval: checkingMs,
    keepAliveTimeout: keepAliveTimeoutMs,
    maxHeaderSize: headerBytesMax,
  };
  const server = tls === undefined ? createServer(options, handler) : createTlsServer({ ...options, ...tls }, handler);
  idleTimeout(server, connectionTimeoutMs);
  server.maxHeadersCount = headersMax;
  return server;
}
