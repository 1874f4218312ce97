/** Ingestion: what receivers pass to the service, and how the service admits requests. */
import type { Tenant } from './ids.ts';
import type { LogRecord, Span } from './span.ts';

export type Admission =
  | 'open'
  | { readonly refuse: 'overloaded' | 'journal_full' | 'stopping' | 'store_away'; readonly retryAfterSeconds: number };

/** A count of readers of pooled memory. A reader that outlives the call that delivered the memory retains it first. */
export interface MemoryReference {
  /** Adds a reader. Throws when the memory was released. */
  retain(): void;
  /** Removes a reader; the last one releases the memory. Throws when it was released before. */
  release(): void;
  /** Leaves the memory to the garbage collector, for readers without a known end. */
  keep(): void;
}

/** A request as it arrived, for the journal. */
export interface Received {
  readonly contentType: string;
  /** The value in the request; `body` stays compressed. Empty when there is none. */
  readonly contentEncoding: string;
  /** Immutable and valid until the request is acknowledged. */
  readonly body: Buffer;
  /** The memory of `body`; absent when it is not pooled. */
  readonly bodyMemory?: MemoryReference;
  /** The decompressed body, for forwarding. Valid until the request is acknowledged. */
  readonly plain?: Buffer;
  /** The memory of `plain`, which contains the spans; absent when it is not pooled. */
  readonly plainMemory?: MemoryReference;
  /** False when the receiver rejected a part of it. */
  readonly isWhole?: boolean;
}

/** `open`: requests are taken, if their bytes fit. `soon`: none is taken, for a reason that may pass within a second. `later`: for one that lasts. */
export type Outlook = 'open' | 'soon' | 'later';

/** The end of the admission of a request. */
export type HoldEnd<Taken> = { readonly kind: 'taken'; readonly taken: Taken } | { readonly kind: 'refused' } | { readonly kind: 'gone' };

export interface HoldRequest<Taken> {
  /** Requests of one lane are taken in the order of their arrival. While its outlook is `open`, one that does not fit holds up no other. */
  readonly lane: string;
  readonly sender: string;
  /** Takes the request; `undefined` while there is no room. */
  readonly take: () => Taken | undefined;
  /** The outlook of its lane. */
  readonly outlook: () => Outlook;
  /** The client needs its answer within this time. */
  readonly waitMsMax?: number;
  /** Calls `left` when the client goes away. */
  readonly whenGone: (left: () => void) => void;
}

/** A bounded waiting room for requests without room. */
export interface HeldRequests {
  /** Takes the request at once, or holds it until there is room or its time is over. */
  enter<Taken>(request: HoldRequest<Taken>): HoldEnd<Taken> | Promise<HoldEnd<Taken>>;
  /** Refuses all that are held. */
  stop(): void;
}

/** The service as receivers see it. */
export interface Ingest {
  /** Resolves once the spans are accepted and durable. A rejection is answered to the sender, and nothing is accepted. */
  spans(tenant: Tenant, spans: readonly Span[], request: Received): Promise<void>;
  logs(tenant: Tenant, records: readonly LogRecord[], request: Received): Promise<void>;
  /** True when log records without a trace are accepted too. */
  readonly takesAllLogs?: () => boolean;
  /** Called before a body is read. `isModest`: the sender uses little of the capacity. */
  readonly admission: (isModest: boolean) => Admission;
  /** The answer that `admission` would give now, without counting a request. */
  readonly outlook?: (isModest: boolean) => Outlook;
  /** Holds requests unless the outlook is `later`. When omitted, they are refused at once. */
  readonly held?: HeldRequests;
  /** True when other senders use far more than this one, which is therefore exempt from load shedding. */
  readonly isModest?: (sender: string) => boolean;
  /** Called with the bytes read from a sender. */
  readonly took?: (sender: string, bytes: number) => void;
  /** Called when a receiver defers a request by itself. Returns the seconds until a retry. */
  readonly putOff?: (because: 'in_flight' | 'journal') => number;
}

/** A sender for fair sharing: one machine with one token. */
export function senderOf(tenant: Tenant, address: string | undefined): string {
  return `${address ?? ''} ${tenant}`;
}
