/** The journal in files of this machine: the default. `docs/explanation/journal.md` describes the format and what it promises. */
import { dirname, join } from 'node:path';
import { journalMetrics } from './journal-metrics.ts';
import { findSegments } from './disk/segment-recovery.ts';
import type { FileLayer } from './disk/file-system.ts';
import { checkpointOf, parsedEnd, parsedCheckpoint } from './disk/checkpoint-file.ts';
import { nodeFiles } from './disk/node-files.ts';
import { quarantineFolder, quarantineIn } from './disk/quarantine.ts';
import { readerOf } from './disk/reader.ts';
import { segments } from './disk/segments.ts';
import { doubleBufferedFile } from './disk/double-buffered-file.ts';
import { writerOf } from './disk/writer.ts';
import type { Journal, JournalDeps, JournalSettings } from './journal.ts';
import { newCursor, parsedCursor, recovery } from './poison-records.ts';
import { pageBytes, segmentBytesMin } from './disk/segment-header.ts';

/** Rejects with JOURNAL_LOCKED, or with the disk's error; then nothing is held. */
export async function diskJournal(
  settings: JournalSettings,
  parts: JournalDeps,
  files: FileLayer = parts.files ?? nodeFiles,
): Promise<Journal> {
  await files.makeFolder(settings.folder);
  const lock = await files.lock(settings.folder);
  const held: (() => Promise<void>)[] = [() => lock.release()];
  const release = async (): Promise<void> => {
    for (const close of held.splice(0).reverse()) await close().catch(() => undefined);
  };
  try {
    return await opened({ settings, parts, files, hold: (close) => held.push(close), release });
  } catch (error) {
    await release();
    throw error;
  }
}

interface Opening {
  readonly settings: JournalSettings;
  readonly parts: JournalDeps;
  readonly files: FileLayer;
  readonly hold: (close: () => Promise<void>) => void;
  readonly release: () => Promise<void>;
}

async function opened({ settings, parts, files, hold, release }: Opening): Promise<Journal> {
  const { folder } = settings;
  const sizes = sizesOf(settings);
  const metrics = journalMetrics(parts, folder);
  const names = await files.list(folder);
  const checkpointFile = await doubleBufferedFile(files, join(folder, 'mark'), names.includes('mark'));
  hold(() => checkpointFile.close());
  // Segments are freed by it at once, and it may not have come to the disk yet.
  if (checkpointFile.text !== undefined) await checkpointFile.write(checkpointFile.text, 'power');
  const cursorFile = await doubleBufferedFile(files, join(folder, 'recovery'), names.includes('recovery'));
  hold(() => cursorFile.close());
  const quarantine = await quarantineIn({
    files,
    folder: join(folder, quarantineFolder),
    bytesMax: sizes.quarantineBytesMax,
    failed: metrics.failed,
  });
  const found = await findSegments({
    files,
    folder,
    ...sizes,
    checkpoint: parsedCheckpoint(checkpointFile.text),
    durableEnd: parsedEnd(checkpointFile.text),
    metrics,
  });
  const log = segments({ files, folder, ...sizes, randomBytes: parts.randomBytes, metrics, found });
  hold(() => log.close());
  // The names made above, and the folder's own.
  await files.syncFolder(folder);
  await files.syncFolder(dirname(folder));
  await log.prepare().catch((error: unknown) => {
    // Where nothing can be written the start fails, not the first request; but what is there must be replayed to free the disk.
    if (found.live.length === 0) throw error;
    metrics.failed('a spare segment could not be made', error);
  });

  const checkpoint = checkpointOf({ file: checkpointFile, log, sleep: parts.sleep, metrics });
  const writer = writerOf({ log, clock: parts.clock, metrics, ...sizes, sealed: checkpoint.sealed });
  const reader = readerOf(log, metrics);
  const endAtStart = log.end();
  metrics.used(log.bytesUsed());

  async function stop(): Promise<void> {
    await writer.stop();
    await checkpoint.stop();
    await release();
  }

  let stopped: Promise<void> | undefined;
  return {
    append: writer.append,
    read: (from) => reader.read(from, log.end()),
    at: reader.at,
    commit: (below) => checkpoint.raise(below < log.end() ? below : log.end()),
    recover: () =>
      recovery({
        last: parsedCursor(cursorFile.text ?? '') ?? newCursor,
        keep: (cursor) => cursorFile.write(JSON.stringify(cursor), 'death'),
        entries: () => reader.read(checkpoint.position(), endAtStart),
        isSetAside: quarantine.has,
        async setAside(entry) {
          metrics.quarantined(entry.position, await quarantine.keep(entry));
        },
      }),
    oldest: checkpoint.position,
    end: log.end,
    bytesUsed: log.bytesUsed,
    bytesMax: sizes.segmentsMax * sizes.segmentBytes,
    isDiskFull: writer.isDiskFull,
    tryRoom: writer.tryRoom,
    stop: () => (stopped ??= stop()),
  };
}

/** Divides a journal of this size into segments. */
interface Sizes {
  readonly segmentBytes: number;
  readonly segmentsMax: number;
  /** Part of these that is kept for records from the reserve. */
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

function sizesOf({
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
