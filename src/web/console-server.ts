/** The socket side of the console listener: time limits and header limits. */
import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { TlsOptions } from 'node:tls';

/** From the first byte of a request to its last. */
const requestTimeoutMs = 10_000;
/** For its headers; also what a connection has that says nothing at all. */
const headersTimeoutMs = 5_000;
const checkingMs = 1_000;
/** No byte either way. */
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
  server.setTimeout(connectionTimeoutMs);
  server.maxHeadersCount = headersMax;
  return server;
}
