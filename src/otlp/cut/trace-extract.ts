/**
 * The part of a protobuf body that holds some traces, cut out byte for byte: each trace gets the resource and scope blocks of its spans or log
 * records with nothing else in them. The grammar is documented in the readers. Unknown fields stay unchanged.
 */
import { JuryError } from '../../model/errors.ts';
import { cursorOver, enter, leave, readHexAgain, readTag, skip, type Cursor, type KnownHex } from '../read/protobuf.ts';

export type OtlpSignal = 'traces' | 'logs';

export interface Excerpt {
  readonly bytes: Buffer;
  /** Spans or records. */
  readonly items: number;
}

/** The same, not copied yet: views of the body, and tags and lengths in between. */
export interface Pieces extends Omit<Excerpt, 'bytes'> {
  readonly pieces: readonly Buffer[];
}

/** Excerpts by trace id; traces without items are left out. Throws OTLP_MALFORMED. */
export function excerpts(body: Buffer, signal: OtlpSignal, wanted: ReadonlySet<string>): ReadonlyMap<string, Excerpt> {
  return new Map(
    [...pieces(body, signal, wanted)].map(([traceId, { pieces: own, items }]) => [traceId, { bytes: Buffer.concat(own), items }]),
  );
}

/** `wanted`: undefined: all of them. */
export function pieces(body: Buffer, signal: OtlpSignal, wanted?: ReadonlySet<string>): ReadonlyMap<string, Pieces> {
  return piecesBy(body, signal, (traceId) => (traceId === undefined || wanted?.has(traceId) === false ? undefined : traceId));
}

/** Pieces by a key of the trace id; items without a key are left out. A trace id is `undefined` where an item has none. */
export function piecesBy<Key>(
  body: Buffer,
  signal: OtlpSignal,
  keyOf: (traceId: string | undefined) => Key | undefined,
): ReadonlyMap<Key, Pieces> {
  const found = new Map<Key, { readonly pieces: Buffer[]; items: number }>();
  const cursor = cursorOver(body);
  const known: KnownHex = { at: -1, hex: '' };
  inBlocks(cursor, resourceField, () => {
    const ofResource = new Map<Key, Buffer[]>();
    const resource = inBlocks(cursor, scopeField, () => {
      const items = new Map<Key, Buffer[]>();
      const scope = inBlocks(cursor, itemField, (start) => {
        const end = cursor.end;
        const key = keyOf(traceIdIn(cursor, signal, known));
        if (key !== undefined) (items.get(key) ?? put(items, key, [])).push(body.subarray(start, end));
      });
      for (const [key, own] of items) {
        (found.get(key) ?? put(found, key, { pieces: [], items: 0 })).items += own.length;
        (ofResource.get(key) ?? put(ofResource, key, [])).push(...message(scopeField, [...scope, ...own]));
      }
    });
    for (const [key, scopes] of ofResource) found.get(key)?.pieces.push(...message(resourceField, [...resource, ...scopes]));
  });
  return found;
}

/** The trace id of the item that the cursor has entered; `undefined` when there is none, or when the item is damaged before it. */
function traceIdIn(cursor: Cursor, signal: OtlpSignal, known: KnownHex): string | undefined {
  const { end } = cursor;
  try {
    return firstField(cursor, traceIdField[signal], (tag) => readHexAgain(cursor, tag, known));
  } catch (error) {
    if (!(error instanceof JuryError)) throw error;
    cursor.end = end;
    return undefined;
  }
}

export const resourceField = 1;
export const scopeField = 2;
export const itemField = 2;
const traceIdField = { traces: 1, logs: 9 } as const;

/** Enters each inner message of the one that the cursor is in; `start` is where its tag begins. Gives all other fields, with their tags. */
export function inBlocks(cursor: Cursor, innerField: number, each: (start: number) => void): readonly Buffer[] {
  const others: Buffer[] = [];
  while (cursor.at < cursor.end) {
    const start = cursor.at;
    const tag = readTag(cursor);
    if (tag >>> 3 === innerField) {
      const outerEnd = enter(cursor, tag);
      each(start);
      leave(cursor, outerEnd);
    } else {
      skip(cursor, tag);
      others.push(cursor.bytes.subarray(start, cursor.at));
    }
  }
  return others;
}

/** The first one of the message that the cursor is in: exporters write ids and times once, and before all that is long. */
export function firstField<Value>(cursor: Cursor, field: number, read: (tag: number) => Value): Value | undefined {
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if (tag >>> 3 === field) return read(tag);
    skip(cursor, tag);
  }
  return undefined;
}

/** A field that holds these. */
export function message(field: number, pieces: readonly Buffer[]): readonly Buffer[] {
  const head: number[] = [field * 8 + 2];
  let length = pieces.reduce((sum, piece) => sum + piece.length, 0);
  for (; length >= 0x80; length = Math.floor(length / 0x80)) head.push((length % 0x80) | 0x80);
  head.push(length);
  return [Buffer.from(head), ...pieces];
}

function put<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): Value {
  map.set(key, value);
  return value;
}
