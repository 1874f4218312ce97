/** Messages between the thread of the listeners and the threads of the shards. */
import type { MessagePort } from 'node:worker_threads';
import type { ConfigText } from '../../config/load.ts';
import type { ErrorCode } from '../../model/errors.ts';
import type { EntryStatus } from '../../model/exporter-status.ts';
import type { Tenant } from '../../model/ids.ts';
import type { ProcessKey } from '../../model/store/process-store.ts';
import type { OtlpEncoding } from '../../otlp/read/read.ts';
import type { OtlpSignal } from '../../otlp/write/responses.ts';
import type { SessionNote } from '../../pipeline/assembly/session-tool-definitions.ts';
import type { UnrecognisedNotice } from '../../pipeline/reporting/recognition.ts';
import type { TakenRequest } from '../../receivers/read-request.ts';
import type { MetricPoints } from '../../telemetry/merge.ts';
import type { Readings } from '../overload.ts';

/** Index of the shard that joins traces: parts of runs in several traces come together there. */
export const joiningShard = 0;

/** Given to the thread when it starts. */
export interface ShardData {
  readonly index: number;
  readonly shards: number;
  readonly config: ConfigText;
  readonly logLevel: string;
}

/** A request, or a part of one. */
export interface ShardRequest {
  readonly signal: OtlpSignal;
  readonly encoding: OtlpEncoding;
  readonly tenant: Tenant;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Items that cannot be sent at a stop. */
export interface ShardLeft {
  readonly unsent: number;
  readonly unforwarded: number;
}

/** Figures that people and other programs ask for. */
export interface ShardFigures {
  readonly metrics: readonly MetricPoints[];
  readonly exporters: readonly EntryStatus[];
  readonly unrecognised: readonly UnrecognisedNotice[];
  readonly fullFolder: string | undefined;
}

/** Calls to a shard, with their answers. */
export interface ShardCalls {
  /** Opens the journal of the shard. Answers with the keys of the traces that are open in it. */
  readonly start: { readonly ask: undefined; readonly answer: readonly string[] };
  /** Answered when the journal of the shard has the request. */
  readonly take: { readonly ask: ShardRequest; readonly answer: TakenRequest };
  readonly figures: { readonly ask: undefined; readonly answer: ShardFigures };
  /** Reads a configuration, which `exchange` puts in force. */
  readonly prepare: { readonly ask: ConfigText; readonly answer: undefined };
  readonly exchange: { readonly ask: undefined; readonly answer: undefined };
  /** Drops what is learnt of one process. */
  readonly forget: { readonly ask: ProcessKey; readonly answer: undefined };
  /** The trace with this key belongs to the shard that joins traces. */
  readonly release: { readonly ask: string; readonly answer: undefined };
  /** The tools of a session, published by another shard. */
  readonly hear: { readonly ask: SessionNote; readonly answer: undefined };
  /** The trace that was handed over is in the journal of the other shard, or could not be taken. */
  readonly handedOver: { readonly ask: { readonly id: number; readonly isTaken: boolean }; readonly answer: undefined };
  readonly stop: { readonly ask: number; readonly answer: ShardLeft };
}

export type ShardCall = {
  [name in keyof ShardCalls]: { readonly id: number; readonly name: name; readonly value: ShardCalls[name]['ask'] };
}[keyof ShardCalls];

export type ShardReply =
  | { readonly kind: 'answer'; readonly id: number; readonly value: ShardCalls[keyof ShardCalls]['answer'] }
  | { readonly kind: 'failed'; readonly id: number; readonly code: ErrorCode | undefined; readonly why: string }
  | { readonly kind: 'readings'; readonly readings: Readings }
  /** A line of the log, as JSON. */
  | { readonly kind: 'log'; readonly line: string }
  /** A request of one trace is for the shard that joins traces. */
  | { readonly kind: 'hand_over'; readonly id: number; readonly key: string; readonly request: ShardRequest }
  /** The trace with this key is linked with one of this shard. */
  | { readonly kind: 'claim'; readonly key: string }
  | { readonly kind: 'publish'; readonly note: SessionNote }
  /** The outbox has new rows. */
  | { readonly kind: 'rows' }
  /** The shard needs a port to the store. */
  | { readonly kind: 'store_wanted' };

/** The answer to `store_wanted`. */
export interface StorePort {
  readonly name: 'store';
  readonly port: MessagePort;
}
