/** A process that uses a journal until its disk fails, and what must be true of what it leaves. */
import { expect } from 'vitest';
import { diskJournal } from '../../src/journals/disk.ts';
import type { Journal, JournalEntry, JournalRecord, Position } from '../../src/journals/journal.ts';
import type { Chance } from '../builders/seeded.ts';
import { entriesIn, entriesOf, folder, idOf, recordOf, smallSettings, testParts, type TestParts } from './parts.ts';
import type { SimulatedDisk } from './simulated-disk.ts';

/** The knowledge of the outside, over all processes. */
export interface Ledger {
  readonly sent: Map<number, JournalRecord>;
  readonly acknowledged: Map<number, Position>;
  committed: number;
}

export function ledger(): Ledger {
  return { sent: new Map(), acknowledged: new Map(), committed: 0 };
}

const sizes = [8, 60, 300, 1500, 5000];

/** Replays, then appends in bursts and commits behind. Ends early when the journal cannot be opened. Gives how it ended. */
export async function session(
  disk: SimulatedDisk,
  book: Ledger,
  chance: Chance,
  options: { readonly bursts: number; readonly stops: boolean },
): Promise<'not opened' | 'ended'> {
  const parts = testParts(chance.below(2 ** 31));
  const journal = await diskJournal(smallSettings, parts, disk.files).catch(() => undefined);
  if (journal === undefined) return 'not opened';
  if (await diesInReplay(journal, chance)) return 'ended';
  for (let burst = 0; burst < options.bursts; burst++) await oneBurst(journal, book, chance, parts);
  if (options.stops) await journal.stop();
  return 'ended';
}

/** Now and then the process ends at the first record. */
async function diesInReplay(journal: Journal, chance: Chance): Promise<boolean> {
  const recovery = journal.recover();
  const dies = chance.share() < 0.2;
  try {
    for await (const _ of recovery.entries) if (dies) return true;
    await recovery.finish();
  } catch {
    // The disk failed; the host would end here, and the session goes on with what is left of it.
  }
  return false;
}

async function oneBurst(journal: Journal, book: Ledger, chance: Chance, parts: TestParts): Promise<void> {
  const records = Array.from({ length: 1 + chance.below(5) }, (_, at) => recordOf(book.sent.size + at, chance.pick(sizes)));
  for (const record of records) book.sent.set(idOf(record), record);
  await Promise.all(
    records.map(async (record) => {
      const outcome = await journal.append(record);
      if (outcome.kind === 'appended') book.acknowledged.set(idOf(record), outcome.position);
    }),
  );
  // Past the rest after a failure.
  parts.clock.advance(5_000);
  if (chance.share() < 0.5) {
    const below = chance.pick([...[...book.acknowledged.values()].slice(-12), journal.end()]);
    journal.commit(below);
    book.committed = Math.max(book.committed, below);
    if (chance.share() < 0.5) await parts.sleep(0);
  }
}

/** Opens the journal on a sound disk. Every acknowledged record that is not committed is there once, in order; none is invented; no damage is seen. */
export async function check(disk: SimulatedDisk, book: Ledger): Promise<readonly JournalEntry[]> {
  const parts = testParts(7);
  const journal = await diskJournal(smallSettings, parts, disk.files);
  const entries = await entriesIn(journal);
  const ids = entries.map(({ record }) => idOf(record));
  expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
  for (const { position, record } of entries) {
    expect(record).toEqual(book.sent.get(idOf(record)));
    expect(book.acknowledged.get(idOf(record)) ?? position).toBe(position);
  }
  const there = new Set(ids);
  const missing = [...book.acknowledged].filter(([id, position]) => position >= book.committed && !there.has(id));
  expect(missing).toEqual([]);
  expect(parts.count('tracejury.journal.corrupt')).toBe(0);
  const replayed = await entriesOf(journal.recover().entries);
  const setAside = entries.filter(({ position }) => disk.paths().includes(`${folder}/quarantine/${position}.body`));
  expect(entries.length - replayed.length).toBe(setAside.length + parts.count('tracejury.journal.quarantined', 'not_kept'));
  expect(disk.paths().filter((path) => path.endsWith('.segment')).length).toBeLessThanOrEqual(8);
  await journal.stop();
  return entries;
}
