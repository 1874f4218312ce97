/** How a journal of so many bytes is cut up. */
import type { JournalSettings } from '../settings.ts';
import { pageBytes, segmentBytesMin } from './segment-header.ts';

export interface Sizes {
  readonly segmentBytes: number;
  readonly segmentsMax: number;
  /** Of these, kept for records from the reserve. */
  readonly segmentsReserved: number;
  readonly waitingBytesMax: number;
  readonly groupBytesMax: number;
  readonly quarantineBytesMax: number;
}

const mebibyte = 1024 * 1024;
const segmentBytesUsual = 64 * mebibyte;
/** Each segment is an open file. A larger journal has larger segments. */
const segmentsMaxMax = 512;
/** A smaller journal has smaller segments, so that parts of it can be freed while others are filled. */
const segmentsWanted = 4;
/** One to write to while another is needed. */
const segmentsMaxMin = 2;

export function sizesOf({
  bytesMax,
  segmentBytes,
  waitingBytesMax = 64 * mebibyte,
  groupBytesMax = 8 * mebibyte,
  quarantineBytesMax = 256 * mebibyte,
}: JournalSettings): Sizes {
  const chosen = Math.max(segmentBytes ?? Math.min(segmentBytesUsual, bytesMax / segmentsWanted), bytesMax / segmentsMaxMax);
  const whole = Math.max(segmentBytesMin, Math.floor(chosen / pageBytes) * pageBytes);
  const segmentsMax = Math.max(segmentsMaxMin, Math.floor(bytesMax / whole));
  return {
    segmentBytes: whole,
    segmentsMax,
    segmentsReserved: segmentsMax < segmentsWanted ? 0 : 1,
    waitingBytesMax,
    groupBytesMax,
    quarantineBytesMax,
  };
}
