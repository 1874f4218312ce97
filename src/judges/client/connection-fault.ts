/** Why there is no connection to an endpoint, from what `fetch` throws. */

/** A member of something of which nothing is known; undefined: it has none of its own. */
export function field(from: unknown, name: string): unknown {
  return typeof from === 'object' && from !== null && Object.hasOwn(from, name)
    ? (from as { readonly [key: string]: unknown })[name]
    : undefined;
}

/** An error and what caused it; chains of errors are short, and none may be a ring. */
export function chainOf(error: unknown): readonly unknown[] {
  const chain: unknown[] = [];
  for (let one = error; one instanceof Error && chain.length < 10; one = one.cause) chain.push(one);
  return chain;
}

/** Codes of Node and of OpenSSL: one of the two sides does not take the other's certificate, or what answers speaks no TLS. */
const handshake = /^(?:CERT_|DEPTH_ZERO_SELF_SIGNED_CERT$|SELF_SIGNED_CERT_IN_CHAIN$|UNABLE_TO_|ERR_TLS_|ERR_SSL_|EPROTO$)/;

/** Undefined: it was something else. Nobody has read the request. */
export function handshakeCode(error: unknown): string | undefined {
  return chainOf(error)
    .map((one) => field(one, 'code'))
    .find((code): code is string => typeof code === 'string' && handshake.test(code));
}

/** The code of Node or of its client, as ECONNREFUSED. */
export function connectionCode(error: unknown): string | undefined {
  return chainOf(error)
    .map((one) => field(one, 'code'))
    .find((code): code is string => typeof code === 'string' && /^[A-Z][A-Z0-9_]{2,40}$/.test(code));
}

/** For people: with the code, where certificates are to be looked at. */
export function noConnection(error: unknown): string {
  const code = handshakeCode(error);
  return code === undefined ? 'no connection' : `no connection, for TLS (${code})`;
}
