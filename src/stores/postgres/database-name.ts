/** The schema of the store's tables. */
export const schemaName = 'tracejury';

/** Without the password and the parameters, which may hold secrets. */
export function databaseName(url: string): string {
  const { protocol, username, host, pathname } = new URL(url);
  return `${protocol}//${username === '' ? '' : `${username}@`}${host}${pathname}`;
}
