/**
 * Cuts some traces of a protobuf request into a separate request, byte for byte, with fields added at the end of some spans. A repeated field may be
 * anywhere in its message, so additions go behind the existing bytes, which stay untouched.
 */
import { firstField, inBlocks, itemField, message, resourceField, scopeField } from './trace-extract.ts';
import { cursorOver, readFixed64, readHex, readHexAgain, type Cursor, type KnownHex } from '../read/protobuf.ts';

/** Fields of a span, encoded. */
export type Addition = (endUnixNano: bigint) => Buffer;

/** The wanted part of one trace. */
export interface Cut {
  /** Span ids; undefined: all of them. */
  readonly only: ReadonlySet<string> | undefined;
  /** Additions by span id. */
  readonly additions: ReadonlyMap<string, Addition>;
}

/** Requests by trace id. Returns the body itself where everything in it is wanted unchanged. Throws OTLP_MALFORMED. */
export function spliced(body: Buffer, cuts: ReadonlyMap<string, Cut>): Buffer {
  const cursor = cursorOver(body);
  const known: KnownHex = { at: -1, hex: '' };
  const pieces: Buffer[] = [];
  let isWhole = true;
  inBlocks(cursor, resourceField, () => {
    const scopes: Buffer[] = [];
    const resource = inBlocks(cursor, scopeField, () => {
      const items: Buffer[] = [];
      const scope = inBlocks(cursor, itemField, (start) => {
        const { at, end } = cursor;
        const addition = wanted(cursor, cuts, known);
        if (addition === 'whole') items.push(body.subarray(start, end));
        else isWhole = false;
        if (typeof addition !== 'string') items.push(...message(itemField, [body.subarray(at, end), addition]));
      });
      if (items.length > 0) scopes.push(...message(scopeField, [...scope, ...items]));
    });
    if (scopes.length > 0) pieces.push(...message(resourceField, [...resource, ...scopes]));
  });
  return isWhole ? body : Buffer.concat(pieces);
}

/** The result for the span that the cursor has entered. */
function wanted(cursor: Cursor, cuts: ReadonlyMap<string, Cut>, known: KnownHex): Buffer | 'whole' | 'not' {
  const start = cursor.at;
  const traceId = firstField(cursor, 1, (tag) => readHexAgain(cursor, tag, known));
  const cut = traceId === undefined ? undefined : cuts.get(traceId);
  if (cut === undefined) return 'not';
  if (cut.only === undefined && cut.additions.size === 0) return 'whole';
  cursor.at = start;
  const spanId = firstField(cursor, 2, (tag) => readHex(cursor, tag)) ?? '';
  if (cut.only?.has(spanId) === false) return 'not';
  const addition = cut.additions.get(spanId);
  if (addition === undefined) return 'whole';
  cursor.at = start;
  return addition(firstField(cursor, 8, (tag) => readFixed64(cursor, tag)) ?? 0n);
}
