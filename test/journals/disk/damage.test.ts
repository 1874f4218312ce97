/** Bytes that change behind the journal's back: what can still be read is what was appended, and everything else is counted. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { OpenMode } from '../../../src/journals/disk/file-layer.ts';
import { diskJournal } from '../../../src/journals/disk.ts';
import type { Journal, Position } from '../../../src/journals/journal.ts';
import { appended, entriesIn, idOf, idsIn, recordOf, smallSettings, testParts, type TestParts } from '../parts.ts';
import { simulatedDisk, type SimulatedDisk } from '../simulated-disk.ts';

/** A start begins a new segment: there is room for some. */
const settings = { ...smallSettings, bytesMax: 2 * smallSettings.bytesMax };

/** One record a group, so that each is known to be durable by the next. */
async function filled(count: number, bodyBytes: number): Promise<{ readonly disk: SimulatedDisk; readonly positions: readonly Position[] }> {
  const disk = simulatedDisk();
  const journal = await diskJournal(settings, testParts(), disk.files);
  const positions: Position[] = [];
  for (let id = 0; id < count; id++) positions.push(await appended(journal, recordOf(id, bodyBytes)));
  await journal.stop();
  return { disk, positions };
}

async function reopened(disk: SimulatedDisk): Promise<{ readonly journal: Journal; readonly parts: TestParts }> {
  const parts = testParts(2);
  return { journal: await diskJournal(settings, parts, disk.files), parts };
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
  { name: 'in the life', offset: (id: number) => headAt(id) + 4 },
  { name: 'in the position', offset: (id: number) => headAt(id) + 12 },
  { name: 'in the sum of the head', offset: (id: number) => headAt(id) + 32 },
] as const;

describe('journal disk, damage', () => {
  for (const { name, offset } of flips) {
    for (const [where, id] of [['a full segment', 3], ['the newest segment', 51]] as const) {
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

  test('journal disk: damage in the newest record cannot be told from a torn end, and is counted as one', async () => {
    const { disk } = await filled(count, 1000);
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

  test('journal disk: a page that cannot be read loses the records on it and no start', async () => {
    const { disk } = await filled(count, 1000);
    const { path } = placeOf(disk, 3);
    const broken = { ...disk.files, open: async (name: string, mode: OpenMode) => ({ ...(await disk.files.open(name, mode)), ...(name === path && mode !== 'new' ? await unreadable(disk, name) : {}) }) };
    const parts = testParts(2);
    const journal = await diskJournal(settings, parts, broken);
    const left = await idsIn(journal);
    expect(left.length).toBeGreaterThan(count - 7);
    expect(left.length).toBeLessThan(count);
    expect(parts.count('tracejury.journal.corrupt')).toBe(1);
  });

  test('journal disk: whatever is changed, only appended records are read, once and in order, and the journal goes on', async () => {
    const change = fc.oneof(
      fc.record({ kind: fc.constant('flip' as const), file: fc.nat(), at: fc.nat(), bits: fc.integer({ min: 1, max: 255 }) }),
      fc.record({ kind: fc.constant('fill' as const), file: fc.nat(), at: fc.nat(), bytes: fc.integer({ min: 1, max: 6000 }), value: fc.constantFrom(0, 255) }),
      fc.record({ kind: fc.constant('copy' as const), file: fc.nat(), at: fc.nat(), from: fc.nat(), bytes: fc.integer({ min: 1, max: 64 }) }),
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
      { numRuns: 200 },
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
  else bytes.copy(bytes, at - (at % 64), change.from % bytes.length - (change.from % bytes.length % 64), (change.from % bytes.length) + change.bytes * 64);
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
