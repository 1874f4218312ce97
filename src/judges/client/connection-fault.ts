/** Why an endpoint has not answered, from the code of Node, OpenSSL or the HTTP client. */
import type { HttpAnswer } from '../../http/http-client.ts';

export type Unanswered = Extract<HttpAnswer, { readonly kind: 'unanswered' }>;

/** A member of something of which nothing is known; undefined: it has none of its own. */
export function field(from: unknown, name: string): unknown {
  return typeof from === 'object' && from !== null && Object.hasOwn(from, name)
    ? (from as { readonly [key: string]: unknown })[name]
    : undefined;
}

/** Of Node and of OpenSSL: one of the two sides does not take the other's certificate, or what answers speaks no TLS. */
const handshake = /^(?:CERT_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO$)/;

/** The name leads nowhere, or the port is closed. */
const unreachable: ReadonlySet<string> = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** The code of a connection that was not made or broke, as ECONNREFUSED. `undefined` when there is none. */
export function connectionCode(fault: Unanswered): string | undefined {
  if (fault.reason === 'failed') return /^[A-Z][A-Z0-9_]{2,40}$/.test(fault.code) ? fault.code : undefined;
  return fault.reason === 'timed_out' && fault.phase === 'connection' ? 'ETIMEDOUT' : undefined;
}

/** For people: with the code of a fault of certificates. */
export function noConnection(fault: Unanswered): string {
  const code = connectionCode(fault) ?? '';
  return handshake.test(code) ? `no connection, for TLS (${code})` : 'no connection';
}

/** The endpoint has not read the request. */
export function isUnsent(fault: Unanswered): boolean {
  if (fault.reason === 'timed_out') return fault.phase === 'connection';
  return fault.reason === 'failed' && (unreachable.has(fault.code) || handshake.test(fault.code));
}
