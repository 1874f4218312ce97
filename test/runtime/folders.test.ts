import { dirname } from 'node:path';
import { expect, test } from 'vitest';
import { openJournal } from '../../src/journals/index.ts';
import { makeFolders } from '../../src/runtime/folders.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import { manualClock } from '../../src/model/clock.ts';
import { manualSleep } from '../builders/manual-sleep.ts';

const error = (code: string): Error => Object.assign(new Error(code), { code });

/** Folders that are there, and what making another one ends with below some of them. */
function disk(there: readonly string[], faults: { readonly [parent: string]: string } = {}) {
  const folders = new Set(there);
  let calls = 0;
  return {
    folders,
    calls: () => calls,
    work: {
      make: async (path: string) => {
        calls++;
        if (folders.has(path)) throw error('EEXIST');
        const fault = faults[dirname(path)];
        if (fault !== undefined) throw error(fault);
        if (!folders.has(dirname(path))) throw error('ENOENT');
        folders.add(path);
      },
      isFolder: async (path: string) => folders.has(path),
      parentOf: dirname,
      sleep: async (_ms: number, signal?: AbortSignal) =>
        new Promise<void>((resolve) => signal?.addEventListener('abort', () => resolve())),
    },
  };
}

test('folders: those that lead to a folder are made, and a present one stays untouched', async () => {
  const { folders, work } = disk(['/', '/a']);
  await makeFolders('/a/b/c', work);
  await makeFolders('/a/b/c', work);
  expect([...folders]).toEqual(['/', '/a', '/a/b', '/a/b/c']);
});

test('folders: a folder that takes no others and denies their existence is named, after a few calls', async () => {
  const { work, calls } = disk(['/', '/proc'], { '/proc': 'ENOENT' });
  await expect(makeFolders('/proc/a/b', work)).rejects.toThrow('the folder /proc/a cannot be made: /proc takes no folders');
  expect(calls()).toBeLessThan(10);
});

test('folders: any other fault is reported unchanged', async () => {
  const { work } = disk(['/', '/r'], { '/r': 'EROFS' });
  await expect(makeFolders('/r/a/b', work)).rejects.toThrow('EROFS');
});

test('folders: a disk that does not answer ends with a sentence', async () => {
  const { work } = disk(['/']);
  const never = { ...work, make: () => new Promise<never>(() => undefined), sleep: async () => undefined };
  await expect(makeFolders('/a', never)).rejects.toThrow('the folder /a could not be made within 30 s');
});

test('folders: a data path below what takes no folders, such as /proc, ends the start of the store and the journal with a sentence', async () => {
  const path = `${process.platform === 'linux' ? '/proc' : '/dev/null'}/tracejury-none`;
  await expect(sqliteStore(`${path}/x.db`)).rejects.toThrow(path);
  const journal = openJournal(
    { scheme: 'disk', rest: `${path}/journal` },
    { bytesMax: 1024 ** 3 },
    {
      telemetry: noTelemetry,
      clock: manualClock(),
      sleep: manualSleep().sleep,
      logger: { warn: () => undefined },
      randomBytes: (count) => Buffer.alloc(count),
    },
  );
  await expect(journal).rejects.toThrow(path);
});
