/** Texts that identify: agents, sessions, versions, tools, services and models. Senders choose them, and each becomes a key of sums, pages and metrics. */
import { hash } from 'node:crypto';

/** Characters of such a text. A longer one keeps its beginning and a hash of the whole, so that two texts remain two. */
export const identityCharsMax = 500;
const hashDigits = 16;

export function identityText(text: string): string {
  if (text.length <= identityCharsMax) return text;
  return `${text.slice(0, identityCharsMax - hashDigits - 1).toWellFormed()}…${hash('sha256', text, 'hex').slice(0, hashDigits)}`;
}
