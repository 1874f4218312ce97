/** What is committed, kept on disk at leisure: at once when it frees a segment, else within a second. */
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
const restMs = 1000;

export function checkpointOf({ file, log, sleep, metrics }: CheckpointFileOptions): CheckpointFile {
  let mark = parsedCheckpoint(file.text);
  let written = mark;
  let writtenEnd = parsedEnd(file.text);
  let resting: AbortController | undefined;
  let keeping: Promise<void> | undefined;
  let stopping = false;

  /** A fault ends it: the next commit tries again. */
  async function keep(): Promise<void> {
    try {
      while (written < mark) {
        if (!stopping && !log.releasable(mark)) await rest();
        const wanted = mark;
        await write(wanted);
        // Not before the mark is safe: else a start would miss what it does not know to be committed.
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
    await file.write(markText(wanted, end), 'power');
    [written, writtenEnd] = [wanted, end];
  }

  async function rest(): Promise<void> {
    resting = new AbortController();
    await sleep(restMs, resting.signal);
    resting = undefined;
  }

  return {
    position: () => mark,
    raise(to) {
      if (to <= mark || stopping) return;
      mark = to;
      if (log.releasable(mark)) resting?.abort();
      keeping ??= keep();
    },
    sealed: () => log.release(written),
    async stop() {
      stopping = true;
      resting?.abort();
      await keeping;
      if (written < mark) await (keeping ??= keep());
      // A start can tell then what was lost meanwhile from an end that a crash tore.
      if (writtenEnd < log.durableEnd())
        await write(written).catch((error: unknown) => metrics.failed('the end of the journal could not be written down', error));
    },
  };
}

function markText(mark: Position, end: Position): string {
  return `${mark} ${end}`;
}

export function parsedCheckpoint(text: string | undefined): Position {
  return positionIn(text, 0);
}

/** Records below were durable; 0: nobody knows. */
export function parsedEnd(text: string | undefined): Position {
  return positionIn(text, 1);
}

function positionIn(text: string | undefined, at: number): Position {
  const value = Number(text?.split(' ')[at] ?? '0');
  return (Number.isSafeInteger(value) && value > 0 ? value : 0) as Position;
}
