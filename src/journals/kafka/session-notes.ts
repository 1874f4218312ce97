/** Sends notes on the tools of a session to the other processes on a topic: a record in one partition of each. Some may be lost. */
import type { Clock } from '../../model/clock.ts';
import type { JournalPartitionStore } from '../../model/store/journal-partition-store.ts';
import type { SessionNote } from '../../pipeline/assembly/session-tool-definitions.ts';
import { noteRecord, type KeyedRecord } from './requests.ts';

interface SessionNotesOptions {
  /** Name of this process, as the store has it. */
  readonly owner: string;
  /** The topic as the store names it. */
  readonly topic: () => string;
  readonly store: () => JournalPartitionStore | undefined;
  readonly clock: Clock;
  readonly send: (records: readonly KeyedRecord[], leaveOut: () => void) => Promise<unknown>;
}

/** Between two looks at who owns which partitions. */
const lookedMs = 5_000;
const waitingMax = 1_000;

/** The returned function never waits and never throws. */
export function sessionNotes({ owner, topic, store, clock, send }: SessionNotesOptions): (note: SessionNote) => void {
  let partitions: readonly number[] = [];
  let lookedAtMs = -Infinity;
  let waiting: SessionNote[] = [];
  let sending: Promise<void> | undefined;

  /** One partition of each other process. */
  async function others(): Promise<readonly number[]> {
    if (clock.nowMs() < lookedAtMs + lookedMs) return partitions;
    const rows = (await store()?.list()) ?? [];
    const byOwner = Map.groupBy(
      rows.filter((row) => row.topic === topic() && row.owner !== owner),
      (row) => row.owner,
    );
    partitions = [...byOwner.values()].map((own) => Math.min(...own.map(({ partition }) => partition)));
    lookedAtMs = clock.nowMs();
    return partitions;
  }

  async function sendAll(): Promise<void> {
    while (waiting.length > 0) {
      const to = await others();
      const notes = waiting;
      waiting = [];
      const records = notes.flatMap((note) => to.map((partition) => noteRecord(note, { partition, nowMs: clock.nowMs() })));
      // A note that is too large for the topic is lost.
      if (records.length === 0 || (await send(records, () => undefined)) === undefined) continue;
      // They go with the next note.
      waiting = [...notes, ...waiting].slice(0, waitingMax);
      return;
    }
  }

  return (note) => {
    if (waiting.length >= waitingMax) return;
    waiting.push(note);
    sending ??= sendAll()
      .catch(() => undefined)
      .finally(() => {
        sending = undefined;
      });
  };
}
