/** Records of the journal as what they are: requests of exporters, and notes on which traces are done. */
import { gunzipSync, inflateSync, zstdDecompressSync } from 'node:zlib';
import { noTenant } from '../model/ids.ts';
import { isJsonArray, jsonText, parseJson } from '../model/json.ts';
import type { LogRecord, Span } from '../model/span.ts';
import { readLogs, readTraces, type OtlpEncoding } from '../otlp/read.ts';
import type { JournalRecord } from './journal.ts';

export type Request = { readonly kind: 'traces'; readonly spans: readonly Span[] } | { readonly kind: 'logs'; readonly records: readonly LogRecord[] };

const nothing: Request = { kind: 'traces', spans: [] };

/** What was taken once can be read again; what cannot, a later release may have written, holds nothing. */
export function readRequest(record: JournalRecord, inflatedBytesMax: number): Request {
  try {
    const body = inflated(record, inflatedBytesMax);
    const encoding: OtlpEncoding = record.contentType === 'application/json' ? 'json' : 'protobuf';
    return record.kind === 'logs' ? { kind: 'logs', records: readLogs(body, encoding).records } : { kind: 'traces', spans: readTraces(body, encoding).spans };
  } catch {
    return nothing;
  }
}

function inflated({ contentEncoding, body }: JournalRecord, maxOutputLength: number): Buffer {
  switch (contentEncoding) {
    case '':
      return body;
    case 'gzip':
      return gunzipSync(body, { maxOutputLength });
    case 'deflate':
      return inflateSync(body, { maxOutputLength });
    case 'zstd':
      return zstdDecompressSync(body, { maxOutputLength });
    default:
      throw new Error(`the encoding ${contentEncoding} is not known`);
  }
}

export function doneRecord(keys: readonly string[], nowMs: number): JournalRecord {
  return { kind: 'done', tenant: noTenant, contentType: 'application/json', contentEncoding: '', receivedMs: nowMs, body: Buffer.from(jsonText([...keys])) };
}

export function keysOf({ body }: JournalRecord): readonly string[] {
  const value = parseJson(body.toString());
  return value !== undefined && isJsonArray(value) ? value.filter((key) => typeof key === 'string') : [];
}
