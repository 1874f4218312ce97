/** The contract of a receiver: it takes spans and log records from outside and hands them on, or refuses before anything is accepted. */

export interface Receiver {
  /** Resolves with the address that clients send to. */
  listen(): Promise<{ readonly address: string }>;
  /** For the next handshakes, where it listens over TLS; whether clients show a certificate stays as it is. */
  renew(tls: { readonly cert: string; readonly key: string; readonly clientCa?: string }): void;
  /** Refuses new requests, answers those under way, then closes. May be called twice, and without `listen`. */
  stop(): Promise<void>;
}

/** The part of a logger that receivers use. */
export interface ReceiverLogger {
  warn(fields: { readonly [field: string]: unknown }, message: string): void;
}
