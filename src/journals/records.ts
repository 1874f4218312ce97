/** Decodes records of the journal: requests, finished traces, and the forwarded position. */
import { promisify } from 'node:util';
import { gunzip, gunzipSync, inflate, inflateSync, zstdDecompress, zstdDecompressSync } from 'node:zlib';
import { noTenant } from '../model/ids.ts';
import { isJsonArray, isJsonObject, jsonText, parseJson } from '../model/json.ts';
import type { LogRecord, Span } from '../model/span.ts';
import type { KeyShapes } from '../otlp/read/key-shapes.ts';
import { logsInSteps, tracesInSteps, type OtlpEncoding } from '../otlp/read/read.ts';
import { runSteps } from '../runtime/cooperative.ts';
import type { JournalRecord, Position } from './journal.ts';

/** `isWhole`: no part was rejected. */
export type Request = (
  | { readonly kind: 'traces'; readonly spans: readonly Span[] }
  | { readonly kind: 'logs'; readonly records: readonly LogRecord[] }
) & { readonly isWhole: boolean };

const nothing: Request = { kind: 'traces', spans: [], isWhole: true };

/** A record that cannot be read, as one of a later release, counts as empty. `shapes`: what was learned of attribute keys in earlier records. */
export function readRequest(record: JournalRecord, inflatedBytesMax: number, shapes: KeyShapes): Request {
  try {
    const body = codingOf(record)?.inline(record.body, { maxOutputLength: inflatedBytesMax }) ?? record.body;
    const encoding = encodingOf(record);
    if (record.kind === 'logs')
      return { kind: 'logs', records: runSteps(logsInSteps(body, encoding, undefined, shapes)).records, isWhole: true };
    const { spans, rejections } = runSteps(tracesInSteps(body, encoding, undefined, shapes));
    return { kind: 'traces', spans, isWhole: rejections.length === 0 };
  } catch {
    return nothing;
  }
}

export function encodingOf({ contentType }: Pick<JournalRecord, 'contentType'>): OtlpEncoding {
  return contentType === 'application/json' ? 'json' : 'protobuf';
}

const codings = {
  gzip: { inline: gunzipSync, onPool: promisify(gunzip) },
  deflate: { inline: inflateSync, onPool: promisify(inflate) },
  zstd: { inline: zstdDecompressSync, onPool: promisify(zstdDecompress) },
} as const;

/** `undefined` when the body is plain. Throws when no release knows the coding. */
function codingOf({ contentEncoding }: JournalRecord): (typeof codings)[keyof typeof codings] | undefined {
  if (contentEncoding === '') return undefined;
  const known = Object.entries(codings).find(([name]) => name === contentEncoding)?.[1];
  if (known === undefined) throw new Error(`the encoding ${contentEncoding} is not known`);
  return known;
}

/** Inflates on the thread pool. */
export async function inflated(record: JournalRecord, maxOutputLength: number): Promise<Buffer> {
  return (await codingOf(record)?.onPool(record.body, { maxOutputLength })) ?? record.body;
}

export function doneRecord(keys: readonly string[], nowMs: number): JournalRecord {
  return {
    kind: 'done',
    tenant: noTenant,
    contentType: 'application/json',
    contentEncoding: '',
    receivedMs: nowMs,
    body: Buffer.from(jsonText([...keys])),
  };
}

/** All requests below the position have gone on. */
export function forwardedRecord(below: Position, nowMs: number): JournalRecord {
  return {
    kind: 'forwarded',
    tenant: noTenant,
    contentType: 'application/json',
    contentEncoding: '',
    receivedMs: nowMs,
    body: Buffer.from(jsonText({ below })),
  };
}

export function forwardedBelow({ body }: JournalRecord): number {
  const value = parseJson(body.toString());
  const below = value !== undefined && isJsonObject(value) ? value['below'] : undefined;
  return typeof below === 'number' ? below : 0;
}

export function keysOf({ body }: JournalRecord): readonly string[] {
  const value = parseJson(body.toString());
  return value !== undefined && isJsonArray(value) ? value.filter((key) => typeof key === 'string') : [];
}
