/** TLS of every listener, and the reason of a failed handshake. */
import { constants } from 'node:crypto';
import { Server, type TLSSocket, type TlsOptions } from 'node:tls';

/** PEM texts. */
export interface Tls {
  /** The service's own certificate first, then what leads to its authority. */
  readonly cert: string;
  readonly key: string;
  /** Authorities: only clients that show a certificate of theirs are let in. Undefined: clients show none. */
  readonly clientCa?: string;
}

/** As long as a gRPC connection has for its first words. Node would wait two minutes. */
const handshakeTimeoutMs = 10_000;

/** Options for `createServer` of HTTP and of HTTP/2. */
export function tlsOptions({ cert, key, clientCa }: Tls) {
  return {
    cert,
    key,
    // Said here, so that no flag of the process lowers it.
    minVersion: 'TLSv1.2',
    // TLS 1.2 lets a client ask for a new handshake again and again, which costs it little and us much.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    handshakeTimeout: handshakeTimeoutMs,
    ...(clientCa === undefined ? {} : { ca: clientCa, requestCert: true, rejectUnauthorized: true }),
  } as const satisfies TlsOptions;
}

/** From the next handshake on; connections that are open keep what they began with. A server without TLS stays without. */
export function renewTls(server: object, tls: Tls): void {
  if (server instanceof Server) server.setSecureContext(tlsOptions(tls));
}

export type HandshakeEnd = 'no_handshake' | 'tls_handshake';

/** Why a handshake ended, from `tlsClientError`. Undefined: the client left by itself, as probes of open ports do. */
export function handshakeEnd(error: NodeJS.ErrnoException, socket: Pick<TLSSocket, 'authorizationError'>): HandshakeEnd | undefined {
  if (error.code === 'ERR_TLS_HANDSHAKE_TIMEOUT') return 'no_handshake';
  // A stranger's certificate ends the connection without a separate error.
  return error.code === 'ECONNRESET' && !socket.authorizationError ? undefined : 'tls_handshake';
}

/** OpenSSL's codes for a first record that is a request of HTTP/1.1, or of another protocol without TLS such as HTTP/2. */
const plainCodes: ReadonlySet<string | undefined> = new Set([
  'ERR_SSL_HTTP_REQUEST',
  'ERR_SSL_WRONG_VERSION_NUMBER',
  'ERR_SSL_PACKET_LENGTH_TOO_LONG',
]);

/** True when a client spoke without TLS, by its `tlsClientError`. It gets no answer: its connection is gone by then. */
export function spokePlain(error: NodeJS.ErrnoException): boolean {
  return plainCodes.has(error.code);
}
