/** Committed positions, kept on disk lazily: at once when it frees a segment, else within a second. */
import type { Sleep } from '../../model/clock.ts';
import type { JournalMetrics } from '../journal-metrics.ts';
import type { Position } from '../journal.ts';
import type { Segments } from './segments.ts';
import type { DoubleBufferedFile } from './double-buffered-file.ts';

export interface CheckpointFileOptions {
  readonly file: DoubleBufferedFile;
  readonly log: Segments;
  readonly sleep: Sleep;
  readonly metrics: JournalMetrics;
}

export interface CheckpointFile {
  position(): Position;
  raise(to: Position): void;
  /** A segment was sealed: it may be one whose records are all committed already. */
  sealed(): Promise<void>;
  /** Writes what is not written yet, and how far records are durable. */
  stop(): Promise<void>;
}

/** A crash within this time brings back what was committed meanwhile. */
const pauseMs = 1000;

export function checkpointOf({ file, log, sleep, metrics }: CheckpointFileOptions): CheckpointFile {
  let checkpoint = parsedCheckpoint(file.text);
  let written = checkpoint;
  let writtenEnd = parsedEnd(file.text);
  let pause: AbortController | undefined;
  let keeping: Promise<void> | undefined;
  let stopping = false;

  /** A fault ends it: the next commit tries again. */
  async function keep(): Promise<void> {
    try {
      while (written < checkpoint) {
        if (!stopping && !log.releasable(checkpoint)) await untilNextWrite();
        const wanted = checkpoint;
        await write(wanted);
        // Not before the checkpoint is safe: else a start would miss what it does not know to be committed.
        await log.release(wanted);
        metrics.used(log.bytesUsed());
      }
    } catch (error) {
      metrics.failed('what is committed could not be written down', error);
    } finally {
      keeping = undefined;
    }
  }

  async function write(wanted: Position): Promise<void> {
    const end = log.durableEnd();
    await file.write(checkpointText(wanted, end), 'power');
    [written, writtenEnd] = [wanted, end];
  }

  async function untilNextWrite(): Promise<void> {
    pause = new AbortController();
    await sleep(pauseMs, pause.signal);
    pause = undefined;
  }

  return {
    position: () => checkpoint,
    raise(to) {
      if (to <= checkpoint || stopping) return;
      checkpoint = to;
      if (log.releasable(checkpoint)) pause?.abort();
      keeping ??= keep();
    },
    sealed: () => log.release(written),
    async stop() {
      stopping = true;
      pause?.abort();
      await keeping;
      if (written < checkpoint) await (keeping ??= keep());
      // A start can then distinguish lost records from an end that a crash tore.
      if (writtenEnd < log.durableEnd())
        await write(written).catch((error: unknown) => metrics.failed('the end of the journal could not be written down', error));
    },
  };
}

function checkpointText(checkpoint: Position, end: Position): string {
  return `${checkpoint} ${end}`;
}

export function parsedCheckpoint(text: string | undefined): Position {
  return positionIn(text, 0);
}

/** Records below were durable; 0 when unknown. */
export function parsedEnd(text: string | undefined): Position {
  return positionIn(text, 1);
}

function positionIn(text: string | undefined, at: number): Position {
  const value = Number(text?.split(' ')[at] ?? '0');
  return (Number.isSafeInteger(value) && value > 0 ? value : 0) as Position;
}
