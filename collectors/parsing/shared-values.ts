/** Values that spans of many traces carry in the same words, above all tool definitions: each is read once while it is remembered. */
import type { WrittenText } from '../../src/model/span.ts';

export interface SharedValues {
  /** What these bytes tell; `where` keeps apart what is read in different ways. The value must not be changed. */
  of<T>(where: object | string, written: WrittenText, read: () => T): T;
}

interface Remembered {
  readonly bytes: Buffer;
  readonly value: unknown;
}

/** A larger value is read each time. */
const valueBytesMax = 64 * 1024;
/** Beyond it everything is forgotten and learned anew. */
const bytesMax = 4 * 1024 * 1024;
/** An entry counts for this much even when it is small. */
const entryBytes = 256;
/** Bytes of a value that tell it apart before all are compared. */
const samples = 16;

export function sharedValues(): SharedValues {
  const known = new Map<object | string, Map<number, Remembered>>();
  let bytes = 0;
  return {
    of<T>(where: object | string, written: WrittenText, read: () => T) {
      const length = written.end - written.start;
      if (length > valueBytesMax) return read();
      const mark = markOf(written);
      const found = known.get(where)?.get(mark);
      if (found?.bytes.length === length && written.bytes.compare(found.bytes, 0, length, written.start, written.end) === 0)
        return found.value as T;
      const value = read();
      if (bytes > bytesMax) {
        known.clear();
        bytes = 0;
      }
      const own = known.get(where) ?? new Map<number, Remembered>();
      known.set(where, own.set(mark, { bytes: Buffer.from(written.bytes.subarray(written.start, written.end)), value }));
      bytes += length + entryBytes;
      return value;
    },
  };
}

/** Of two values with the same mark the later one is remembered. */
function markOf({ bytes, start, end }: WrittenText): number {
  const step = Math.max(1, Math.floor((end - start) / samples));
  let mark = end - start;
  for (let at = start; at < end; at += step) mark = Math.imul(mark ^ (bytes[at] ?? 0), 0x01000193);
  return mark;
}
