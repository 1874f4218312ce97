/** Ingestion: what receivers hand on to the service, and what the service tells them about admission. */
import type { Tenant } from './ids.ts';
import type { LogRecord, Span } from './span.ts';

export type Admission = 'open' | { readonly refuse: 'overloaded' | 'journal_full' | 'stopping'; readonly retryAfterSeconds: number };

/** Counts the readers of memory that is used again after the last one. Whoever reads beyond the call that brought it retains it first. */
export interface MemoryReference {
  /** One more reader. Throws when the memory was given back. */
  retain(): void;
  /** One reader less; the last one gives the memory back. Throws when it was given back before. */
  release(): void;
  /** Leaves the memory to the garbage collector, for readers that cannot say when they are done. */
  keep(): void;
}

/** A request as it came, for whoever writes it down. */
export interface Received {
  readonly contentType: string;
  /** As the request said; the body stays compressed. Empty: none. */
  readonly contentEncoding: string;
  /** Must not be changed until the request is acknowledged. Valid until then. */
  readonly body: Buffer;
  /** Of `body`; absent when it is not used again. */
  readonly bodyMemory?: MemoryReference;
  /** The same inflated, for whoever passes it on. Valid until the request is acknowledged. */
  readonly plain?: Buffer;
  /** Of `plain`, in which the spans lie; absent when it is not used again. */
  readonly plainMemory?: MemoryReference;
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
