/** The commands that score a run again, offline. */

/** For a shell. The address is one of our own: ids and an escaped query. */
export function evalCommand(address: string): string {
  return `curl -sf ${quoted(address)} | tracejury eval -`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
