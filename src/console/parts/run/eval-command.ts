/** The commands that score a run again, offline. */

/** A command for a shell. The address is ours: ids and an escaped query. */
export function evalCommand(address: string): string {
  return `curl -sf ${quoted(address)} | tracejury eval -`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
