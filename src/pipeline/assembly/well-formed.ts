/**
 * Texts without halves of characters (lone surrogates). They come in only through escapes of JSON or Python, and UTF-8 cannot carry them out
 * again: a database, a backend or a judge would refuse the run.
 */

/** The same value, with U+FFFD for every half. */
export function wellFormed<T>(value: T): T {
  return (isWellFormed(value) ? value : whole(value)) as T;
}

/** Most texts are ASCII, of which the engine knows it without looking. */
function isWellFormed(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed();
  if (typeof value !== 'object' || value === null) return true;
  if (Array.isArray(value)) return value.every(isWellFormed);
  for (const key in value) if (!key.isWellFormed() || !isWellFormed((value as { readonly [key: string]: unknown })[key])) return false;
  return true;
}

function whole(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(whole);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), whole(inner)]));
}
