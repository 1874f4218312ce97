/** A journal in memory, for tests and for operators who must not write prompts to a disk. It ends with the process. */
import { countedKind, journalMetrics } from './journal-metrics.ts';
import { frameBytes } from './disk/frame.ts';
import type { Appended, Journal, JournalEntry, JournalRecord, JournalRefusal, Position, JournalDeps, JournalSettings } from './journal.ts';
import { newCursor, recovery, type RecoveryCursor } from './poison-records.ts';

/** Records of a journal in memory. A second journal over the same records acts as a restarted process. */
export interface MemoryRecords {
  readonly records: Map<Position, JournalRecord>;
  readonly quarantine: Map<Position, JournalRecord>;
  checkpoint: Position;
  end: Position;
  cursor: RecoveryCursor;
}

/** Share of `bytesMax`. */
const reserveShare = 1 / 8;
const quarantineBytesMaxDefault = 16 * 1024 * 1024;

export function memoryRecords(): MemoryRecords {
  const zero = 0 as Position;
  return { records: new Map(), quarantine: new Map(), checkpoint: zero, end: zero, cursor: newCursor };
}

/** `outliving`: records that outlive the journal, as those of a disk do: they are released from the oldest on, and in no other order. */
export async function memoryJournal(settings: JournalSettings, parts: JournalDeps, outliving?: MemoryRecords): Promise<Journal> {
  const memory = outliving ?? memoryRecords();
  const metrics = journalMetrics(parts);
  const { memoryBytesMax = Infinity, segmentBytes = settings.bytesMax, quarantineBytesMax = quarantineBytesMaxDefault } = settings;
  const bytesMax = Math.min(settings.bytesMax, memoryBytesMax);
  const endAtStart = memory.end;
  let used = total(memory.records.values());
  let stopped = false;

  function refused(reason: JournalRefusal): Appended {
    metrics.refused(reason);
    return { kind: 'refused', reason };
  }

  async function append(record: JournalRecord, from?: 'reserve'): Promise<Appended> {
    if (stopped) return refused('stopped');
    const bytes = bytesOf(record);
    if (bytes > segmentBytes) return refused('too_large');
    if (used + bytes > bytesMax * (from === 'reserve' ? 1 : 1 - reserveShare)) return refused('full');
    const position = memory.end;
    record.bodyMemory?.retain();
    memory.records.set(position, record);
    memory.end = (memory.end + 1) as Position;
    used += bytes;
    metrics.appended([countedKind(record)], bytes);
    metrics.used(used);
    return { kind: 'appended', position };
  }

  async function* between(from: Position, to: Position): AsyncGenerator<JournalEntry> {
    for (const [position, record] of memory.records) if (position >= from && position < to) yield { position, record };
  }

  async function setAside({ position, record }: JournalEntry): Promise<void> {
    const fits = total(memory.quarantine.values()) + bytesOf(record) <= quarantineBytesMax;
    if (fits) {
      record.bodyMemory?.keep();
      memory.quarantine.set(position, record);
    }
    metrics.quarantined(position, fits ? 'kept' : 'not_kept');
  }

  return {
    append,
    read: (from) => between(from, memory.end),
    at: async (position) => memory.records.get(position),
    commit(below, isNeeded = () => true) {
      if (below > memory.checkpoint) memory.checkpoint = below < memory.end ? below : memory.end;
      for (const [position, record] of memory.records) {
        const isAbove = position >= memory.checkpoint;
        if (isAbove && outliving !== undefined) break;
        if (isAbove && (!isRequest(record) || isNeeded(position))) continue;
        memory.records.delete(position);
        record.bodyMemory?.release();
        used -= bytesOf(record);
      }
      metrics.used(used);
    },
    recover: () =>
      recovery({
        last: memory.cursor,
        async keep(cursor) {
          memory.cursor = cursor;
        },
        entries: () => between(memory.checkpoint, endAtStart),
        isSetAside: (position) => memory.quarantine.has(position),
        setAside,
      }),
    oldest: () => memory.checkpoint,
    end: () => memory.end,
    bytesUsed: () => used,
    bytesMax,
    isDiskFull: () => false,
    tryRoom: async () => undefined,
    async stop() {
      stopped = true;
    },
  };
}

/** Not a note about other records. */
function isRequest({ kind }: JournalRecord): boolean {
  return kind === 'traces' || kind === 'logs';
}

function bytesOf({ body }: JournalRecord): number {
  return frameBytes(body.length);
}

function total(records: Iterable<JournalRecord>): number {
  let bytes = 0;
  for (const record of records) bytes += bytesOf(record);
  return bytes;
}
