/** The one place that knows what errors say that a disk is full: those of the system, of SQLite and of tracejury itself. */

/** No space, and no quota left for this user. */
const codes: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT']);
/** SQLITE_FULL; an extended code has it in its lowest byte. https://sqlite.org/rescode.html#full */
const sqliteFull = 13;

export function isDiskFull(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if ('code' in error && codes.has(error.code)) return true;
  return 'errcode' in error && typeof error.errcode === 'number' && error.errcode % 256 === sqliteFull;
}

export function diskFullText(folder: string): string {
  return `the disk is full: no room in ${folder}`;
}
