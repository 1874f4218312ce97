/** The bad disks are as bad as they say. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LayerFile } from '../../src/journals/disk/file-system.ts';
import { diskOf } from './disks.ts';

let folder: string;
const path = (): string => join(folder, 'file');
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'tracejury-disks-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const hello = Buffer.from('hello, disk');
const write = (file: LayerFile): Promise<number> => file.write([hello], 0);

test('faults: a disk that fails does so from its operation on, so often, and only when the service is up', async () => {
  const { files, up } = diskOf({ kind: 'failing', since: 'up', from: 2, times: 2, how: 'ENOSPC' });
  const file = await files.open(path(), 'new');
  up();
  expect(await write(file)).toBe(hello.length);
  await expect(write(file)).rejects.toMatchObject({ code: 'ENOSPC' });
  await expect(file.datasync()).rejects.toMatchObject({ code: 'ENOSPC' });
  expect(await write(file)).toBe(hello.length);
});

test('faults: a short write writes half, and reports it', async () => {
  const { files } = diskOf({ kind: 'failing', since: 'start', from: 2, times: 1, how: 'short' });
  const file = await files.open(path(), 'new');
  expect(await write(file)).toBe(6);
  expect(readFileSync(path(), 'utf8')).toBe('hello,');
});

test('faults: a forgetful disk reads what was written, holds some of it back, and keeps what was synced; a lying one keeps nothing for sure', async () => {
  const left = { forgetful: new Set<number>(), lying: new Set<number>() };
  for (const kind of ['forgetful', 'lying'] as const) {
    for (let seed = 0; seed < 20; seed++) {
      const file = await diskOf({ kind, seed }).files.open(path(), 'new');
      await write(file);
      const read = Buffer.alloc(20);
      expect(await file.read(read, 0)).toBe(hello.length);
      expect(read.subarray(0, hello.length)).toEqual(hello);
      if (kind === 'forgetful') left.forgetful.add(readFileSync(path()).length);
      await file.datasync();
      if (kind === 'lying') left.lying.add(readFileSync(path()).length);
      else expect(readFileSync(path())).toEqual(hello);
      await file.close();
    }
  }
  expect([left.forgetful.has(0), left.lying.has(0)]).toEqual([true, true]);
});

test('faults: a forgetful disk reads its own writes over what the file had', async () => {
  writeFileSync(path(), 'abcdefghij');
  const file = await diskOf({ kind: 'forgetful', seed: 1 }).files.open(path(), 'existing');
  await file.write([Buffer.from('XY')], 3);
  await file.write([Buffer.from('Z')], 11);
  const read = Buffer.alloc(6);
  expect([await file.read(read, 2), read.toString()]).toEqual([6, 'cXYfgh']);
  expect(await file.size()).toBe(12);
});
