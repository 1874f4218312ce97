/** The journal while its disk fails, step by step. */
import { describe, expect, test } from 'vitest';
import { diskJournal } from '../../../src/journals/disk.ts';
import type { Journal } from '../../../src/journals/journal.ts';
import { seeded } from '../../builders/seeded.ts';
import { appended, idsIn, recordOf, smallSettings, testParts, type TestParts } from '../parts.ts';
import { simulatedDisk, type Fault, type SimulatedDisk } from '../simulated-disk.ts';

interface Bench {
  readonly disk: SimulatedDisk;
  readonly journal: Journal;
  readonly parts: TestParts;
  /** The next operation of this name fails; `times` of them. */
  fail(operation: string, fault?: Fault, times?: number): void;
}

async function bench(): Promise<Bench> {
  let armed: { readonly operation: string; readonly fault: Fault; times: number } | undefined;
  const disk = simulatedDisk((operation) => {
    if (armed?.operation !== operation || armed.times === 0) return undefined;
    armed.times--;
    return armed.fault;
  });
  const parts = testParts();
  const journal = await diskJournal(smallSettings, parts, disk.files);
  return {
    disk,
    journal,
    parts,
    fail(operation, fault = { kind: 'error', code: 'EIO' }, times = 1) {
      armed = { operation, fault, times };
    },
  };
}

async function idsAfter(disk: SimulatedDisk): Promise<{ readonly ids: readonly number[]; readonly corrupt: number }> {
  const parts = testParts(5);
  const journal = await diskJournal(smallSettings, parts, disk.files);
  const ids = await idsIn(journal);
  await journal.stop();
  return { ids, corrupt: parts.count('tracejury.journal.corrupt') };
}

const seeds = Array.from({ length: 60 }, (_, seed) => seed);

describe('journal disk, after a failure', () => {
  test('journal disk: a group whose sync failed is refused as a whole, records are refused for a while, then taken again', async () => {
    const { journal, parts, fail, disk } = await bench();
    await appended(journal, recordOf(1));
    const first = journal.append(recordOf(2));
    fail('datasync');
    const group = [journal.append(recordOf(3)), journal.append(recordOf(4))];
    expect([(await first).kind, ...(await Promise.all(group)).map(({ kind }) => kind)]).toEqual(['refused', 'refused', 'refused']);
    expect(parts.count('tracejury.journal.syncs', 'failed')).toBe(1);
    expect(parts.count('tracejury.journal.refused', 'failed')).toBe(3);
    const before = disk.operations();
    expect(await journal.append(recordOf(5))).toEqual({ kind: 'refused', reason: 'failed' });
    expect(disk.operations()).toBe(before);
    parts.clock.advance(1000);
    await appended(journal, recordOf(6));
    expect(await idsIn(journal)).toEqual([1, 6]);
    expect(parts.count('tracejury.journal.corrupt')).toBe(0);
    expect((await idsAfter(disk.afterDeath())).ids).toEqual([1, 6]);
  });

  test.each([
    ['EIO', 'failed'],
    ['ENOSPC', 'disk_full'],
    ['EDQUOT', 'disk_full'],
  ] as const)('journal disk: a write that ends with %s is refused as %s, at once and while the disk gets a rest', async (code, reason) => {
    const { journal, parts, fail } = await bench();
    await appended(journal, recordOf(1));
    fail('write', { kind: 'error', code });
    expect(await journal.append(recordOf(2))).toEqual({ kind: 'refused', reason });
    expect(await journal.append(recordOf(3))).toEqual({ kind: 'refused', reason });
    expect(parts.count('tracejury.journal.refused', reason)).toBe(2);
    // The next fault has a separate reason.
    parts.clock.advance(1000);
    await appended(journal, recordOf(4));
    fail('write', { kind: 'error', code: 'EIO' });
    expect(await journal.append(recordOf(5))).toEqual({ kind: 'refused', reason: 'failed' });
  });

  test('journal disk: a segment whose sync failed is not synced again, and its file is given up once its records are committed', async () => {
    const { journal, parts, fail, disk } = await bench();
    await appended(journal, recordOf(1));
    const given = disk.paths().filter((path) => path.endsWith('.segment'));
    fail('datasync');
    await journal.append(recordOf(2));
    parts.clock.advance(1000);
    await appended(journal, recordOf(3));
    expect(await idsIn(journal)).toEqual([1, 3]);
    journal.commit(journal.end());
    await journal.stop();
    expect(disk.paths().filter((path) => path === given[0])).toEqual([]);
  });

  test('journal disk: what a failed sync left in the caches is written once more at the next start, before anything relies on it', async () => {
    for (const seed of seeds) {
      const { journal, parts, fail, disk } = await bench();
      await appended(journal, recordOf(1));
      fail('datasync');
      await journal.append(recordOf(2, 3000));
      const later = disk.afterDeath();
      const again = await diskJournal(smallSettings, parts, later.files);
      parts.clock.advance(1000);
      expect(await idsIn(again)).toEqual([1, 2]);
      await appended(again, recordOf(3));
      const { ids, corrupt } = await idsAfter(later.afterPowerLoss(seeded(seed)));
      expect({ ids, corrupt }).toEqual({ ids: [1, 2, 3], corrupt: 0 });
    }
  });

  test('journal disk: a mark that is only in the caches frees no segment before it is written once more', async () => {
    for (const seed of seeds) {
      const { journal, parts, fail, disk } = await bench();
      for (const id of [1, 2]) await appended(journal, recordOf(id, 5000));
      const third = await appended(journal, recordOf(3, 5000));
      // The spare segment is made in the background.
      await parts.sleep(0);
      fail('datasync');
      journal.commit(third);
      await parts.sleep(0);
      await parts.sleep(0);
      expect(parts.told).toEqual(['the journal could not use its disk']);
      const later = disk.afterDeath();
      const again = await diskJournal(smallSettings, parts, later.files);
      for (const id of [4, 5]) await appended(again, recordOf(id, 5000));
      expect(await idsAfter(later.afterPowerLoss(seeded(seed)))).toEqual({ ids: [3, 4, 5], corrupt: 0 });
    }
  });

  test('journal disk: after a segment could not be begun nothing more goes into the one before', async () => {
    for (const seed of seeds) {
      const { journal, parts, fail, disk } = await bench();
      await appended(journal, recordOf(1, 5000));
      // Its header is written, the disk denies it, and the file cannot be taken away.
      fail('write', { kind: 'late', code: 'EIO' });
      expect((await journal.append(recordOf(2, 5000))).kind).toBe('refused');
      parts.clock.advance(1000);
      await appended(journal, recordOf(3, 100));
      const { ids, corrupt } = await idsAfter(disk.afterPowerLoss(seeded(seed)));
      expect({ ids, corrupt }).toEqual({ ids: [1, 3], corrupt: 0 });
    }
  });

  test('journal disk: each failure in a row doubles the rest, up to half a minute', async () => {
    const { journal, parts, fail, disk } = await bench();
    fail('datasync', undefined, 100);
    const touchesDisk = async (): Promise<boolean> => {
      const before = disk.operations();
      expect(await journal.append(recordOf(1))).toEqual({ kind: 'refused', reason: 'failed' });
      return disk.operations() > before;
    };
    for (const restMs of [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]) {
      expect(await touchesDisk()).toBe(true);
      // The background work is over.
      await parts.sleep(0);
      parts.clock.advance(restMs - 1);
      expect(await touchesDisk()).toBe(false);
      parts.clock.advance(1);
    }
    // Half-made files would hold the bytes that a full disk misses.
    expect(disk.paths().filter((path) => path.endsWith('.new'))).toEqual([]);
  });

  test('journal disk: a full disk is worked off: what is there is replayed and committed, and its segments are used again', async () => {
    const { journal, disk } = await bench();
    for (let id = 0; id < 20; id++) await appended(journal, recordOf(id, 1000));
    await journal.stop();
    const parts = testParts();
    // Files that are there can be written over; none can be made or grow.
    const full = await diskJournal(smallSettings, parts, {
      ...disk.files,
      open: (path, mode) => (mode === 'new' ? Promise.reject(new Error('ENOSPC')) : disk.files.open(path, mode)),
    });
    expect(await idsIn(full)).toHaveLength(20);
    full.commit(full.end());
    await parts.sleep(0);
    for (let id = 100; id < 110; id++) await appended(full, recordOf(id, 1000));
    expect(await idsIn(full)).toHaveLength(10);
  });

  test('journal disk: bytes that wait for the disk are bounded', async () => {
    const parts = testParts();
    const journal = await diskJournal({ ...smallSettings, waitingBytesMax: 4096 }, parts, simulatedDisk().files);
    const outcomes = await Promise.all(Array.from({ length: 10 }, (_, id) => journal.append(recordOf(id, 900))));
    expect(outcomes.map((outcome) => (outcome.kind === 'refused' ? outcome.reason : 'appended'))).toEqual([
      ...Array<string>(4).fill('appended'),
      ...Array<string>(6).fill('busy'),
    ]);
    expect(await idsIn(journal)).toEqual([0, 1, 2, 3]);
  });

  test('journal disk: a quarantine that cannot be written lets the record go by', async () => {
    const { journal, disk } = await bench();
    for (const id of [1, 2, 3]) await appended(journal, recordOf(id));
    await journal.stop();
    for (let death = 0; death < 2; death++) {
      const dying = await diskJournal(smallSettings, testParts(), disk.files);
      await dying.recover().entries[Symbol.asyncIterator]().next();
      await dying.stop();
    }
    const parts = testParts();
    const files = { ...disk.files, rename: async () => Promise.reject(new Error('ENOSPC')) };
    const last = await diskJournal(smallSettings, parts, files);
    const seen: number[] = [];
    for await (const { record } of last.recover().entries) seen.push(record.body.readUInt32LE(0));
    expect(seen).toEqual([2, 3]);
    expect(parts.count('tracejury.journal.quarantined', 'not_kept')).toBe(1);
  });
});
