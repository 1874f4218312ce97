import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { failed, writeFault } from '../../../src/stores/sqlite/database.ts';

const ioError = Object.assign(new Error('disk I/O error'), { code: 'ERR_SQLITE_ERROR', errcode: 778 });
const faults: readonly {
  readonly name: string;
  readonly error: Error;
  readonly file: string;
  readonly probe: unknown;
  readonly want: boolean;
}[] = [
  {
    name: 'a used-up quota, which SQLite calls an I/O error',
    error: ioError,
    file: '/data/runs.db',
    probe: { code: 'EDQUOT' },
    want: true,
  },
  { name: 'a disk that became full', error: ioError, file: '/data/runs.db', probe: { code: 'ENOSPC' }, want: true },
  { name: 'a broken disk', error: ioError, file: '/data/runs.db', probe: { code: 'EIO' }, want: false },
  { name: 'an I/O error while there is room', error: ioError, file: '/data/runs.db', probe: undefined, want: false },
  { name: 'a store in memory', error: ioError, file: ':memory:', probe: { code: 'EDQUOT' }, want: false },
  { name: 'a faulty question', error: new Error('no such table'), file: '/data/runs.db', probe: { code: 'EDQUOT' }, want: false },
];
for (const { name, error, file, probe, want } of faults) {
  test(`sqlite: ${name} is ${want ? '' : 'not '}called a full disk`, () => {
    const folders: string[] = [];
    const answer = failed(7, error, file, (folder) => {
      folders.push(folder);
      return probe;
    });
    expect(answer).toEqual({ id: 7, kind: 'failed', message: error.message, isDiskFull: want });
    expect(new Set(folders)).toEqual(new Set(error === ioError && file !== ':memory:' ? ['/data'] : []));
  });
}

test('sqlite: the probe for room meets the faults of a write, and leaves nothing behind', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-room-'));
  try {
    expect(writeFault(folder)).toBeUndefined();
    expect(readdirSync(folder)).toEqual([]);
    expect(writeFault(join(folder, 'missing'))).toMatchObject({ code: 'ENOENT' });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
