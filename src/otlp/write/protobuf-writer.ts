/** Writing the protobuf wire format, the counterpart of `protobuf.ts`. Fields at their default are left out by the callers. */
import { wireType } from '../read/protobuf.ts';

export interface ProtobufWriter {
  varint(field: number, value: number | bigint): void;
  fixed64(field: number, value: bigint): void;
  fixed32(field: number, value: number): void;
  double(field: number, value: number): void;
  text(field: number, value: string): void;
  bytes(field: number, value: Uint8Array): void;
  hex(field: number, value: string): void;
  /** Writes a message; its length is put before it when it is complete. */
  message(field: number, write: () => void): void;
  /** An attribute, under a key that is not empty: the same as messages and values within each other, in one go. Numbers that are not safe integers, and those that are to be, are doubles. */
  pair(field: number, key: string, value: PairValue, asDouble: boolean): void;
  /** The content of such a value's message. */
  scalar(value: PairValue, asDouble: boolean): void;
  /** A copy of the written bytes. */
  result(): Buffer;
  /** Likewise, until something else is written. */
  lent(): Buffer;
  /** Begins anew, in the same memory. */
  restart(): void;
}

export function protobufWriter(): ProtobufWriter {
  let buffer = Buffer.allocUnsafe(firstBytes);
  let at = 0;
  /** The same time is written again and again. */
  let lastWide: bigint | undefined;
  const lastWideBytes = Buffer.alloc(8);
  let kept: KeptPairs | undefined;

  const reserve = (bytes: number): void => {
    if (at + bytes <= buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(buffer.length * 2, at + bytes));
    buffer.copy(larger, 0, 0, at);
    buffer = larger;
  };
  const raw = (value: number): void => {
    reserve(varintBytesMax);
    let rest = value;
    while (rest >= 0x80) {
      buffer[at++] = (rest % 0x80) | 0x80;
      rest = Math.floor(rest / 0x80);
    }
    buffer[at++] = rest;
  };
  const rawWide = (value: bigint): void => {
    reserve(varintBytesMax);
    let rest = BigInt.asUintN(64, value);
    while (rest >= 0x80n) {
      buffer[at++] = Number(rest & 0x7fn) | 0x80;
      rest >>= 7n;
    }
    buffer[at++] = Number(rest);
  };
  const tag = (field: number, type: number): void => raw(field * 8 + type);
  const varint = (field: number, value: number | bigint): void => {
    tag(field, wireType.varint);
    if (typeof value === 'number' && value >= 0) raw(value);
    else rawWide(BigInt(value));
  };
  const double = (field: number, value: number): void => {
    tag(field, wireType.fixed64);
    reserve(8);
    at = buffer.writeDoubleLE(value, at);
  };
  const delimited = (field: number, length: number, put: () => void): void => {
    tag(field, wireType.bytes);
    raw(length);
    reserve(length);
    put();
    at += length;
  };

  /** Puts a text at a place with room for it. False when it is not plain. */
  const isPlainAt = (start: number, value: string): boolean => {
    for (let index = 0; index < value.length; index++) {
      const code = value.charCodeAt(index);
      if (code >= 0x80) return false;
      buffer[start + index] = code;
    }
    return true;
  };

  /** Most texts are short and plain, and then the call into the runtime costs more than the text. Gives false, and writes nothing, where one is not. */
  const isPlainText = (value: string): boolean => {
    const { length } = value;
    if (length > plainTextMax) return false;
    reserve(length + 1);
    if (!isPlainAt(at + 1, value)) return false;
    buffer[at] = length;
    at += 1 + length;
    return true;
  };

  /** Four tags and four lengths of one byte each. */
  const isPlainPair = (field: number, key: string, value: string): boolean => {
    const [keyLength, length] = [key.length, value.length];
    if (keyLength + length > plainPairMax || field > oneByteFieldMax) return false;
    reserve(keyLength + length + 8);
    const valueAt = at + 4 + keyLength;
    if (!isPlainAt(at + 4, key) || !isPlainAt(valueAt + 4, value)) return false;
    buffer[at] = field * 8 + wireType.bytes;
    buffer[at + 1] = keyLength + length + 6;
    buffer[at + 2] = textTag;
    buffer[at + 3] = keyLength;
    buffer[valueAt] = valueTag;
    buffer[valueAt + 1] = length + 2;
    buffer[valueAt + 2] = textTag;
    buffer[valueAt + 3] = length;
    at = valueAt + 4 + length;
    return true;
  };

  const text = (field: number, value: string): void => {
    tag(field, wireType.bytes);
    if (isPlainText(value)) return;
    const length = Buffer.byteLength(value);
    raw(length);
    reserve(length);
    at += buffer.write(value, at);
  };
  /** Writes the head of a pair: the value's message begins behind it, and takes this many bytes. */
  const pairHead = (field: number, key: string, valueBytes: number): void => {
    const keyBytes = Buffer.byteLength(key);
    tag(field, wireType.bytes);
    raw(2 + varintBytes(keyBytes) + keyBytes + varintBytes(valueBytes) + valueBytes);
    text(1, key);
    tag(2, wireType.bytes);
    raw(valueBytes);
  };
  const scalar = (value: PairValue, asDouble: boolean): void => {
    if (typeof value === 'string') text(1, value);
    else if (typeof value === 'boolean') varint(2, value ? 1 : 0);
    else if (asDouble || !isWhole(value)) double(4, value);
    else varint(3, value);
  };

  const newPair = (field: number, key: string, value: PairValue, asDouble: boolean): void => {
    if (typeof value === 'string' && isPlainPair(field, key, value)) return;
    pairHead(field, key, scalarBytes(value, asDouble));
    scalar(value, asDouble);
  };

  const message = (field: number, write: () => void): void => {
    tag(field, wireType.bytes);
    reserve(1);
    const start = ++at;
    write();
    const length = at - start;
    const more = varintBytes(length) - 1;
    if (more > 0) {
      reserve(more);
      buffer.copyWithin(start + more, start, at);
    }
    at = start - 1;
    raw(length);
    at += length;
  };

  return {
    varint,
    fixed64(field, value) {
      tag(field, wireType.fixed64);
      reserve(8);
      if (value !== lastWide) {
        lastWide = value;
        lastWideBytes.writeBigUInt64LE(BigInt.asUintN(64, value));
      }
      for (let index = 0; index < 8; index++) buffer[at++] = lastWideBytes[index] ?? 0;
    },
    fixed32(field, value) {
      tag(field, wireType.fixed32);
      reserve(4);
      at = buffer.writeUInt32LE(value >>> 0, at);
    },
    double,
    text,
    bytes: (field, value) => delimited(field, value.length, () => buffer.set(value, at)),
    hex: (field, value) => delimited(field, value.length / 2, () => buffer.write(value, at, 'hex')),
    message,
    scalar,
    pair(field, key, value, asDouble) {
      kept ??= keptPairs();
      const values = isKeepable(value) ? kept.valuesOf(field, key, asDouble) : undefined;
      const bytes = values?.get(value);
      if (bytes !== undefined) {
        reserve(bytes.length);
        buffer.set(bytes, at);
        at += bytes.length;
        return;
      }
      const start = at;
      newPair(field, key, value, asDouble);
      if (values !== undefined) kept.keep(field, key, asDouble, value, new Uint8Array(buffer.subarray(start, at)));
    },
    result: () => Buffer.from(buffer.subarray(0, at)),
    lent: () => buffer.subarray(0, at),
    restart() {
      at = 0;
      if (buffer.length > keptBytesMax) buffer = Buffer.allocUnsafe(firstBytes);
    },
  };
}

const firstBytes = 4096;
/** A buffer that grew beyond this size is released. */
const keptBytesMax = 1024 * 1024;
/** Its length takes one byte. */
const plainTextMax = 64;
/** Limit of key and text together: then each length of the pair takes one byte. */
const plainPairMax = 121;
const oneByteFieldMax = 15;
const keptTextMax = 512;
/** Tags of a key in its pair, and of a text in its value. */
const textTag = (1 << 3) | wireType.bytes;
const valueTag = (2 << 3) | wireType.bytes;
/** 64 bits in groups of 7. */
const varintBytesMax = 10;

function varintBytes(value: number): number {
  let bytes = 1;
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++;
  return bytes;
}

/** Bytes of a value with its tag. */
function scalarBytes(value: PairValue, asDouble: boolean): number {
  if (typeof value === 'boolean') return 2;
  if (typeof value === 'number') return asDouble || !isWhole(value) ? 9 : 1 + (value < 0 ? varintBytesMax : varintBytes(value));
  const bytes = Buffer.byteLength(value);
  return 1 + varintBytes(bytes) + bytes;
}

/** A long text rarely comes twice, and 0 and -0, of different bytes, are one key of a map. */
function isKeepable(value: PairValue): boolean {
  return typeof value === 'string' ? value.length <= keptTextMax : !Object.is(value, -0);
}

/** An integer that a double holds, and no negative zero. */
function isWhole(value: number): boolean {
  return Number.isSafeInteger(value) && !Object.is(value, -0);
}

/** Cached bytes of repeated attributes: most attributes of a run equal those of the run before. */
type PairValue = string | number | boolean;

interface KeptPairs {
  /** Cached bytes by value, read only; `undefined` when the key is not cached. */
  valuesOf(field: number, key: string, asDouble: boolean): ReadonlyMap<PairValue, Uint8Array> | undefined;
  keep(field: number, key: string, asDouble: boolean, value: PairValue, bytes: Uint8Array): void;
}

/** `undefined` when the key has too many values to cache. */
type Keys = Map<string, Map<PairValue, Uint8Array> | undefined>;

function keptPairs(): KeptPairs {
  let bytesLeft = bytesMax;
  const [plain, doubles] = [keysByField(), keysByField()];
  const keysOf = (field: number, asDouble: boolean): Keys | undefined => (asDouble ? doubles : plain)[field];
  return {
    valuesOf(field, key, asDouble) {
      const keys = keysOf(field, asDouble);
      if (keys === undefined) return undefined;
      return keys.get(key) ?? (keys.has(key) ? undefined : none);
    },
    keep(field, key, asDouble, value, bytes) {
      const keys = keysOf(field, asDouble);
      const cost = bytes.length + entryBytes;
      if (keys === undefined) return;
      if (cost > bytesLeft) {
        // The traffic has changed. Texts that are still needed come again soon.
        for (const all of [...plain, ...doubles]) all.clear();
        bytesLeft = bytesMax;
      }
      bytesLeft -= cost;
      const values = keys.get(key);
      if (values === undefined) keys.set(key, new Map([[value, bytes]]));
      else if (values.size < valuesMax) values.set(value, bytes);
      else keys.set(key, undefined);
    },
  };
}

function keysByField(): readonly Keys[] {
  return Array.from({ length: fieldMax + 1 }, () => new Map());
}

const none: ReadonlyMap<PairValue, Uint8Array> = new Map();
/** Limit of one writer. */
const bytesMax = 256 * 1024;
/** The approximate overhead of an entry beside its bytes. */
const entryBytes = 150;
/** Under one key. Ids of spans and of calls are hardly ever the same. */
const valuesMax = 64;
const fieldMax = 15;
