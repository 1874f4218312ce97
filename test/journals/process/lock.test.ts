/** One folder, one process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { diskJournal } from '../../../src/journals/disk.ts';
import { nodeFiles } from '../../../src/journals/disk/node-files.ts';
import { smallSettings, testParts } from '../parts.ts';

describe('journal disk, lock', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tracejury-lock-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const open = () => diskJournal({ ...smallSettings, folder }, testParts());

  test('journal disk: a folder in use is refused with the process that has it, and is free after a stop', async () => {
    const journal = await open();
    await expect(open()).rejects.toMatchObject({ code: 'JOURNAL_LOCKED', why: `${folder} belongs to process ${process.pid}.` });
    await journal.stop();
    await (await open()).stop();
  });

  test('journal disk: every file in its folder is only its owner’s', async () => {
    const journal = await open();
    const names = readdirSync(folder);
    expect(names).toEqual(expect.arrayContaining(['holder', 'lock', 'mark', 'quarantine']));
    expect(names.filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0)).toEqual([]);
    await journal.stop();
  });

  test('journal disk: a folder that another process uses is refused, and is free when that process was killed', async () => {
    const child = spawn(process.execPath, [join(import.meta.dirname, 'child.ts'), folder], { stdio: ['ignore', 'pipe', 'inherit'] });
    try {
      await once(child.stdout, 'data');
      await expect(open()).rejects.toMatchObject({ code: 'JOURNAL_LOCKED', why: `${folder} belongs to process ${child.pid}.` });
    } finally {
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await (await open()).stop();
  });

  test('journal disk: a folder whose journal could not be opened is free again', async () => {
    await expect(diskJournal({ ...smallSettings, folder: '/dev/null/journal' }, testParts())).rejects.toMatchObject({ code: 'ENOTDIR' });
    const faulty = { ...nodeFiles, list: () => Promise.reject(new Error('EIO')) };
    await expect(diskJournal({ ...smallSettings, folder }, testParts(), faulty)).rejects.toThrow('EIO');
    await (await open()).stop();
  });
});
