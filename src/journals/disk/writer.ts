/**
 * Group commit: one write, and with it one sync, at a time, and records that arrive meanwhile go into the next. A group whose write or sync failed is
 * refused as a whole and its segment is given up: after a failed sync the content of the disk is unknown, and a second one may lie.
 */
import type { Clock } from '../../model/clock.ts';
import { isDiskFull } from '../../model/errors.ts';
import { backoffMs } from '../../runtime/retry.ts';
import { countedKind, type CountedKind, type JournalMetrics } from '../journal-metrics.ts';
import type { Appended, JournalRecord, JournalRefusal } from '../journal.ts';
import { writeAll } from './file-system.ts';
import { frame, frameBytes } from './frame.ts';
import { recordHead } from './record-bytes.ts';
import { dataBytes, dataTo, positionAt } from './segment-header.ts';
import type { Segment, Segments } from './segments.ts';

interface WriterOptions {
  readonly log: Segments;
  readonly clock: Clock;
  readonly metrics: JournalMetrics;
  readonly segmentBytes: number;
  readonly segmentsReserved: number;
  readonly waitingBytesMax: number;
  readonly groupBytesMax: number;
  readonly sealed: () => Promise<void>;
}

interface Writer {
  append(record: JournalRecord, from?: 'reserve'): Promise<Appended>;
  isDiskFull(): boolean;
  tryRoom(): Promise<void>;
  /** Refuses new records, waits for those under way. */
  stop(): Promise<void>;
}

interface Waiting {
  readonly kind: CountedKind;
  readonly head: Buffer;
  readonly body: Buffer;
  /** Its size in a segment. */
  readonly bytes: number;
  /** Segments that it must not touch. */
  readonly reserved: number;
  readonly settle: (appended: Appended) => void;
}

/** How long the writer refuses records after a failure, before it tries one group: on a full disk each try fills it. */
const rests = { firstRestMs: 1_000, longestRestMs: 30_000 };
/** A write takes a list of buffers, and systems take some thousand of them. */
const groupRecordsMax = 256;

export function writerOf({
  log,
  clock,
  metrics,
  segmentBytes,
  segmentsReserved,
  waitingBytesMax,
  groupBytesMax,
  sealed,
}: WriterOptions): Writer {
  const waiting: Waiting[] = [];
  let waitingBytes = 0;
  let failedUntilMs = 0;
  let failuresInARow = 0;
  let full = false;
  let stopped = false;
  let writing: Promise<void> | undefined;

  /** Bytes of frames that can still be written. */
  function room(reserved: number): number {
    const open = log.open();
    return (log.spare() - reserved) * dataBytes(segmentBytes) + (open === undefined ? 0 : dataTo(open.slot.bytes) - open.end);
  }

  function refusal(bytes: number | undefined, reserved: number): JournalRefusal | undefined {
    if (stopped) return 'stopped';
    if (bytes === undefined || bytes > dataBytes(segmentBytes)) return 'too_large';
    if (clock.nowMs() < failedUntilMs) return full ? 'disk_full' : 'failed';
    if (waitingBytes + bytes > room(reserved)) return 'full';
    return waitingBytes + bytes > waitingBytesMax && waiting.length > 0 ? 'busy' : undefined;
  }

  function settle(group: readonly Waiting[], outcome: (one: Waiting) => Appended): void {
    for (const one of group) {
      waitingBytes -= one.bytes;
      const appended = outcome(one);
      if (appended.kind === 'refused') metrics.refused(appended.reason);
      one.settle(appended);
    }
  }

  async function drain(first?: () => Promise<void>): Promise<void> {
    // Records of the same turn go into the same group.
    await Promise.resolve();
    await first?.();
    while (waiting.length > 0) await writeGroup();
    writing = undefined;
  }

  async function writeGroup(): Promise<void> {
    let segment: Segment | undefined;
    let group: readonly Waiting[] = [];
    try {
      const target = await segmentFor(waiting[0]);
      if (target === 'full') return settle(waiting.splice(0, 1), () => ({ kind: 'refused', reason: 'full' }));
      segment = target;
      group = waiting.splice(0, fitting(waiting, Math.min(groupBytesMax, dataTo(segment.slot.bytes) - segment.end)));
      await write(segment, group);
      succeeded();
    } catch (error) {
      failed('records could not be written down and were refused', error);
      if (segment !== undefined) await log.retire(segment);
      // Those that wait would only meet the same disk.
      settle([...group, ...waiting.splice(0)], () => ({ kind: 'refused', reason: full ? 'disk_full' : 'failed' }));
    }
  }

  function succeeded(): void {
    failuresInARow = 0;
    full = false;
  }

  function failed(what: string, error: unknown): void {
    failedUntilMs = clock.nowMs() + backoffMs(++failuresInARow, rests);
    full = isDiskFull(error);
    metrics.failed(what, error);
  }

  /** Writes what the next record would need: a service that is not ready gets no record to try it with. */
  async function probe(): Promise<void> {
    try {
      if (log.open() === undefined) await segmentFor({ bytes: 0, reserved: segmentsReserved });
      else await log.prepare();
      succeeded();
    } catch (error) {
      failed('there is still no room', error);
    }
  }

  async function segmentFor(
    { bytes, reserved }: Pick<Waiting, 'bytes' | 'reserved'> = { bytes: 0, reserved: 0 },
  ): Promise<Segment | 'full'> {
    const open = log.open();
    if (open !== undefined && open.end + bytes <= dataTo(open.slot.bytes)) return open;
    if (log.spare() <= reserved) return 'full';
    const next = await log.next();
    await sealed();
    return next;
  }

  async function write(segment: Segment, group: readonly Waiting[]): Promise<void> {
    const first = positionAt(segment.base, segment.end);
    let offset = segment.end;
    const offsets = new Map<Waiting, number>();
    const buffers: Buffer[] = [];
    for (const one of group) {
      offsets.set(one, offset);
      buffers.push(
        ...frame({ generation: segment.generation, position: positionAt(segment.base, offset), group: first }, one.head, one.body),
      );
      offset += one.bytes;
    }
    await written(segment, buffers);
    const bytes = offset - segment.end;
    segment.end = offset;
    metrics.appended(
      group.map(({ kind }) => kind),
      bytes,
    );
    metrics.used(log.bytesUsed());
    settle(group, (one) => ({ kind: 'appended', position: positionAt(segment.base, offsets.get(one) ?? 0) }));
  }

  async function written({ file, end }: Segment, buffers: readonly Buffer[]): Promise<void> {
    const startMs = clock.nowMs();
    let outcome: 'done' | 'failed' = 'failed';
    try {
      await writeAll(file, buffers, end);
      outcome = 'done';
    } finally {
      metrics.synced((clock.nowMs() - startMs) / 1000, outcome);
    }
  }

  return {
    append(record, from) {
      const reserved = from === 'reserve' ? 0 : segmentsReserved;
      const head = recordHead(record);
      const bytes = head === undefined ? undefined : frameBytes(head.length + record.body.length);
      const reason = refusal(bytes, reserved);
      if (reason !== undefined || head === undefined || bytes === undefined) {
        metrics.refused(reason ?? 'too_large');
        return Promise.resolve({ kind: 'refused', reason: reason ?? 'too_large' });
      }
      waitingBytes += bytes;
      return new Promise((resolve) => {
        waiting.push({ kind: countedKind(record), head, body: record.body, bytes, reserved, settle: resolve });
        writing ??= drain();
      });
    },
    isDiskFull: () => full,
    async tryRoom() {
      if (!full || stopped || clock.nowMs() < failedUntilMs) return;
      writing ??= drain(probe);
      await writing;
    },
    async stop() {
      stopped = true;
      await writing;
    },
  };
}

/** Number of the first ones that fit into these bytes; at least one. */
function fitting(waiting: readonly Waiting[], bytesMax: number): number {
  let bytes = 0;
  const over = waiting.findIndex((one, at) => (bytes += one.bytes) > bytesMax || at >= groupRecordsMax);
  return over === -1 ? waiting.length : Math.max(1, over);
}
