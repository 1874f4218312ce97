/** Reads whole spans of finished traces out of their requests, as the pipeline holds only parts of a span. */
import { setImmediate as turn } from 'node:timers/promises';
import type { LogRecord, Span } from '../model/span.ts';
import { bundle, type BundlePart } from '../otlp/cut/bundle.ts';
import { excerpts, type OtlpSignal } from '../otlp/cut/trace-extract.ts';
import { logsInSteps, tracesInSteps } from '../otlp/read/read.ts';
import { runInTurns } from '../runtime/cooperative.ts';
import { writeLogsJson, writeTraces } from '../otlp/write/write.ts';
import { tenantOf, traceIdOf } from '../pipeline/gathering/trace-table.ts';
import type { FinishedTrace } from '../pipeline/gathering/journal-references.ts';
import type { Redaction } from '../redaction/redaction.ts';
import type { Journal, JournalRecord, Position } from './journal.ts';
import { inflated } from './records.ts';

export interface ReadBackOptions {
  readonly journal: Pick<Journal, 'at'>;
  /** Traces of one request. */
  readonly inflatedBytesMax: number;
  /** Rules for texts that must not be stored. */
  readonly redaction?: Redaction | undefined;
  /** Limit of one trace; a larger one is left out. */
  readonly traceBytesMax?: number;
  /** Limit of all traces of one call. The caller asks again for those without room; the first one always has room. */
  readonly bytesMax?: number;
}

/** Spans of one trace. */
export interface ReadBackTrace {
  /** A bundle; `undefined` when the trace is too large. */
  readonly bundle: Buffer | undefined;
  readonly spans: number;
  /** False when a request is damaged or committed. */
  readonly isWhole: boolean;
  /** True when redaction rules applied. */
  readonly isRedacted: boolean;
  /** True when the traces before it used the limit up. */
  readonly isLater: boolean;
}

/** Read in one turn: some milliseconds. A turn of a busy service takes many, and the journal holds all requests until the last one. */
const bytesPerTurn = 4 * 1024 * 1024;
const bytesMaxDefault = 128 * 1024 * 1024;
const traceBytesMaxDefault = 64 * 1024 * 1024;

interface Gathered {
  /** Each with the first position of its request. */
  readonly parts: (BundlePart & { readonly origin: number })[];
  bytes: number;
  spans: number;
  isWhole: boolean;
  isLater: boolean;
}

/** In the order of the traces. Reads each request once, in slices between other work. */
export async function readBack(
  traces: readonly FinishedTrace[],
  { journal, inflatedBytesMax, redaction, traceBytesMax = traceBytesMaxDefault, bytesMax = bytesMaxDefault }: ReadBackOptions,
): Promise<readonly ReadBackTrace[]> {
  const all = traces.map((): Gathered => ({ parts: [], bytes: 0, spans: 0, isWhole: true, isLater: false }));
  let [held, readBytes] = [0, 0];
  for (const [position, wanting] of byPosition(traces)) {
    const record = await journal.at(position as Position);
    const found =
      record === undefined ? undefined : await partsOf(record, wantedIn(record, wanting, traces), { inflatedBytesMax, redaction });
    for (const at of wanting) {
      const own = all[at];
      if (own === undefined || own.isLater) continue;
      if (found === undefined) own.isWhole = false;
      for (const key of traces[at]?.keys ?? []) {
        for (const part of found?.get(traceIdOf(key)) ?? []) {
          own.bytes += part.bytes.length;
          own.spans += part.signal === 'traces' ? part.items : 0;
          own.parts.push({ ...part, origin: record?.origin ?? position });
          held += part.bytes.length;
          // A trace over the limit frees its bytes.
          if (own.bytes > traceBytesMax) held -= emptied(own);
        }
      }
    }
    for (let last = all.length - 1; held > bytesMax && last > 0; last--) {
      const own = all[last];
      if (own === undefined || own.parts.length === 0) continue;
      held -= emptied(own);
      own.isLater = true;
    }
    readBytes += record?.body.length ?? 0;
    if (readBytes < bytesPerTurn) continue;
    readBytes = 0;
    await turn();
  }
  return all.map(({ parts, bytes, spans, isWhole, isLater }) => ({
    bundle: bytes > traceBytesMax || isLater ? undefined : bundle(parts.sort((one, other) => one.origin - other.origin)),
    spans,
    isWhole,
    isRedacted: redaction !== undefined,
    isLater,
  }));
}

/** Returns the freed bytes. */
function emptied({ parts }: Gathered): number {
  return parts.splice(0).reduce((sum, { bytes }) => sum + bytes.length, 0);
}

/** Traces by request, in the order of the journal. */
function byPosition(traces: readonly FinishedTrace[]): readonly (readonly [number, readonly number[]])[] {
  const wanting = new Map<number, number[]>();
  for (const [at, { positions }] of traces.entries()) {
    for (const position of positions) {
      const known = wanting.get(position);
      if (known === undefined) wanting.set(position, [at]);
      else known.push(at);
    }
  }
  return [...wanting].sort(([one], [other]) => one - other);
}

/** Ids of those traces that belong to the tenant of the request. */
function wantedIn({ tenant }: JournalRecord, wanting: readonly number[], traces: readonly FinishedTrace[]): ReadonlySet<string> {
  const keys = wanting.flatMap((at) => traces[at]?.keys ?? []);
  return new Set(keys.filter((key) => tenantOf(key) === tenant).map(traceIdOf));
}

type Part = BundlePart & { readonly items: number };

/** Spans that are encoded in one turn. */
const spansPerTurn = 100;

/** Spans by trace id; `undefined` when the request cannot be read. */
async function partsOf(
  record: JournalRecord,
  wanted: ReadonlySet<string>,
  { inflatedBytesMax, redaction }: Pick<ReadBackOptions, 'inflatedBytesMax' | 'redaction'>,
): Promise<ReadonlyMap<string, readonly Part[]> | undefined> {
  if (record.kind === 'done' || record.kind === 'forwarded') return new Map();
  const signal = record.kind;
  try {
    const body = await inflated(record, inflatedBytesMax);
    const isJson = record.contentType === 'application/json';
    if (!isJson && redaction === undefined)
      return new Map(
        [...excerpts(body, signal, wanted)].map(([traceId, { bytes, items }]) => [
          traceId,
          [{ signal, encoding: 'protobuf', bytes, items }],
        ]),
      );
    return await written(body, { signal, encoding: isJson ? 'json' : 'protobuf', wanted, redaction });
  } catch {
    return undefined;
  }
}

interface Decoding {
  readonly signal: OtlpSignal;
  readonly encoding: 'json' | 'protobuf';
  readonly wanted: ReadonlySet<string>;
  readonly redaction: Redaction | undefined;
}

/** Decodes and encodes requests that cannot be cut as bytes: a large trace becomes several. */
async function written(body: Buffer, { signal, encoding, wanted, redaction }: Decoding): Promise<ReadonlyMap<string, readonly Part[]>> {
  const spans: readonly Span[] = signal === 'traces' ? (await runInTurns(tracesInSteps(body, encoding), turn)).spans : [];
  const records: readonly LogRecord[] = signal === 'logs' ? (await runInTurns(logsInSteps(body, encoding), turn)).records : [];
  const [spansOf, recordsOf] = [byTrace(spans, wanted), byTrace(records, wanted)];
  const found = new Map<string, readonly Part[]>();
  for (const traceId of wanted) {
    const own = { spans: spansOf.get(traceId) ?? [], records: recordsOf.get(traceId) ?? [] };
    const parts: Part[] = [];
    for (let at = 0; at < own.spans.length + own.records.length; at += spansPerTurn) {
      const some = { spans: own.spans.slice(at, at + spansPerTurn), records: own.records.slice(at, at + spansPerTurn) };
      const kept = redaction === undefined ? some : redaction.spans(some.spans, some.records);
      parts.push({
        signal,
        encoding: 'json',
        bytes: signal === 'traces' ? writeTraces(kept.spans, 'json') : writeLogsJson(kept.records),
        items: some.spans.length + some.records.length,
      });
      await turn();
    }
    if (parts.length > 0) found.set(traceId, parts);
  }
  return found;
}

function byTrace<Item extends Span | LogRecord>(items: readonly Item[], wanted: ReadonlySet<string>): ReadonlyMap<string, readonly Item[]> {
  const found = new Map<string, Item[]>();
  for (const item of items) {
    const { traceId } = item;
    const known = found.get(traceId);
    if (known !== undefined) known.push(item);
    else if (wanted.has(traceId)) found.set(traceId, [item]);
  }
  return found;
}
