/** Requests as records of a topic: one record a trace, with the trace id as its key. */
import { setImmediate as turn } from 'node:timers/promises';
import { JuryError } from '../../model/errors.ts';
import { noTenant, type Tenant } from '../../model/ids.ts';
import { type RequestPart, splitRequest } from '../../otlp/cut/split.ts';
import type { OtlpSignal } from '../../otlp/cut/trace-extract.ts';
import { readTraces } from '../../otlp/read/read.ts';
import { writeTraces } from '../../otlp/write/write.ts';
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

/** A part of a request in JSON repeats all resources and scopes. From this growth on each trace is written anew, with its own ones. */
const growthMax = 4;

/** Rejects when the body cannot be read, and with OTLP_TOO_LARGE when its records would have more than `inflatedBytesMax` bytes. */
export async function keyedRecords(
  record: JournalRecord & { readonly kind: OtlpSignal },
  inflatedBytesMax: number,
): Promise<readonly KeyedRecord[]> {
  const { kind, tenant, receivedMs } = record;
  const body = await inflated(record, inflatedBytesMax);
  const encoding = encodingOf(record);
  let { contentType } = record;
  let parts = await runInTurns(
    splitRequest(body, { signal: kind, encoding }, (traceId) => traceId),
    turn,
  );
  if (kind === 'traces' && encoding === 'json' && bytesOf(parts) > body.length * growthMax) {
    parts = rewritten(body);
    contentType = 'application/x-protobuf';
  }
  if (bytesOf(parts) > inflatedBytesMax)
    throw new JuryError(
      'OTLP_TOO_LARGE',
      `Its ${parts.size} traces have ${bytesOf(parts)} bytes with their resources, the limit is ${inflatedBytesMax}.`,
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

type Parts = ReadonlyMap<string | undefined, RequestPart>;

function bytesOf(parts: Parts): number {
  let bytes = 0;
  for (const pieces of parts.values()) for (const { length } of pieces) bytes += length;
  return bytes;
}

function rewritten(body: Buffer): Parts {
  const traces = Map.groupBy(readTraces(body, 'json').spans, ({ traceId }) => traceId);
  return new Map([...traces].map(([traceId, spans]) => [traceId, [writeTraces(spans, 'protobuf')]]));
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
