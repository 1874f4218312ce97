/** Ingestion: what receivers hand on to the service, and what the service tells them about admission. */
import type { Tenant } from './ids.ts';
import type { LogRecord, Span } from './span.ts';

export type Admission = 'open' | { readonly refuse: 'overloaded' | 'journal_full' | 'stopping'; readonly retryAfterSeconds: number };

/** A request as it came, for whoever writes it down. */
export interface Received {
  readonly contentType: string;
  /** As the request said; the body stays compressed. Empty: none. */
  readonly contentEncoding: string;
  /** Must not be changed until the request is acknowledged. */
  readonly body: Buffer;
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
