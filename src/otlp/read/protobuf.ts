/**
 * Reading the protobuf wire format.
 *
 *     message  = { tag value }
 *     tag      = varint: field number << 3 | wire type
 *     value    = varint (type 0) | 8 bytes (1) | varint length, then as many bytes (2) | 4 bytes (5)
 *
 * Groups (types 3 and 4) are refused: no OTLP message has any. A known field with another wire type than its own is refused as
 * well, as the OpenTelemetry Collector does; it shows that the body is something else.
 */
import { JuryError } from '../../model/errors.ts';
import { utf8Text } from './utf8.ts';

export const wireType = { varint: 0, fixed64: 1, bytes: 2, fixed32: 5 } as const;

export interface Body {
  readonly bytes: Buffer;
  /** View over `bytes` for reading numbers. */
  readonly view: DataView;
}

/** A place in a body. Every read stays below `end`, which is the end of the innermost message entered. */
export interface Cursor extends Body {
  at: number;
  end: number;
  /** Upper 32 bits of the last varint. */
  high: number;
  /** Tags that may still be read. */
  fieldsLeft: number;
}

export function cursorOver(bytes: Buffer): Cursor {
  return cursorAt({ bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength) }, 0, bytes.length);
}

export function cursorAt({ bytes, view }: Body, start: number, end: number): Cursor {
  return { bytes, view, at: start, end, high: 0, fieldsLeft: unbounded };
}

export function malformed(why: string): JuryError {
  return new JuryError('OTLP_MALFORMED', why);
}

/** For what was read before and is read again. */
const unbounded = 2 ** 31 - 1;

/** The next tag. The field number is `tag >>> 3`. */
export function readTag(cursor: Cursor): number {
  if (--cursor.fieldsLeft < 0) throw malformed(`There are too many fields before byte ${cursor.at}.`);
  const tag = readVarint(cursor);
  if (cursor.high !== 0 || tag >>> 3 === 0) throw malformed(`There is no valid field number before byte ${cursor.at}.`);
  return tag;
}

/** Narrows the cursor to the message or text that follows; gives the former end for `leave`. */
export function enter(cursor: Cursor, tag: number): number {
  expect(cursor, tag, wireType.bytes);
  const length = readVarint(cursor);
  if (cursor.high !== 0 || length > cursor.end - cursor.at)
    throw malformed(`A length before byte ${cursor.at} points behind the end of its message.`);
  const outerEnd = cursor.end;
  cursor.end = cursor.at + length;
  return outerEnd;
}

/** Ends what `enter` began; what is left unread of it is passed over. */
export function leave(cursor: Cursor, outerEnd: number): void {
  cursor.at = cursor.end;
  cursor.end = outerEnd;
}

/** A text; bytes that are not UTF-8 become U+FFFD, see `utf8Text`. */
export function readText(cursor: Cursor, tag: number): string {
  const outerEnd = enter(cursor, tag);
  const text = utf8Text(cursor.bytes, cursor.at, cursor.end);
  leave(cursor, outerEnd);
  return text;
}

/** Bytes in lower-case hex. */
export function readHex(cursor: Cursor, tag: number): string {
  const outerEnd = enter(cursor, tag);
  const hex = cursor.bytes.toString('hex', cursor.at, cursor.end);
  leave(cursor, outerEnd);
  return hex;
}

/** As `readHex`, of bytes that are often those of `known`: then the same text is given, and none is made. */
export function readHexAgain(cursor: Cursor, tag: number, known: KnownHex): string {
  const outerEnd = enter(cursor, tag);
  const { at, end, view } = cursor;
  if (end - at !== 16 || known.at < 0 || !isSame16(view, at, known.at)) {
    known.at = end - at === 16 ? at : -1;
    known.hex = cursor.bytes.toString('hex', at, end);
  }
  leave(cursor, outerEnd);
  return known.hex;
}

/** 16 bytes that were read last, in the same body. */
export interface KnownHex {
  /** Below 0: nothing yet. */
  at: number;
  hex: string;
}

function isSame16(view: DataView, a: number, b: number): boolean {
  return (
    view.getInt32(a) === view.getInt32(b) &&
    view.getInt32(a + 4) === view.getInt32(b + 4) &&
    view.getInt32(a + 8) === view.getInt32(b + 8) &&
    view.getInt32(a + 12) === view.getInt32(b + 12)
  );
}

/** A copy, so that a value that is kept does not keep the whole body. */
export function readBytes(cursor: Cursor, tag: number): Uint8Array {
  const outerEnd = enter(cursor, tag);
  const copy = new Uint8Array(cursor.bytes.subarray(cursor.at, cursor.end));
  leave(cursor, outerEnd);
  return copy;
}

/** The lower 32 bits of a varint field, as an enumeration or a flag needs them. */
export function readUint32(cursor: Cursor, tag: number): number {
  expect(cursor, tag, wireType.varint);
  return readVarint(cursor);
}

export function readBool(cursor: Cursor, tag: number): boolean {
  expect(cursor, tag, wireType.varint);
  const low = readVarint(cursor);
  return low !== 0 || cursor.high !== 0;
}

/** An int64: a number when it is a safe integer, a bigint otherwise. */
export function readInt64(cursor: Cursor, tag: number): number | bigint {
  expect(cursor, tag, wireType.varint);
  const low = readVarint(cursor);
  const value = (cursor.high | 0) * 2 ** 32 + low;
  return Number.isSafeInteger(value) ? value : BigInt.asIntN(64, (BigInt(cursor.high) << 32n) | BigInt(low));
}

export function readFixed64(cursor: Cursor, tag: number): bigint {
  const at = fixed(cursor, tag, wireType.fixed64, 8);
  return cursor.view.getBigUint64(at, true);
}

export function readDouble(cursor: Cursor, tag: number): number {
  const at = fixed(cursor, tag, wireType.fixed64, 8);
  return cursor.view.getFloat64(at, true);
}

export function readFixed32(cursor: Cursor, tag: number): number {
  const at = fixed(cursor, tag, wireType.fixed32, 4);
  return cursor.view.getUint32(at, true);
}

/** Passes over a field. */
export function skip(cursor: Cursor, tag: number): void {
  const type = tag & 7;
  if (type === wireType.varint) readVarint(cursor);
  else if (type === wireType.bytes) leave(cursor, enter(cursor, tag));
  else if (type === wireType.fixed64) fixed(cursor, tag, type, 8);
  else if (type === wireType.fixed32) fixed(cursor, tag, type, 4);
  else throw malformed(`Wire type ${type} before byte ${cursor.at} is not used by OTLP.`);
}

function expect(cursor: Cursor, tag: number, type: number): void {
  if ((tag & 7) !== type) throw malformed(`Field ${tag >>> 3} before byte ${cursor.at} has wire type ${tag & 7}, not ${type}.`);
}

function fixed(cursor: Cursor, tag: number, type: number, width: number): number {
  expect(cursor, tag, type);
  const at = cursor.at;
  if (width > cursor.end - at) throw malformed(`A number at byte ${at} is cut off.`);
  cursor.at = at + width;
  return at;
}

/** The lower 32 bits, unsigned; the upper ones are left in `cursor.high`. */
function readVarint(cursor: Cursor): number {
  let byte = nextByte(cursor);
  cursor.high = 0;
  if (byte < 0x80) return byte;
  let low = byte & 0x7f;
  for (let shift = 7; shift < 28; shift += 7) {
    byte = nextByte(cursor);
    low |= (byte & 0x7f) << shift;
    if (byte < 0x80) return low;
  }
  byte = nextByte(cursor);
  low = (low | ((byte & 0x0f) << 28)) >>> 0;
  let high = (byte & 0x7f) >>> 4;
  for (let shift = 3; byte >= 0x80; shift += 7) {
    if (shift > 31) throw malformed(`A number before byte ${cursor.at} has more than 64 bits.`);
    byte = nextByte(cursor);
    if (shift === 31 && byte > 1) throw malformed(`A number before byte ${cursor.at} has more than 64 bits.`);
    high = (high | ((byte & 0x7f) << shift)) >>> 0;
  }
  cursor.high = high;
  return low;
}

function nextByte(cursor: Cursor): number {
  if (cursor.at >= cursor.end) throw malformed(`A number at byte ${cursor.at} is cut off.`);
  return cursor.view.getUint8(cursor.at++);
}
