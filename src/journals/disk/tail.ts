/** Where the records of the newest segment end: nothing behind it says so. */
import type { Position } from '../journal.ts';
import { frames, hasTraces, type FrameSource } from './frame-scanner.ts';
import { dataFrom, offsetOf, positionAt } from './segment-header.ts';

export interface Tail {
  /** Offset behind the last record. */
  readonly end: number;
  /** Offset of the last group: what lies before it is known to be durable. */
  readonly lastGroup: number;
  /** A group that was never acknowledged had come to the disk in part, and was cut off. */
  readonly torn: boolean;
}

/**
 * Groups are written one after another, each when the one before is durable, and each frame names the beginning of its group. So a hole is
 * damage when a later group stands behind it, and the torn end of the last group when none does. `to`: offset behind which there are no records.
 */
export async function tailOf(source: FrameSource, to: number): Promise<Tail> {
  const stretches: { readonly from: number; to: number }[] = [];
  let durableBelow = positionAt(source.base, dataFrom);
  for await (const { offset, bytes, group } of frames(source, dataFrom, to)) {
    const last = stretches.at(-1);
    if (last?.to === offset) last.to += bytes;
    else stretches.push({ from: offset, to: offset + bytes });
    durableBelow = Math.max(durableBelow, group) as Position;
  }
  let end = dataFrom;
  for (const stretch of stretches) {
    if (stretch.from > end && positionAt(source.base, end) >= durableBelow) break;
    end = stretch.to;
  }
  return { end, lastGroup: Math.min(end, offsetOf(source.base, durableBelow)), torn: await hasTraces(source, end, to) };
}
