/** The server of OTLP over gRPC: bounded HTTP/2 sessions and their orderly end. */
import type { GrpcBounds } from './grpc-session.ts';
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type ServerOptions,
} from 'node:http2';
import type { TLSSocket } from 'node:tls';
import type { Clock } from '../../model/clock.ts';
import type { Connections } from '../connection-tracker.ts';
import { endAnswered, wholeAnswer } from '../http/otlp-http-server.ts';
import { notHttp2 } from '../rejection.ts';
import { boundedSession, type SessionEnd } from './grpc-session.ts';
import { handshakeEnd, spokePlain, renewTls, tlsOptions, type HandshakeEnd, type Tls } from '../tls.ts';

export const defaultGrpcBounds: GrpcBounds = {
  connectionsMax: 1_024,
  streamsMax: 100,
  handshakeMs: 10_000,
  idleMs: 300_000,
  ageMs: 1_800_000,
  farewellMs: 1_000,
  pingsMax: 100,
  settingsMax: 100,
  overheadBytesMax: 1024 * 1024,
  overheadCheckMs: 1_000,
  requestMs: 20_000,
  answerMs: 5_000,
  stopMs: 10_000,
};

/** Room for a bearer token and a chain of proxies. */
const headerBytesMax = 16 * 1024;
const headersMax = 100;
/** Bytes that may be in flight to us unread: enough for a fast line, little enough for a thousand connections. */
const streamWindowBytes = 256 * 1024;
const sessionWindowBytes = 1024 * 1024;
/** Requests that a client takes back, in a burst and then a second. */
const takenBackBurst = 200;
const takenBackPerSecond = 33;
const invalidFramesMax = 100;

export type ConnectionEnd = SessionEnd | HandshakeEnd;

export interface GrpcServer {
  listen(address: { readonly host: string; readonly port: number }): Promise<{ readonly address: string }>;
  renew(tls: Tls): void;
  stop(): Promise<void>;
}

export interface GrpcServerOptions {
  readonly tls: Tls | undefined;
  readonly bounds: GrpcBounds;
  readonly clock: Clock;
  readonly connections: Connections;
  /** Called for each connection that is ended by us for what it said. */
  readonly ended: (reason: ConnectionEnd, spokePlain?: boolean) => void;
  readonly call: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void;
}

export function grpcServer({ tls, bounds, clock, connections, ended, call }: GrpcServerOptions): GrpcServer {
  const sessions = new Set<ServerHttp2Session>();
  const server = open(tls, bounds);
  connections.watchSockets(server);
  server.on('tlsClientError', (error: Error, socket: TLSSocket) => {
    const reason = handshakeEnd(error, socket);
    if (reason !== undefined) ended(reason, spokePlain(error));
  });
  // Over TLS a client announces HTTP/2 before its first bytes. Node would answer 403 with a page about its options.
  server.on('unknownProtocol', (socket: TLSSocket) => {
    ended('not_http2');
    // Reads the request away: a socket that closes with unread bytes takes the answer from its client.
    socket.on('error', () => socket.destroy()).resume();
    socket.write(wholeAnswer({ ...notHttp2, message: `${notHttp2.message} ${notHttp2.todo}` }));
    endAnswered(socket);
  });
  let opened = 0;
  server.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
    session.setLocalWindowSize(sessionWindowBytes);
    // The end of a session informs its client.
    connections.endedBy(session.socket, () => session.destroy());
    boundedSession({
      session,
      bounds: {
        ...bounds,
        streamWindowBytes,
        headerBytesMax,
        requestOverheadBytes: 2 * headerBytesMax,
        ageMs: spread(bounds.ageMs, opened++),
      },
      clock,
      ended,
    });
  });
  server.on('stream', (stream, headers) => {
    const peer = stream.session?.socket;
    if (peer !== undefined) stream.once('close', connections.begin(peer));
    call(stream, headers);
  });

  return {
    listen: ({ host, port }) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen({ host, port }, () => {
          server.off('error', reject);
          resolve({ address: `${tls === undefined ? '' : 'https://'}${addressText(server)}` });
        });
      }),
    renew: (next) => renewTls(server, next),
    async stop() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions) session.close();
      const timer = setTimeout(() => sessions.forEach((session) => session.destroy()), bounds.stopMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

function open(tls: Tls | undefined, { streamsMax, handshakeMs }: GrpcBounds): Http2Server {
  const options: ServerOptions = {
    settings: { maxConcurrentStreams: streamsMax, initialWindowSize: streamWindowBytes, maxHeaderListSize: headerBytesMax },
    maxHeaderListPairs: headersMax,
    maxSessionInvalidFrames: invalidFramesMax,
    streamResetBurst: takenBackBurst,
    streamResetRate: takenBackPerSecond,
    unknownProtocolTimeout: handshakeMs,
  };
  return tls === undefined
    ? createServer(options)
    : createSecureServer({ ...options, ...tlsOptions(tls), handshakeTimeout: handshakeMs, ALPNCallback: chosenProtocol });
}

/** HTTP/1.1 is chosen to be answered: without a protocol in common the handshake fails with an alert that names none. */
function chosenProtocol({ protocols }: { readonly protocols: readonly string[] }): string | undefined {
  return ['h2', 'http/1.1'].find((name) => protocols.includes(name));
}

/** Nine to eleven tenths, different from one connection to the next: connections that came together do not leave together. */
function spread(ms: number, at: number): number {
  const goldenRatio = 0.618;
  return ms * (0.9 + 0.2 * ((at * goldenRatio) % 1));
}

function addressText(server: Http2Server): string {
  const at = server.address();
  if (at === null || typeof at === 'string') return String(at);
  return at.family === 'IPv6' ? `[${at.address}]:${at.port}` : `${at.address}:${at.port}`;
}
