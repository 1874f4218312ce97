/** The sound frames of one segment, in order. Damage is stepped over: the next frame of the same generation is looked for behind it. */
import { crc32 } from 'node:zlib';
import type { Position } from '../journal.ts';
import type { LayerFile } from './file-system.ts';
import { frameBytes, frameHeadBytes, grain, generationAt, readFrameHead, type FrameHead } from './frame.ts';
import { readPages } from './read-pages.ts';
import { positionAt } from './segment-header.ts';

/** The part of a segment that reading needs. */
export interface FrameSource {
  readonly file: LayerFile;
  readonly generation: Buffer;
  readonly base: Position;
}

export interface Frame {
  readonly offset: number;
  /** Length with head and padding. */
  readonly bytes: number;
  readonly position: Position;
  readonly group: Position;
  /** Valid until the next frame is asked for. */
  readonly payload: Buffer;
}

/** Bytes read at one time. A larger frame is read by itself. */
const windowBytes = 1024 * 1024;

/**
 * Frames that begin and end between the two offsets, both multiples of `grain`. Each byte is searched once and summed at most once,
 * regardless of its content: a head has its own sum, so its length can be trusted.
 */
export async function* frames(source: FrameSource, from: number, to: number): AsyncGenerator<Frame> {
  const view = windowOn(source.file, to);
  for (let offset = from; offset < to;) {
    const head = readFrameHead(await view(offset, Math.min(grain, to - offset)), source.generation);
    const bytes = head === undefined ? 0 : frameBytes(head.payloadBytes);
    if (head === undefined || head.position !== positionAt(source.base, offset) || offset + bytes > to) {
      offset = await nextHead(source, view, offset + grain, to);
      continue;
    }
    const payload = (await view(offset, bytes)).subarray(frameHeadBytes, frameHeadBytes + head.payloadBytes);
    if (crc32(payload) === head.payloadCrc) yield { offset, bytes, position: head.position, group: head.group, payload };
    offset += bytes;
  }
}

/** The head of the frame at this offset, its payload unseen. Undefined: no frame of this generation begins there. */
export async function headAt({ file, generation, base }: FrameSource, offset: number): Promise<FrameHead | undefined> {
  const bytes = Buffer.alloc(frameHeadBytes);
  await readPages(file, bytes, offset);
  const head = readFrameHead(bytes, generation);
  return head?.position === positionAt(base, offset) ? head : undefined;
}

/** Bytes read at one time for single frames: a read wakes another thread, and frames are mostly asked for beside their neighbours. */
const nearBytes = 256 * 1024;

/** Reads single frames that end at or before `to`. Resolves with the payload; `undefined` when no sound frame begins at the offset. */
export function framesNear({ file, generation, base }: FrameSource, to: number): (offset: number) => Promise<Buffer | undefined> {
  const near = windowOn(file, to, nearBytes);

  async function soundIn(view: View, offset: number): Promise<Buffer | undefined> {
    if (offset + frameHeadBytes > to) return undefined;
    const head = readFrameHead(await view(offset, frameHeadBytes), generation);
    if (head?.position !== positionAt(base, offset) || offset + frameBytes(head.payloadBytes) > to) return undefined;
    const payload = await view(offset + frameHeadBytes, head.payloadBytes);
    // A copy, so that a small record does not keep the bytes of its neighbours.
    return crc32(payload) === head.payloadCrc ? Buffer.from(payload) : undefined;
  }

  // A page that could not be read when the window was filled may be readable now.
  return async (offset) => (await soundIn(near, offset)) ?? (await soundIn(windowOn(file, to, 0), offset));
}

/** Something of this generation stands between the offsets, sound or not. */
export async function hasTraces(source: FrameSource, from: number, to: number): Promise<boolean> {
  return (await nextHead(source, windowOn(source.file, to), from, to)) < to;
}

/** Gives `to` when there is none. */
async function nextHead({ generation }: FrameSource, view: View, from: number, to: number): Promise<number> {
  for (let offset = from; offset < to;) {
    const bytes = await view(offset, Math.min(windowBytes, to - offset));
    for (let found = bytes.indexOf(generation); found !== -1; found = bytes.indexOf(generation, found + 1)) {
      if (found >= generationAt && (found - generationAt) % grain === 0) return offset + found - generationAt;
    }
    // The generation stands near the beginning of a grain, and the window ends with one: none lies across its edge.
    offset += bytes.length;
  }
  return to;
}

/** Bytes at an offset. */
type View = (offset: number, bytes: number) => Promise<Buffer>;

function windowOn(file: LayerFile, to: number, bytesAtOnce = windowBytes): View {
  let window = { start: 0, buffer: Buffer.alloc(0) };
  return async (offset, bytes) => {
    let from = window;
    if (offset < from.start || offset + bytes > from.start + from.buffer.length) {
      from = { start: offset, buffer: Buffer.allocUnsafe(Math.max(bytes, Math.min(bytesAtOnce, to - offset))) };
      await readPages(file, from.buffer, offset);
      // One large frame must not stay in memory.
      if (from.buffer.length <= bytesAtOnce) window = from;
    }
    return from.buffer.subarray(offset - from.start, offset - from.start + bytes);
  };
}
