/** The contract of a receiver: it takes spans and log records from outside and hands them on, or refuses before anything is accepted. */
import type { HostRule } from '../model/http-hosts.ts';
import type { Ingest } from '../model/ingest.ts';
import type { TakeRequest } from './read-request.ts';
import type { BufferPool } from '../runtime/buffer-pool.ts';
import type { ByteLease } from './byte-budget.ts';
import type { Tls } from './tls.ts';
import type { Context } from '../telemetry/context.ts';

export interface Receiver {
  /** Resolves with the address that clients send to. */
  listen(): Promise<{ readonly address: string }>;
  /** Renews the certificates for the next handshakes, where it listens over TLS; whether clients show a certificate does not change. */
  renew(tls: { readonly cert: string; readonly key: string; readonly clientCa?: string }): void;
  /** Refuses new requests, answers the admitted ones, then closes. May be called twice, and without `listen`. */
  stop(): Promise<void>;
}

/** The parts of every receiver. */
export interface ReceiverOptions extends Pick<Context, 'clock' | 'telemetry'> {
  readonly host: string;
  /** 0: any free port; the address of `listen` names it. */
  readonly port: number;
  readonly tls?: Tls;
  readonly limits: RequestLimits;
  /** Lease of the bytes of all requests that are not answered yet. */
  readonly lease: ByteLease;
  /** Empty: everybody may send. */
  readonly tokens: readonly Token[];
  /** When omitted, requests to any name and from any page are taken. */
  readonly hosts?: HostRule;
  readonly ingest: Ingest;
  /** Defaults to reading the request here. */
  readonly take?: TakeRequest;
  /** Memory of bodies; a holder of spans counts as a reader. When omitted, each body has fresh memory. */
  readonly buffers?: BufferPool;
  readonly logger: ReceiverLogger;
}

/** The token of a request decides its tenant. */
export interface Token {
  readonly name: string;
  readonly value: string;
}

export interface RequestLimits {
  /** Limit of one body, as sent. */
  readonly bodyBytes: number;
  /** Limit of one body, inflated. */
  readonly inflatedBytes: number;
}

/** The part of a logger that receivers use. */
export interface ReceiverLogger {
  warn(fields: { readonly [field: string]: unknown }, message: string): void;
}
