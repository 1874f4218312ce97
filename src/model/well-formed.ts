/**
 * Texts without halves of characters (lone surrogates). Only escapes of JSON and Python write them, and UTF-8 cannot carry them: a database,
 * a backend or a judge would refuse the run. Each parser of such texts calls this.
 */

/** The escape of a half, or of one of the two that make up a character. */
const HALF = /\\u[dD][89a-fA-F]/;

/** True when values in the text may have halves. Most texts have no such escape, and a search for its beginning is fast. */
export function mayHaveHalves(text: string): boolean {
  return text.includes('\\u') && HALF.test(text);
}

/** The same value, with U+FFFD for every half. */
export function wellFormed<T>(value: T): T {
  return whole(value) as T;
}

function whole(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(whole);
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key.toWellFormed(), whole(inner)]));
}
