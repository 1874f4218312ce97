/** Requests as records of a topic: one record a trace, with the trace id as its key. */
import { setImmediate as turn } from 'node:timers/promises';
import { noTenant, type Tenant } from '../../model/ids.ts';
import { splitRequest } from '../../otlp/cut/split.ts';
import type { OtlpSignal } from '../../otlp/cut/trace-extract.ts';
import { runInTurns, runSteps } from '../../runtime/cooperative.ts';
import type { JournalRecord } from '../journal.ts';
import { encodingOf, inflated } from '../records.ts';
import { partitionOf } from './partitioner.ts';

/** A record to send. */
export interface KeyedRecord {
  /** The trace id in hexadecimal digits, as the Collector writes it. Absent: log records without a trace. */
  readonly key: Buffer | undefined;
  readonly value: Buffer;
  readonly headers: ReadonlyMap<Buffer, Buffer>;
}

/** A record of the topic. */
export interface TopicRecord {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: readonly (readonly [Buffer | null, Buffer | null])[];
}

/** A record without a signal is of another producer and holds spans. */
const header = {
  signal: 'tracejury.signal',
  tenant: 'tracejury.tenant',
  received: 'tracejury.received',
  contentType: 'content-type',
} as const;

/** Rejects when the body cannot be read. */
export async function keyedRecords(
  record: JournalRecord & { readonly kind: OtlpSignal },
  inflatedBytesMax: number,
): Promise<readonly KeyedRecord[]> {
  const { kind, tenant, contentType, receivedMs } = record;
  const body = await inflated(record, inflatedBytesMax);
  const parts = await runInTurns(
    splitRequest(body, { signal: kind, encoding: encodingOf(record) }, (traceId) => traceId),
    turn,
  );
  const headers = new Map(
    [
      [header.signal, kind],
      [header.tenant, tenant],
      [header.received, String(receivedMs)],
      [header.contentType, contentType],
    ].map(([name = '', value = '']) => [Buffer.from(name), Buffer.from(value)]),
  );
  return [...parts].flatMap(([traceId, pieces]) =>
    traceId === undefined && kind === 'traces'
      ? []
      : [{ key: traceId === undefined ? undefined : Buffer.from(traceId), value: Buffer.concat(pieces), headers }],
  );
}

/** `isKeyed`: its traces are where all their records are. */
export function requestIn(
  { key, value, headers }: TopicRecord,
  { partition, partitions, nowMs }: { readonly partition: number; readonly partitions: number; readonly nowMs: number },
): { readonly record: JournalRecord & { readonly kind: OtlpSignal }; readonly isKeyed: boolean } {
  const given = new Map(headers.map(([name, content]) => [name?.toString() ?? '', content?.toString() ?? '']));
  const signal = given.get(header.signal);
  const receivedMs = Number(given.get(header.received) ?? Number.NaN);
  const record = {
    kind: signal === 'logs' ? ('logs' as const) : ('traces' as const),
    tenant: (given.get(header.tenant) ?? noTenant) as Tenant,
    contentType: given.get(header.contentType) ?? 'application/x-protobuf',
    contentEncoding: '',
    receivedMs: Number.isFinite(receivedMs) ? receivedMs : nowMs,
    // The memory of a whole answer of the broker would stay with its last open trace.
    body: Buffer.from(value ?? ''),
  };
  const isInPlace = key === null ? signal !== undefined : partitionOf(key, partitions) === partition;
  return { record, isKeyed: isInPlace && (signal !== undefined || isOneTrace(record.body, key?.toString())) };
}

function isOneTrace(body: Buffer, key: string | undefined): boolean {
  try {
    const parts = runSteps(splitRequest(body, { signal: 'traces', encoding: 'protobuf' }, (traceId) => traceId));
    return parts.size === 1 && parts.has(key);
  } catch {
    return false;
  }
}
