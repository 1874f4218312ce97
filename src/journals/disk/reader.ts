/** Records from the log while it is written to and recycled. */
import type { JournalMetrics } from '../journal-metrics.ts';
import type { JournalEntry, JournalRecord, Position } from '../journal.ts';
import { frames, framesNear, headAt } from './frame-scanner.ts';
import { readRecord } from './record-bytes.ts';
import { dataFrom, offsetOf, positionAt } from './segment-header.ts';
import type { Segment, Segments } from './segments.ts';

interface Reader {
  /** Up to, and without, the position. */
  read(from: Position, to: Position): AsyncIterable<JournalEntry>;
  at(position: Position): Promise<JournalRecord | undefined>;
}

export function readerOf(log: Segments, metrics: JournalMetrics): Reader {
  let near:
    | { readonly segment: Segment; readonly end: number; readonly payloadAt: (offset: number) => Promise<Buffer | undefined> }
    | undefined;

  async function* read(from: Position, to: Position): AsyncGenerator<JournalEntry> {
    for (let next = from; next < to;) {
      const segment = log.holding(next);
      if (segment === undefined || segment.base >= to) return;
      // The end moves while records are appended: this is how far it is known to be durable.
      const end = segment.end;
      yield* recordsOf(segment, await startOffset(segment, next), end);
      next = positionAt(segment.base, end);
    }
  }

  async function* recordsOf(segment: Segment, from: number, to: number): AsyncGenerator<JournalEntry> {
    let expected = from;
    for await (const { offset, bytes, position, payload } of frames(segment, from, to)) {
      if (segment.state === 'released') return;
      if (offset > expected) damaged(segment, expected, offset);
      const record = readRecord(payload);
      if (record === undefined) damaged(segment, offset, offset + bytes);
      else yield { position, record };
      expected = offset + bytes;
    }
    if (expected < to) damaged(segment, expected, to);
  }

  /** Counted once, however often it is read. Segments recycled meanwhile are not damage. */
  function damaged(segment: Segment, from: number, to: number): void {
    if (segment.state === 'released' || from < segment.countedTo) return;
    segment.countedTo = to;
    segment.damaged = true;
    metrics.corrupt(positionAt(segment.base, from), positionAt(segment.base, to));
  }

  return {
    read,
    async at(position) {
      const segment = log.holding(position);
      if (segment === undefined || position < positionAt(segment.base, dataFrom)) return undefined;
      const offset = offsetOf(segment.base, position);
      if (near?.segment !== segment || offset >= near.end) {
        const { end } = segment;
        near = { segment, end, payloadAt: framesNear(segment, end) };
      }
      const payload = await near.payloadAt(offset);
      return payload === undefined ? undefined : readRecord(payload);
    },
  };
}

/** Where no frame begins there may be the middle of one, or damage: then the whole segment is read again, which is never wrong. */
async function startOffset(segment: Segment, position: Position): Promise<number> {
  const offset = offsetOf(segment.base, position);
  return offset > dataFrom && (await headAt(segment, offset)) !== undefined ? offset : dataFrom;
}
