/** The contract of a receiver: it takes spans and log records from outside and hands them on, or refuses before anything is accepted. */
import type { JournalRecord } from '../journals/journal.ts';
import type { Tenant } from '../model/ids.ts';
import type { LogRecord, Span } from '../model/span.ts';

export type Admission = 'open' | { readonly refuse: 'overloaded' | 'journal_full' | 'stopping'; readonly retryAfterSeconds: number };

/** A request as it came, for whoever writes it down. */
export interface Received extends Pick<JournalRecord, 'contentType' | 'contentEncoding' | 'body'> {
  /** The same inflated, for whoever passes it on. */
  readonly plain?: Buffer;
  /** False: something in it was rejected. */
  readonly isWhole?: boolean;
}

/** What a receiver needs from the service. */
export interface Ingest {
  /** When it resolves, the spans are accepted and outlive the process. What it rejects with is answered, and nothing counts as accepted. */
  spans(tenant: Tenant, spans: readonly Span[], request: Received): Promise<void>;
  logs(tenant: Tenant, records: readonly LogRecord[], request: Received): Promise<void>;
  /** True: log records are taken too that belong to no trace. */
  readonly takesAllLogs?: () => boolean;
  /** Asked before a body is read. `isModest`: of a sender that takes little. */
  readonly admission: (isModest: boolean) => Admission;
  /** True: others send so much more than this sender that it is not to suffer for it. */
  readonly isModest?: (sender: string) => boolean;
  /** Told of the bytes that were read of a sender. */
  readonly took?: (sender: string, bytes: number) => void;
  /** Told of a request that a receiver refuses for now of its own accord; gives when it may be tried again. */
  readonly putOff?: (because: 'in_flight' | 'journal') => number;
}

/** Who sends, as far as fairness goes: one machine with one token. */
export function senderOf(tenant: Tenant, address: string | undefined): string {
  return `${address ?? ''} ${tenant}`;
}

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
