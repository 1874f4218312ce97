/** When a decoder pauses: a few milliseconds of work lie between two pauses at most. */

/** What was read since the last pause. */
export interface Pace {
  bytes: number;
  items: number;
}

export function newPace(): Pace {
  return { bytes: 0, items: 0 };
}

/** Counts an item of so many bytes. True: it is time for a pause. */
export function isPauseDue(pace: Pace, bytes: number): boolean {
  pace.bytes += bytes;
  pace.items++;
  if (pace.bytes < stepBytes && pace.items < stepItems) return false;
  pace.bytes = 0;
  pace.items = 0;
  return true;
}

/** Of protobuf with nothing but the smallest values, or of JSON: some milliseconds. What exporters send by default, and well filled, fits: each pause is a turn that its sender waits. */
export const stepBytes = 384 * 1024;
const stepItems = 500;
