/**
 * Inputs in pieces of whole requests, so that a large file need not be in memory: each is read twice, first for the traces that its pieces hold,
 * then for their spans. Standard input, pipes and compressed files are kept or inflated as a whole.
 */
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import { unreadable } from '../../model/errors.ts';

/** Some whole requests of an input. */
export interface Piece {
  readonly name: string;
  readonly bytes: Buffer;
  /** `lines`: JSON lines of a larger file. `requests`: protobuf of a larger file. `whole`: the whole file. */
  readonly form: 'lines' | 'requests' | 'whole';
  /** Number of its first line, from 1. */
  readonly line: number;
}

/** Bytes of an input, from any place. */
export interface Bytes {
  readonly size: number;
  read(at: number, length: number): Buffer;
  close(): void;
}

/** A fault of an input that is not the same at both readings. */
export const changed = 'it changed while it was read.';

/**
 * `undefined` for what cannot be read twice, such as a pipe, which is not opened: its writer would see it closed. `size`: that of an earlier
 * reading, as a file may have grown since. Throws the error of the file system, and INPUT_UNREADABLE for a file that has become shorter.
 */
export function fileBytes(path: string, size?: number): Bytes | undefined {
  const stats = statSync(path);
  if (!stats.isFile()) return undefined;
  const file = openSync(path, 'r');
  const bytesIn = size ?? stats.size;
  return {
    size: bytesIn,
    read(at, length) {
      const bytes = Buffer.allocUnsafeSlow(Math.min(length, bytesIn - at));
      for (let filled = 0; filled < bytes.length;) {
        const count = readSync(file, bytes, filled, bytes.length - filled, at + filled);
        if (count === 0) throw unreadable(path, changed);
        filled += count;
      }
      return bytes;
    },
    close: () => closeSync(file),
  };
}

const pieceBytesDefault = 512 * 1024;

/** `isWhole`: all in one piece. */
export function* piecesOf(name: string, bytes: Bytes, { isWhole = false, pieceBytes = pieceBytesDefault } = {}): Iterable<Piece> {
  const form = isWhole || bytes.size <= pieceBytes ? 'whole' : formOf(bytes, pieceBytes);
  if (form === 'whole') {
    yield { name, form, line: 1, bytes: bytes.read(0, bytes.size) };
    return;
  }
  for (let [at, line] = [0, 1]; at < bytes.size;) {
    const some = wholeRequests(bytes, at, form, pieceBytes);
    yield { name, form, line, bytes: some };
    at += some.length;
    if (form === 'lines') line += lineFeeds(some);
  }
}

/** The piece ends behind a request, or with the file. A request larger than a piece is a piece by itself. */
function wholeRequests(bytes: Bytes, at: number, form: 'lines' | 'requests', pieceBytes: number): Buffer {
  for (let wanted = pieceBytes; ; wanted *= 2) {
    const some = bytes.read(at, wanted);
    if (at + some.length >= bytes.size) return some;
    const end = form === 'lines' ? some.lastIndexOf(lineFeed) + 1 : requestsEnd(some);
    if (end > 0) return some.subarray(0, end);
  }
}

const lineFeed = 0x0a;

function lineFeeds(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(lineFeed); at !== -1; at = bytes.indexOf(lineFeed, at + 1)) count++;
  return count;
}

/** The first key of an OTLP request in JSON. */
const OTLP_LINE = /^\uFEFF?\s*\{\s*"resource_?(?:spans|logs|metrics)"\s*:/i;
const keyBytes = 100;

/** JSON lines begin with a line that is a whole request. Protobuf begins with the tag of a resource block, which is a line feed. */
function formOf(bytes: Bytes, pieceBytes: number): Piece['form'] {
  const head = bytes.read(0, pieceBytes);
  if (!OTLP_LINE.test(head.toString('utf8', 0, keyBytes)))
    return head[0] === lineFeed && requestsEnd(wholeRequests(bytes, 0, 'requests', pieceBytes)) > 0 ? 'requests' : 'whole';
  const first = wholeRequests(bytes, 0, 'lines', pieceBytes);
  const start = first.indexOf('{');
  const end = first.indexOf(lineFeed, start);
  return end !== -1 && hasMore(bytes, end, pieceBytes) && isJson(first.toString('utf8', start, end)) ? 'lines' : 'whole';
}

function hasMore(bytes: Bytes, from: number, pieceBytes: number): boolean {
  for (let at = from; at < bytes.size; at += pieceBytes) if (/\S/.test(bytes.read(at, pieceBytes).toString('latin1'))) return true;
  return false;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const lengthBytesMax = 5;

/** Behind the last whole resource block; 0 when there is none, or something else is between them. */
function requestsEnd(bytes: Buffer): number {
  let end = 0;
  while (bytes[end] === lineFeed) {
    let [length, at] = [0, end + 1];
    for (let shift = 0; shift < lengthBytesMax; shift++) {
      const byte = bytes[at++] ?? 0x80;
      length += (byte & 0x7f) * 2 ** (7 * shift);
      if (byte < 0x80) break;
      if (shift === lengthBytesMax - 1) return 0;
    }
    if (at + length > bytes.length) break;
    end = at + length;
  }
  return end;
}
