/** Requests as records of a topic: one record a trace, with the trace id as its key. */
import { setImmediate as turn } from 'node:timers/promises';
import { JuryError } from '../../model/errors.ts';
import { isJsonArray, isJsonObject, parseJson } from '../../model/json.ts';
import type { SessionNote } from '../../pipeline/assembly/session-tool-definitions.ts';
import { noTenant, type Tenant, type TraceId } from '../../model/ids.ts';
import type { BundlePart } from '../../otlp/cut/bundle.ts';
import { type RequestPart, splitRequest } from '../../otlp/cut/split.ts';
import type { OtlpSignal } from '../../otlp/cut/trace-extract.ts';
import { readTraces } from '../../otlp/read/read.ts';
import { writeTraces } from '../../otlp/write/write.ts';
import { tenantOf, traceIdOf, traceKey } from '../../pipeline/gathering/trace-table.ts';
import { runInTurns, runSteps } from '../../runtime/cooperative.ts';
import type { JournalRecord } from '../journal.ts';
import { encodingOf, inflated } from '../records.ts';
import { partitionOf } from './partitioner.ts';

/** A record to send. */
export interface KeyedRecord {
  /** The trace id in hexadecimal digits, as the Collector writes it. Absent for log records without a trace. */
  readonly key: Buffer | undefined;
  readonly value: Buffer;
  readonly headers: ReadonlyMap<Buffer, Buffer>;
  /** Absent when the key has it. */
  readonly partition?: number;
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
  /** Number of times the trace went to the process that joins it. Absent when it never did. */
  moves: 'tracejury.moves',
  contentType: 'content-type',
} as const;

/** The signals of records that claim a trace, and of those on the tools of a session. */
const [claim, note] = ['claim', 'note'];

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
  const headers = headersOf({ signal: kind, tenant, received: String(receivedMs), contentType });
  return [...parts].flatMap(([traceId, pieces]) =>
    traceId === undefined && kind === 'traces'
      ? []
      : [{ key: traceId === undefined ? undefined : Buffer.from(traceId), value: Buffer.concat(pieces), headers }],
  );
}

function headersOf(values: { readonly [name in keyof typeof header]?: string }): ReadonlyMap<Buffer, Buffer> {
  return new Map(Object.entries(values).map(([name, value]) => [Buffer.from(header[name as keyof typeof header]), Buffer.from(value)]));
}

interface Placed {
  readonly partition: number;
  readonly nowMs: number;
}

/** A part of a trace, for the process that joins it. */
export function movedRecord(
  key: string,
  { signal, encoding, bytes }: BundlePart,
  { partition, nowMs, moves }: Placed & { readonly moves: number },
): KeyedRecord {
  const contentType = encoding === 'json' ? 'application/json' : 'application/x-protobuf';
  const headers = headersOf({ signal, tenant: tenantOf(key), received: String(nowMs), contentType, moves: String(moves) });
  return { key: Buffer.from(traceIdOf(key)), value: bytes, headers, partition };
}

/** Has the owner of the partition hand over the trace with this key. */
export function claimRecord(key: string, { partition, nowMs }: Placed): KeyedRecord {
  const headers = headersOf({ signal: claim, tenant: tenantOf(key), received: String(nowMs) });
  return { key: Buffer.from(traceIdOf(key)), value: Buffer.alloc(0), headers, partition };
}

/** Notes of turns of a session on its tools. */
export function noteRecord({ tenant, ...content }: SessionNote, { partition, nowMs }: Placed): KeyedRecord {
  const headers = headersOf({ signal: note, tenant, received: String(nowMs) });
  return { key: undefined, value: Buffer.from(JSON.stringify(content)), headers, partition };
}

/** `undefined`: another release wrote it. */
function noteIn(tenant: Tenant, value: Buffer | null): SessionNote | undefined {
  const content = parseJson(value?.toString() ?? '');
  if (content === undefined || !isJsonObject(content)) return undefined;
  const [key, tools, isWanted] = ['key', 'tools', 'isWanted'].map((name) => content[name]);
  if (typeof key !== 'string' || tools === undefined || !isJsonArray(tools)) return undefined;
  const told = tools.flatMap((one) => {
    const [name, known] = isJsonArray(one) ? one : [];
    if (typeof name !== 'string' || known === undefined || !isJsonObject(known)) return [];
    const { description, inputSchema } = known;
    return [
      [name, { description: typeof description === 'string' || description === null ? description : undefined, inputSchema }] as const,
    ];
  });
  return { tenant, key, tools: told, isWanted: isWanted === true };
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

/**
 * A claim of the trace with this key, a note, or a request. `isKeyed`: its traces are where all their records are. `moves`: how often its trace went to the
 * process that joins it.
 */
export type Arrived =
  | { readonly kind: 'claim'; readonly key: string; readonly sentMs: number }
  | { readonly kind: 'note'; readonly note: SessionNote }
  | {
      readonly kind: 'request';
      readonly record: JournalRecord & { readonly kind: OtlpSignal };
      readonly isKeyed: boolean;
      readonly moves: number;
      readonly key: string;
    };

export function requestIn(
  { key, value, headers }: TopicRecord,
  { partition, partitions, nowMs }: { readonly partition: number; readonly partitions: number; readonly nowMs: number },
): Arrived {
  const given = new Map(headers.map(([name, content]) => [name?.toString() ?? '', content?.toString() ?? '']));
  const signal = given.get(header.signal);
  const tenant = (given.get(header.tenant) ?? noTenant) as Tenant;
  const named = traceKey(tenant, (key?.toString() ?? '') as TraceId);
  const receivedMs = numberIn(given.get(header.received), nowMs);
  if (signal === claim) return { kind: 'claim', key: named, sentMs: receivedMs };
  const told = signal === note ? noteIn(tenant, value) : undefined;
  if (told !== undefined) return { kind: 'note', note: told };
  const moves = signal === undefined ? 0 : numberIn(given.get(header.moves), 0);
  const record = {
    kind: signal === 'logs' ? ('logs' as const) : ('traces' as const),
    tenant,
    contentType: given.get(header.contentType) ?? 'application/x-protobuf',
    contentEncoding: '',
    receivedMs,
    // The memory of a whole answer of the broker would stay with its last open trace.
    body: Buffer.from(value ?? ''),
    ...(moves > 0 ? { isCopy: true as const } : {}),
  };
  const isInPlace = moves > 0 || (key === null ? signal !== undefined : partitionOf(key, partitions) === partition);
  const isKeyed = isInPlace && (signal !== undefined || isOneTrace(record.body, key?.toString()));
  return { kind: 'request', record, isKeyed, moves, key: named };
}

function numberIn(text: string | undefined, otherwise: number): number {
  const value = Number(text ?? Number.NaN);
  return Number.isFinite(value) ? value : otherwise;
}

function isOneTrace(body: Buffer, key: string | undefined): boolean {
  try {
    const parts = runSteps(splitRequest(body, { signal: 'traces', encoding: 'protobuf' }, (traceId) => traceId));
    return parts.size === 1 && parts.has(key);
  } catch {
    return false;
  }
}
