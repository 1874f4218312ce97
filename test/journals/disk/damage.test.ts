/** Bytes that change behind the journal's back: what can still be read is what was appended, and everything else is counted. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OpenMode } from '../../../src/journals/disk/file-system.ts';
import { diskJournal } from '../../../src/journals/disk.ts';
import type { Journal, Position } from '../../../src/journals/journal.ts';
import { appended, entriesIn, idOf, idsIn, recordOf, smallSettings, testParts, type TestParts } from '../parts.ts';
import { simulatedDisk, type SimulatedDisk } from '../simulated-disk.ts';
import { propertyRuns } from '../../builders/property-runs.ts';

/** A start begins a new segment: there is room for some. */
const settings = { ...smallSettings, bytesMax: 2 * smallSettings.bytesMax };

/** One record a group, so that each is known to be durable by the next. */
async function filled(
  count: number,
  bodyBytes: number | readonly number[],
  ends: 'stopped' | 'killed' = 'stopped',
  own = settings,
): Promise<{ readonly disk: SimulatedDisk; readonly positions: readonly Position[] }> {
  const disk = simulatedDisk();
  const journal = await diskJournal(own, testParts(), disk.files);
  const positions: Position[] = [];
  for (let id = 0; id < count; id++)
    positions.push(await appended(journal, recordOf(id, typeof bodyBytes === 'number' ? bodyBytes : bodyBytes[id])));
  if (ends === 'killed') return { disk: disk.afterDeath(), positions };
  await journal.stop();
  return { disk, positions };
}

async function reopened(disk: SimulatedDisk, own = settings): Promise<{ readonly journal: Journal; readonly parts: TestParts }> {
  const parts = testParts(2);
  return { journal: await diskJournal(own, parts, disk.files), parts };
}

/** The segment that holds the body of a record, and where. */
function placeOf(disk: SimulatedDisk, id: number): { readonly path: string; readonly at: number } {
  const start = recordOf(id, 64).body;
  for (const path of disk.paths().filter((one) => one.endsWith('.segment'))) {
    let at = -1;
    disk.damage(path, (bytes) => {
      at = bytes.indexOf(start);
      return bytes;
    });
    if (at !== -1) return { path, at };
  }
  throw new Error(`record ${id} is nowhere`);
}

function flip(disk: SimulatedDisk, path: string, at: number): void {
  disk.damage(path, (bytes) => {
    bytes[at] = (bytes[at] ?? 0) ^ 0xff;
    return bytes;
  });
}

/** Seven of 1000 bytes fill a segment: the newest holds 49 to 53. */
const count = 54;
const range = (from: number, to: number): readonly number[] => Array.from({ length: to - from }, (_, at) => from + at);
/** From the beginning of the body back to fields of the frame's head; `recordHead` is 16 bytes and the texts. */
const texts = (id: number): number => recordOf(id).tenant.length + recordOf(id).contentType.length + recordOf(id).contentEncoding.length;
const headAt = (id: number): number => -(16 + texts(id) + 36);

const flips = [
  { name: 'in the body', offset: () => 50 },
  { name: 'in the tenant', offset: (id: number) => -texts(id) },
  { name: 'in the length', offset: headAt },
  { name: 'in the generation', offset: (id: number) => headAt(id) + 4 },
  { name: 'in the position', offset: (id: number) => headAt(id) + 12 },
  { name: 'in the sum of the head', offset: (id: number) => headAt(id) + 32 },
] as const;

describe('journal disk, damage', () => {
  for (const { name, offset } of flips) {
    for (const [where, id] of [
      ['a full segment', 3],
      ['the newest segment', 51],
    ] as const) {
      test(`journal disk: one byte changed ${name} of a record in ${where} loses this record and no other`, async () => {
        const { disk, positions } = await filled(count, 1000);
        const { path, at } = placeOf(disk, id);
        flip(disk, path, at + offset(id));
        const { journal, parts } = await reopened(disk);
        const rest = range(0, count).filter((one) => one !== id);
        expect(await idsIn(journal)).toEqual(rest);
        expect(await idsIn(journal)).toEqual(rest);
        expect(await journal.at(positions[id] ?? journal.end())).toBeUndefined();
        expect(parts.count('tracejury.journal.corrupt')).toBe(1);
        expect(parts.count('tracejury.journal.torn')).toBe(0);
        expect(parts.told).toEqual(['a part of the journal is damaged and was skipped']);
      });
    }
  }

  test('journal disk: damage in the newest record is damage after a stop, which writes down where records end', async () => {
    const { disk } = await filled(count, 1000);
    const { path, at } = placeOf(disk, count - 1);
    flip(disk, path, at + 50);
    const { journal, parts } = await reopened(disk);
    expect(await idsIn(journal)).toEqual(range(0, count - 1));
    expect([parts.count('tracejury.journal.corrupt'), parts.count('tracejury.journal.torn')]).toEqual([1, 0]);
    await appended(journal, recordOf(100));
    await journal.stop();
    const later = await reopened(disk);
    expect(await idsIn(later.journal)).toEqual([...range(0, count - 1), 100]);
    expect([later.parts.count('tracejury.journal.corrupt'), later.parts.count('tracejury.journal.torn')]).toEqual([0, 0]);
  });

  test('journal disk: damage in the newest record of a killed process cannot be distinguished from a torn end, and is counted as one', async () => {
    const { disk } = await filled(count, 1000, 'killed');
    const { path, at } = placeOf(disk, count - 1);
    flip(disk, path, at + 50);
    const { journal, parts } = await reopened(disk);
    expect(await idsIn(journal)).toEqual(range(0, count - 1));
    expect(parts.count('tracejury.journal.torn')).toBe(1);
    expect(parts.count('tracejury.journal.corrupt')).toBe(0);
    await appended(journal, recordOf(100));
    await journal.stop();
    const later = await reopened(disk);
    expect(await idsIn(later.journal)).toEqual([...range(0, count - 1), 100]);
    expect(later.parts.count('tracejury.journal.torn')).toBe(0);
    expect(later.parts.count('tracejury.journal.corrupt')).toBe(0);
  });

  test('journal disk: a segment whose first header is gone is known by its second', async () => {
    const { disk } = await filled(count, 1000);
    const { path } = placeOf(disk, 3);
    disk.damage(path, (bytes) => bytes.fill(0, 0, 4096));
    const { journal, parts } = await reopened(disk);
    expect(await idsIn(journal)).toEqual(range(0, count));
    expect(parts.count('tracejury.journal.corrupt')).toBe(0);
  });

  for (const id of [3, 15]) {
    test(`journal disk: the segment of record ${id} without any header is counted as damage and kept for a person to look at`, async () => {
      const { disk } = await filled(count, 1000);
      const { path } = placeOf(disk, id);
      disk.damage(path, (bytes) => bytes.fill(1, 0, 4096).fill(1, bytes.length - 4096));
      const { journal, parts } = await reopened(disk);
      const left = await idsIn(journal);
      expect(left).not.toContain(id);
      expect(left).toEqual(range(0, count).filter((one) => Math.floor(one / 7) !== Math.floor(id / 7)));
      expect(parts.count('tracejury.journal.corrupt')).toBe(1);
      expect(disk.paths()).toContain(`${path}.damaged`);
    });
  }

  const pages = (number: number): number => number * 4096;
  /** Record 0 fills the first segment; the second one, the newest, holds records 1 and 2 from its second page on. */
  const larger = { ...settings, segmentBytes: pages(8), bytesMax: 8 * pages(8) };
  const bodies = [20_000, 9_000, 9_000];
  const cuts = [
    { name: 'to nothing', change: (bytes: Buffer) => bytes.subarray(0, 0), left: [0] },
    { name: 'within its header', change: (bytes: Buffer) => bytes.subarray(0, 40), left: [0] },
    { name: 'behind its header', change: (bytes: Buffer) => bytes.subarray(0, pages(1)), left: [0] },
    { name: 'within the head of its first record', change: (bytes: Buffer) => bytes.subarray(0, pages(1) + 20), left: [0] },
    { name: 'within its first record', change: (bytes: Buffer) => bytes.subarray(0, pages(1) + 1000), left: [0] },
    { name: 'within its first record, at the end of a page', change: (bytes: Buffer) => bytes.subarray(0, pages(2)), left: [0] },
    {
      name: 'to the size of a small one, all zeros behind its header',
      change: (bytes: Buffer) => bytes.subarray(0, pages(4)).fill(0, pages(1)),
      left: [0],
    },
    { name: 'within its second record', change: (bytes: Buffer) => bytes.subarray(0, pages(1) + 12_000), left: [0, 1] },
    { name: 'by zeros from its first record to the end', change: (bytes: Buffer) => bytes.fill(0, pages(1) + 1000), left: [0] },
    {
      name: 'by zeros over both headers',
      change: (bytes: Buffer) => bytes.fill(0, 0, pages(1)).fill(0, bytes.length - pages(1)),
      left: [0],
    },
  ];
  for (const { name, change, left } of cuts) {
    for (const ends of ['stopped', 'killed'] as const) {
      test(`journal disk: the newest segment cut ${name} after the process was ${ends} is counted, logged with position and bytes, and kept`, async () => {
        const { disk } = await filled(3, bodies, ends, larger);
        const { path } = placeOf(disk, 1);
        expect(placeOf(disk, 0).path).not.toBe(path);
        expect(placeOf(disk, 2).path).toBe(path);
        let bytes = 0;
        disk.damage(path, (before) => {
          const after = Buffer.from(change(before));
          bytes = after.length;
          return after;
        });
        const { journal, parts } = await reopened(disk, larger);
        expect(await idsIn(journal)).toEqual(left);
        expect([parts.count('tracejury.journal.corrupt'), parts.count('tracejury.journal.torn')]).toEqual([1, 0]);
        const position = await appended(journal, recordOf(100, 9_000));
        expect(await idsIn(journal)).toEqual([...left, 100]);
        await appended(journal, recordOf(101, 20_000));
        journal.commit(position);
        await journal.stop();
        const kept = disk.paths().filter((one) => one.endsWith('.damaged'));
        expect(kept).toEqual([`${path}.damaged`]);
        expect(parts.count('tracejury.journal.damaged', 'kept')).toBe(1);
        expect(parts.lines.find((line) => 'file' in line)).toMatchObject({ file: kept[0]?.split('/').at(-1), bytes, outcome: 'kept' });
        const [from, to] = [expect.any(Number) as number, expect.any(Number) as number];
        expect(parts.lines.find((line) => 'from' in line)).toMatchObject({ from, to, bytes: expect.any(Number) as number });
        const later = await reopened(disk, larger);
        expect(await idsIn(later.journal)).toEqual([100, 101]);
        expect([later.parts.count('tracejury.journal.corrupt'), later.parts.count('tracejury.journal.damaged')]).toEqual([0, 0]);
      });
    }
  }

  test('journal disk: the newest segments gone after a stop are counted, and their positions are not given again', async () => {
    for (const gone of [[1], [0, 1]]) {
      const { disk, positions } = await filled(3, bodies, 'stopped', larger);
      for (const path of gone.map((id) => placeOf(disk, id).path)) await disk.files.remove(path);
      const { journal, parts } = await reopened(disk, larger);
      expect(await idsIn(journal)).toEqual([0].filter((id) => !gone.includes(id)));
      expect(parts.count('tracejury.journal.corrupt')).toBe(1);
      expect(await appended(journal, recordOf(100))).toBeGreaterThan(positions[2] ?? 0);
    }
  });

  test('journal disk: spare segments and segments without a record do not count as damage', async () => {
    const disk = simulatedDisk();
    for (let start = 0; start < 3; start++) {
      const { journal, parts } = await reopened(disk);
      if (start === 1) journal.commit(((await appended(journal, recordOf(1, 5000))) + 200) as Position);
      await journal.stop();
      expect([parts.count('tracejury.journal.corrupt'), parts.count('tracejury.journal.damaged'), parts.told.length]).toEqual([0, 0, 0]);
    }
  });

  test('journal disk: a bounded number of damaged segments is kept', async () => {
    const disk = simulatedDisk();
    for (let time = 0; time < 9; time++) {
      const { journal } = await reopened(disk);
      await appended(journal, recordOf(time, 5000));
      await journal.stop();
      disk.damage(placeOf(disk, time).path, (bytes) => Buffer.from(bytes.subarray(0, pages(1) + 50)));
    }
    const { parts } = await reopened(disk);
    expect(parts.count('tracejury.journal.damaged', 'not_kept')).toBe(1);
    expect(disk.paths().filter((path) => path.endsWith('.damaged')).length).toBe(8);
  });

  test('journal disk: a page that cannot be read loses the records on it and no start', async () => {
    const { disk } = await filled(count, 1000);
    const { path } = placeOf(disk, 3);
    const broken = {
      ...disk.files,
      open: async (name: string, mode: OpenMode) => ({
        ...(await disk.files.open(name, mode)),
        ...(name === path && mode !== 'new' ? await unreadable(disk, name) : {}),
      }),
    };
    const parts = testParts(2);
    const journal = await diskJournal(settings, parts, broken);
    const left = await idsIn(journal);
    expect(left.length).toBeGreaterThan(count - 7);
    expect(left.length).toBeLessThan(count);
    expect(parts.count('tracejury.journal.corrupt')).toBe(1);
  });

  test('journal disk: a page that cannot be read for a moment hides no record beside it afterwards', async () => {
    const disk = simulatedDisk();
    let fails = false;
    const shaky = {
      ...disk.files,
      async open(name: string, mode: OpenMode) {
        const file = await disk.files.open(name, mode);
        const read: typeof file.read = (buffer, offset) => (fails ? Promise.reject(new Error('EIO')) : file.read(buffer, offset));
        return { ...file, read };
      },
    };
    const journal = await diskJournal(settings, testParts(), shaky);
    const positions = [await appended(journal, recordOf(0, 1000)), await appended(journal, recordOf(1, 1000))];
    const seen = async (): Promise<readonly boolean[]> => {
      const found: boolean[] = [];
      for (const position of positions) found.push((await journal.at(position)) !== undefined);
      return found;
    };
    fails = true;
    expect(await seen()).toEqual([false, false]);
    fails = false;
    expect(await seen()).toEqual([true, true]);
    await journal.stop();
  });

  test('journal disk: after any change, only appended records are read, once and in order, and the journal goes on', async () => {
    const change = fc.oneof(
      fc.record({ kind: fc.constant('flip' as const), file: fc.nat(), at: fc.nat(), bits: fc.integer({ min: 1, max: 255 }) }),
      fc.record({
        kind: fc.constant('fill' as const),
        file: fc.nat(),
        at: fc.nat(),
        bytes: fc.integer({ min: 1, max: 6000 }),
        value: fc.constantFrom(0, 255),
      }),
      fc.record({
        kind: fc.constant('copy' as const),
        file: fc.nat(),
        at: fc.nat(),
        from: fc.nat(),
        bytes: fc.integer({ min: 1, max: 64 }),
      }),
      fc.record({ kind: fc.constant('cut' as const), file: fc.nat(), at: fc.nat() }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 8 }), async (changes) => {
        const { disk, positions } = await filled(50, 700);
        for (const one of changes) {
          const paths = disk.paths();
          disk.damage(paths[one.file % paths.length] ?? '', (bytes) => changed(bytes, one));
        }
        const before = disk.operations();
        const { journal } = await reopened(disk);
        const entries = await entriesIn(journal);
        const ids = entries.map(({ record }) => idOf(record));
        expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
        for (const { position, record } of entries) {
          expect(record).toEqual(recordOf(idOf(record), 700));
          expect(position).toBe(positions[idOf(record)]);
        }
        // Each of some ten files is opened, and read a few times.
        expect(disk.operations() - before).toBeLessThan(250);
        const position = await appended(journal, recordOf(100));
        expect((await entriesIn(journal)).at(-1)).toEqual({ position, record: recordOf(100) });
        await journal.stop();
        expect((await idsIn((await reopened(disk)).journal)).at(-1)).toBe(100);
      }),
      { numRuns: propertyRuns({ short: 30, long: 200 }) },
    );
  });
});

type Change =
  | { readonly kind: 'flip'; readonly at: number; readonly bits: number }
  | { readonly kind: 'fill'; readonly at: number; readonly bytes: number; readonly value: number }
  | { readonly kind: 'copy'; readonly at: number; readonly from: number; readonly bytes: number }
  | { readonly kind: 'cut'; readonly at: number };

/** Copies go by grains, as a disk would put bytes to the wrong place. */
function changed(bytes: Buffer, change: Change): Buffer {
  if (bytes.length === 0) return bytes;
  const at = change.at % bytes.length;
  if (change.kind === 'cut') return bytes.subarray(0, at);
  if (change.kind === 'fill') return bytes.fill(change.value, at, Math.min(bytes.length, at + change.bytes));
  if (change.kind === 'flip') bytes[at] = (bytes[at] ?? 0) ^ change.bits;
  else
    bytes.copy(
      bytes,
      at - (at % 64),
      (change.from % bytes.length) - ((change.from % bytes.length) % 64),
      (change.from % bytes.length) + change.bytes * 64,
    );
  return bytes;
}

/** Reads that touch the second page of the data fail. */
async function unreadable(disk: SimulatedDisk, path: string): Promise<{ read(buffer: Buffer, offset: number): Promise<number> }> {
  const file = await disk.files.open(path, 'existing');
  return {
    async read(buffer, offset) {
      if (offset < 3 * 4096 && offset + buffer.length > 2 * 4096) throw new Error('EIO');
      return file.read(buffer, offset);
    },
  };
}
