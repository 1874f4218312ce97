/** Texts that identify: agents, sessions, versions, tools, services and models. Senders choose them, and each becomes a key of sums, pages and metrics. */
import { hash } from 'node:crypto';

/** Characters of such a text. A longer one keeps its beginning and a hash of the whole, so that two texts remain two. */
export const identityCharsMax = 500;
const hashDigits = 16;
const beginningBytes = identityCharsMax - hashDigits - 1;
/** Bytes of such a text in UTF-8. Five of them are one key of the sums by version, and PostgreSQL refuses keys of more than 2,704 bytes. */
export const identityBytesMax = beginningBytes + Buffer.byteLength('…') + hashDigits;

export function isLongIdentity(text: string): boolean {
  // A character of a string takes at most three bytes.
  return text.length * 3 > identityBytesMax && (text.length > identityCharsMax || Buffer.byteLength(text) > identityBytesMax);
}

export function identityText(text: string): string {
  if (!isLongIdentity(text)) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(beginningBytes));
  return `${text.slice(0, read).toWellFormed()}…${hash('sha256', text, 'hex').slice(0, hashDigits)}`;
}
