/**
 * A frame holds one record in a segment. It begins at a multiple of `grain`, so that the next one is found behind a damaged one, and is padded
 * with zeros. Its head, little-endian:
 *
 *     0  payload bytes, uint32
 *     4  generation of the segment: eight random bytes, drawn each time that the segment is used anew
 *    12  position, uint64
 *    20  position of the first frame of the same group, uint64: everything below it was durable when this was written
 *    28  CRC-32 of the payload
 *    32  CRC-32 of the 32 bytes before
 *
 * The generation distinguishes bytes of an earlier use of the segment from those of this one, and no sender can guess it: a body that spells a
 * frame is never taken for one.
 */
import { crc32 } from 'node:zlib';
import type { Position } from '../journal.ts';

/** Also the unit of positions: a double counts 512 PiB of them. */
export const grain = 64;
export const frameHeadBytes = 36;
export const generationBytes = 8;
export const generationAt = 4;

export interface FrameHead {
  readonly payloadBytes: number;
  readonly position: Position;
  readonly group: Position;
  readonly payloadCrc: number;
}

/** Size of a payload in a segment. */
export function frameBytes(payloadBytes: number): number {
  return Math.ceil((frameHeadBytes + payloadBytes) / grain) * grain;
}

export interface FramePlace {
  readonly generation: Buffer;
  readonly position: Position;
  readonly group: Position;
}

/** The buffers to write, one after another, for a payload in two parts. */
export function frame({ generation, position, group }: FramePlace, recordHead: Buffer, body: Buffer): readonly Buffer[] {
  const payloadBytes = recordHead.length + body.length;
  const head = Buffer.allocUnsafe(frameHeadBytes);
  head.writeUInt32LE(payloadBytes, 0);
  generation.copy(head, generationAt);
  writeUint64(head, position, 12);
  writeUint64(head, group, 20);
  head.writeUInt32LE(crc32(body, crc32(recordHead)), 28);
  head.writeUInt32LE(crc32(head.subarray(0, 32)), 32);
  return [Buffer.concat([head, recordHead]), body, Buffer.alloc(frameBytes(payloadBytes) - frameHeadBytes - payloadBytes)].filter(
    ({ length }) => length > 0,
  );
}

/** Undefined: no frame of this generation begins here. */
export function readFrameHead(bytes: Buffer, generation: Buffer): FrameHead | undefined {
  if (bytes.length < frameHeadBytes || bytes.compare(generation, 0, generationBytes, generationAt, generationAt + generationBytes) !== 0)
    return undefined;
  if (crc32(bytes.subarray(0, 32)) !== bytes.readUInt32LE(32)) return undefined;
  return {
    payloadBytes: bytes.readUInt32LE(0),
    position: readUint64(bytes, 12) as Position,
    group: readUint64(bytes, 20) as Position,
    payloadCrc: bytes.readUInt32LE(28),
  };
}

/** Whole numbers up to 2^53, which is where JavaScript's end. */
export function writeUint64(bytes: Buffer, value: number, at: number): void {
  bytes.writeUInt32LE(value % 2 ** 32, at);
  bytes.writeUInt32LE(Math.floor(value / 2 ** 32), at + 4);
}

export function readUint64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}
