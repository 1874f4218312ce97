/** The contract of every journal. A member gives a way to open it, and to open it again as if the process had come back. */
import { afterEach, describe, expect, test } from 'vitest';
import type { Journal, JournalEntry, JournalRecord, Position, JournalSettings } from '../../src/journals/journal.ts';
import { tenant } from '../../src/model/ids.ts';
import { appended, entriesIn, entriesOf, idOf, idsIn, recordOf, smallSettings, testParts, type TestParts } from './parts.ts';

export interface JournalHome {
  open(settings: JournalSettings, parts: TestParts): Promise<Journal>;
  /** After the test. */
  remove?(): Promise<void>;
}

export function journalContract(name: string, newHome: () => Promise<JournalHome>): void {
  describe(`journal ${name}`, () => {
    const opened: { home: JournalHome; journal: Journal }[] = [];
    afterEach(async () => {
      for (const { home, journal } of opened.splice(0).reverse()) {
        await journal.stop();
        await home.remove?.();
      }
    });
    async function fresh(
      more: Partial<JournalSettings> = {},
    ): Promise<{ journal: Journal; parts: TestParts; again: (parts?: TestParts) => Promise<Journal> }> {
      const home = await newHome();
      const settings = { ...smallSettings, ...more };
      const open = async (parts: TestParts): Promise<Journal> => {
        const journal = await home.open(settings, parts);
        opened.push({ home, journal });
        return journal;
      };
      const parts = testParts();
      const journal = await open(parts);
      return {
        journal,
        parts,
        async again(later = testParts(2)) {
          await opened.pop()?.journal.stop();
          return open(later);
        },
      };
    }

    test('records are read back unchanged, in order', async () => {
      const { journal } = await fresh();
      const records = [
        recordOf(1, 8),
        recordOf(2, 5000),
        recordOf(3),
        { ...recordOf(4), body: Buffer.alloc(0) },
        { ...recordOf(5), contentType: 'application/json; charset=utf-8' },
      ];
      const positions: Position[] = [];
      for (const record of records) positions.push(await appended(journal, record));
      expect(await entriesIn(journal)).toEqual(records.map((record, at) => ({ position: positions[at], record })));
      expect([...positions].sort((a, b) => a - b)).toEqual(positions);
    });

    test('records that come together are all taken, in the order in which they came', async () => {
      const { journal } = await fresh();
      const outcomes = await Promise.all(Array.from({ length: 40 }, (_, id) => journal.append(recordOf(id))));
      expect(outcomes.every(({ kind }) => kind === 'appended')).toBe(true);
      expect(await idsIn(journal)).toEqual(Array.from({ length: 40 }, (_, id) => id));
    });

    test('one record is read at its position, and nothing where none begins', async () => {
      const { journal } = await fresh();
      const positions = await Promise.all([1, 2, 3].map((id) => appended(journal, recordOf(id))));
      expect(await Promise.all(positions.map((position) => journal.at(position)))).toEqual([1, 2, 3].map((id) => recordOf(id)));
      expect(await journal.at(journal.end())).toBeUndefined();
    });

    test('reading can begin at any record', async () => {
      const { journal } = await fresh();
      const positions: Position[] = [];
      for (let id = 0; id < 100; id++) positions.push(await appended(journal, recordOf(id)));
      for (const [id, position] of positions.entries()) {
        const first = (await entriesOf(journal.read(position)))[0];
        expect(first && idOf(first.record)).toBe(id);
      }
      expect(await entriesOf(journal.read(journal.end()))).toEqual([]);
    });

    test('what is not committed is there again, and only that', async () => {
      const { journal, again } = await fresh();
      const positions: Position[] = [];
      for (let id = 0; id < 60; id++) positions.push(await appended(journal, recordOf(id)));
      const below = positions[45] ?? journal.end();
      journal.commit(below);
      expect(journal.oldest()).toBe(below);
      const later = await again();
      expect(await idsIn(later)).toEqual(Array.from({ length: 15 }, (_, at) => 45 + at));
      later.commit(later.end());
      expect(await idsIn(await again())).toEqual([]);
    });

    test('a commit below an earlier one, or beyond the end, is kept in its bounds', async () => {
      const { journal } = await fresh();
      const positions = await Promise.all([1, 2, 3].map((id) => appended(journal, recordOf(id))));
      journal.commit(positions[2] ?? journal.end());
      journal.commit(positions[1] ?? journal.end());
      expect(await idsIn(journal)).toEqual([3]);
      journal.commit((journal.end() + 1e6) as Position);
      expect(journal.oldest()).toBe(journal.end());
      expect(await appended(journal, recordOf(4))).toBeGreaterThanOrEqual(journal.oldest());
      expect(await idsIn(journal)).toEqual([4]);
    });

    test('a full journal refuses at once, takes records again when some are committed, and never grows beyond its bound', async () => {
      const { journal, parts } = await fresh();
      let taken = 0;
      let outcome = await journal.append(recordOf(taken, 1000));
      for (; outcome.kind === 'appended'; outcome = await journal.append(recordOf(taken, 1000))) {
        taken++;
        expect(journal.bytesUsed()).toBeLessThanOrEqual(journal.bytesMax);
      }
      expect(outcome).toEqual({ kind: 'refused', reason: 'full' });
      expect(parts.count('tracejury.journal.refused', 'full')).toBe(1);
      expect(taken).toBeGreaterThan(40);
      expect(await idsIn(journal)).toEqual(Array.from({ length: taken }, (_, id) => id));
      journal.commit(journal.end());
      for (
        let again = await journal.append(recordOf(1000, 1000));
        again.kind === 'refused';
        again = await journal.append(recordOf(1000, 1000))
      )
        await parts.sleep(0);
      for (let id = 1; id < 40; id++) await appended(journal, recordOf(1000 + id, 1000));
      expect(await idsIn(journal)).toEqual(Array.from({ length: 40 }, (_, id) => 1000 + id));
    });

    test('a full journal has a reserve, also for the process that comes after it, and can be worked off from there', async () => {
      const { journal, again } = await fresh();
      let taken = 0;
      while ((await journal.append(recordOf(taken, 1000))).kind === 'appended') taken++;
      const later = await again();
      expect((await later.append(recordOf(500, 1000))).kind).toBe('refused');
      let reserved = 0;
      while ((await later.append(recordOf(1000 + reserved, 1000), 'reserve')).kind === 'appended') reserved++;
      expect(reserved).toBeGreaterThanOrEqual(7);
      expect(later.bytesUsed()).toBeLessThanOrEqual(later.bytesMax);
      expect(await idsIn(later)).toEqual([
        ...Array.from({ length: taken }, (_, id) => id),
        ...Array.from({ length: reserved }, (_, id) => 1000 + id),
      ]);
    });

    test('a record that no segment can hold is refused', async () => {
      const { journal, parts } = await fresh();
      expect(await journal.append(recordOf(1, 20_000))).toEqual({ kind: 'refused', reason: 'too_large' });
      expect(parts.count('tracejury.journal.refused', 'too_large')).toBe(1);
    });

    test('a copy has the first position of the record', async () => {
      const { journal } = await fresh();
      const origin = await appended(journal, recordOf(1));
      const copy = await appended(journal, { ...recordOf(1), isCopy: true, origin });
      const far = await appended(journal, { ...recordOf(2), tenant: tenant('ü'), isCopy: true, origin: (2 ** 45 + 1) as Position });
      expect(await Promise.all([origin, copy, far].map((position) => journal.at(position)))).toEqual([
        recordOf(1),
        { ...recordOf(1), isCopy: true, origin },
        { ...recordOf(2), tenant: tenant('ü'), isCopy: true, origin: 2 ** 45 + 1 },
      ]);
    });

    test('records are counted by what they are, and a copy as one', async () => {
      const { journal, parts } = await fresh();
      const kinds: readonly Partial<JournalRecord>[] = [
        { kind: 'traces' },
        { kind: 'traces' },
        { kind: 'traces', isCopy: true },
        { kind: 'logs' },
        { kind: 'logs', isCopy: true },
        { kind: 'done' },
        { kind: 'forwarded' },
      ];
      await Promise.all(kinds.map((one, id) => appended(journal, { ...recordOf(id), ...one })));
      expect(['traces', 'logs', 'copy', 'done', 'forwarded'].map((kind) => parts.count('tracejury.journal.records', kind))).toEqual([
        2, 1, 2, 1, 1,
      ]);
    });

    test('many times its size goes through it while it is committed behind', async () => {
      const { journal, parts } = await fresh();
      for (let id = 0; id < 600; id++) {
        const position = await appended(journal, recordOf(id, 700));
        if (id % 10 === 9) journal.commit(position);
        await parts.sleep(0);
      }
      expect((await idsIn(journal)).at(-1)).toBe(599);
      expect(['traces', 'logs'].map((kind) => parts.count('tracejury.journal.records', kind))).toEqual([300, 300]);
      expect(parts.count('tracejury.journal.corrupt')).toBe(0);
      expect(journal.bytesUsed()).toBeLessThan(journal.bytesMax / 2);
      expect(parts.count('tracejury.journal.used')).toBe(journal.bytesUsed());
    });

    test('records are appended and committed while it is replayed; what was appended meanwhile is not part of the replay', async () => {
      const { journal, again } = await fresh();
      for (let id = 0; id < 30; id++) await appended(journal, recordOf(id));
      const later = await again();
      const seen: number[] = [];
      for await (const { record } of later.recover().entries) {
        seen.push(idOf(record));
        const copy = await appended(later, recordOf(100 + idOf(record)));
        if (idOf(record) === 29) later.commit(copy);
      }
      expect(seen).toEqual(Array.from({ length: 30 }, (_, id) => id));
      expect(await idsIn(later)).toEqual([129]);
    });

    test('a record on which the process died twice is set aside, and the next start gets through', async () => {
      const { journal, again } = await fresh();
      for (let id = 0; id < 5; id++) await appended(journal, recordOf(id));
      const starts: number[] = [];
      for (let death = 0; death < 2; death++) {
        const recovery = (await again()).recover();
        starts.push(recovery.starts);
        expect((await until(recovery.entries, 3)).map(({ record }) => idOf(record))).toEqual([0, 1, 2, 3]);
      }
      const parts = testParts(3);
      const recovery = (await again(parts)).recover();
      expect([...starts, recovery.starts]).toEqual([1, 2, 3]);
      expect((await entriesOf(recovery.entries)).map(({ record }) => idOf(record))).toEqual([0, 1, 2, 4]);
      expect(parts.count('tracejury.journal.quarantined', 'kept')).toBe(1);
      await recovery.finish();
      const last = (await again()).recover();
      expect(last.starts).toBe(1);
      expect((await entriesOf(last.entries)).map(({ record }) => idOf(record))).toEqual([0, 1, 2, 4]);
    });

    test('a replay that was read but not finished counts, so that the next start can look at each record by itself', async () => {
      const { journal, again } = await fresh();
      for (let id = 0; id < 3; id++) await appended(journal, recordOf(id));
      for (const starts of [1, 2, 3]) {
        const recovery = (await again()).recover();
        expect(recovery.starts).toBe(starts);
        expect((await entriesOf(recovery.entries)).length).toBe(3);
      }
    });

    test('deaths on two records by turns are laid to both', async () => {
      const { journal, again } = await fresh();
      for (let id = 0; id < 5; id++) await appended(journal, recordOf(id));
      for (const deadly of [1, 3, 1]) await until((await again()).recover().entries, deadly);
      expect((await until((await again()).recover().entries, 3)).map(({ record }) => idOf(record))).toEqual([0, 2, 3]);
      expect((await entriesOf((await again()).recover().entries)).map(({ record }) => idOf(record))).toEqual([0, 2, 4]);
    });

    test('a stop in the middle of a replay blames no record', async () => {
      const { journal, again } = await fresh();
      for (let id = 0; id < 3; id++) await appended(journal, recordOf(id));
      for (let stop = 0; stop < 4; stop++) {
        const recovery = (await again()).recover();
        expect(recovery.starts).toBe(1);
        await until(recovery.entries, 1);
        await recovery.leave();
      }
      expect((await entriesOf((await again()).recover().entries)).map(({ record }) => idOf(record))).toEqual([0, 1, 2]);
    });

    test('a quarantine without room keeps nothing more, and the record is passed over all the same', async () => {
      const { journal, again } = await fresh();
      await appended(journal, recordOf(0));
      await appended(journal, recordOf(1, 6000));
      await appended(journal, recordOf(2));
      for (let death = 0; death < 2; death++) await until((await again()).recover().entries, 1);
      for (let start = 0; start < 2; start++) {
        const parts = testParts(4);
        expect((await entriesOf((await again(parts)).recover().entries)).map(({ record }) => idOf(record))).toEqual([0, 2]);
        expect(parts.count('tracejury.journal.quarantined', 'not_kept')).toBe(1);
      }
    });

    test('after a stop records are refused, and stopping again does nothing', async () => {
      const { journal, parts } = await fresh();
      const under = journal.append(recordOf(1));
      await journal.stop();
      expect((await under).kind).toBe('appended');
      expect(await journal.append(recordOf(2))).toEqual({ kind: 'refused', reason: 'stopped' });
      await journal.stop();
      expect(parts.count('tracejury.journal.refused', 'stopped')).toBe(1);
    });
  });
}

/** Takes entries up to this record and dies on it: the next one is never asked for. */
async function until(entries: AsyncIterable<JournalEntry>, id: number): Promise<readonly JournalEntry[]> {
  const taken: JournalEntry[] = [];
  const iterator = entries[Symbol.asyncIterator]();
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) {
    taken.push(next.value);
    if (idOf(next.value.record) === id) break;
  }
  return taken;
}
