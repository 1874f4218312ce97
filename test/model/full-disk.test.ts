import { expect, test } from 'vitest';
import { isDiskFull, mayBeDiskFull } from '../../src/model/errors.ts';

const errors: readonly { readonly name: string; readonly error: unknown; readonly want: boolean }[] = [
  { name: 'no space', error: Object.assign(new Error('write'), { code: 'ENOSPC' }), want: true },
  { name: 'no quota', error: Object.assign(new Error('write'), { code: 'EDQUOT' }), want: true },
  {
    name: 'SQLITE_FULL',
    error: Object.assign(new Error('database or disk is full'), { code: 'ERR_SQLITE_ERROR', errcode: 13 }),
    want: true,
  },
  { name: 'an extended code of SQLITE_FULL', error: { errcode: 13 + 256 }, want: true },
  { name: 'SQLITE_BUSY', error: { code: 'ERR_SQLITE_ERROR', errcode: 5 }, want: false },
  { name: 'an error of the disk', error: Object.assign(new Error('ENOSPC'), { code: 'EIO' }), want: false },
  { name: 'text', error: 'ENOSPC', want: false },
  { name: 'nothing', error: undefined, want: false },
];

for (const { name, error, want } of errors) {
  test(`full disk: ${name}: ${want}`, () => expect(isDiskFull(error)).toBe(want));
}

const sqliteErrors = [
  { name: 'SQLITE_IOERR_WRITE', error: { errcode: 778 }, want: true },
  { name: 'SQLITE_CANTOPEN', error: { errcode: 14 }, want: true },
  { name: 'SQLITE_CORRUPT', error: { errcode: 11 }, want: false },
  { name: 'an error of the system', error: { code: 'EIO' }, want: false },
  { name: 'nothing', error: null, want: false },
];
for (const { name, error, want } of sqliteErrors) {
  test(`full disk: ${name} ${want ? 'may be' : 'is not'} one`, () => expect(mayBeDiskFull(error)).toBe(want));
}
