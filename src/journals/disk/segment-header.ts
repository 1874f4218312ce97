/**
 * Names the part of the log that a segment holds. It is in the first page and again in the last, so that one bad page does not take 64 MiB of
 * records with it. Little-endian:
 *
 *     0  'TJJRNL01'                          24  position of the segment's first byte, uint64
 *     8  generation, eight random bytes            32  epoch of the segment before it, uint64; 0: none
 *    16  epoch, uint64: counts activations   40  position where the records of that one end, uint64
 *                                            48  CRC-32 of the 48 bytes before
 */
import { crc32 } from 'node:zlib';
import type { Position } from '../journal.ts';
import { grain, generationBytes, readUint64, writeUint64 } from './frame.ts';

/** A page of the usual file systems, and of their caches. */
export const pageBytes = 4096;
/** Records begin behind the first header. */
export const dataFrom = pageBytes;
/** Both headers and room for a small record. */
export const segmentBytesMin = 4 * pageBytes;

const magic = 'TJJRNL01';
const headerBytes = 52;

export interface SegmentHeader {
  readonly generation: Buffer;
  readonly epoch: number;
  readonly base: Position;
  readonly previous: { readonly epoch: number; readonly end: Position };
}

/** Records end before the second header. */
export function dataTo(segmentBytes: number): number {
  return segmentBytes - pageBytes;
}

/** Records of one segment take at most this. */
export function dataBytes(segmentBytes: number): number {
  return dataTo(segmentBytes) - dataFrom;
}

export function positionAt(base: Position, offset: number): Position {
  return (base + offset / grain) as Position;
}

export function offsetOf(base: Position, position: Position): number {
  return (position - base) * grain;
}

/** One page: write it to the beginning and to the end. */
export function headerPage({ generation, epoch, base, previous }: SegmentHeader): Buffer {
  const page = Buffer.alloc(pageBytes);
  page.write(magic, 'latin1');
  generation.copy(page, 8);
  writeUint64(page, epoch, 16);
  writeUint64(page, base, 24);
  writeUint64(page, previous.epoch, 32);
  writeUint64(page, previous.end, 40);
  page.writeUInt32LE(crc32(page.subarray(0, 48)), 48);
  return page;
}

/** From both pages the newer header: when only one was renewed before a crash, it is that one. Undefined: there is none. */
export function newerHeader(pages: readonly Buffer[]): SegmentHeader | undefined {
  const headers = pages.map(readHeader).filter((header) => header !== undefined);
  return headers.sort((a, b) => b.epoch - a.epoch)[0];
}

function readHeader(page: Buffer): SegmentHeader | undefined {
  if (
    page.length < headerBytes ||
    page.toString('latin1', 0, magic.length) !== magic ||
    crc32(page.subarray(0, 48)) !== page.readUInt32LE(48)
  )
    return undefined;
  return {
    generation: Buffer.from(page.subarray(8, 8 + generationBytes)),
    epoch: readUint64(page, 16),
    base: readUint64(page, 24) as Position,
    previous: { epoch: readUint64(page, 32), end: readUint64(page, 40) as Position },
  };
}
