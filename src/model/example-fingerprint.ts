/** Fingerprints of examples: one finds near-duplicates of an input, the other distinguishes two contents of one example. */
import { hash } from 'node:crypto';
import type { DatasetExample } from './example.ts';
import { isJsonArray, isJsonObject, jsonText, type JsonValue } from './json.ts';

/** Longer inputs are compared by their beginning, end and length. */
const comparedCharsMax = 200_000;
const digits = 32;

/**
 * Equal for inputs that differ only in case, space, punctuation, and identifiers: UUIDs, hexadecimal ids, and numbers of four digits or more,
 * such as those of orders. Short numbers stay, as "2 tickets" and "3 tickets" are different tasks.
 */
export function inputFingerprint(input: JsonValue): string {
  return hash('sha256', jsonText(plainInput(input), { sortKeys: true })).slice(0, digits);
}

function plainInput(value: JsonValue): JsonValue {
  if (typeof value === 'string') return plainWords(value);
  if (isJsonArray(value)) return value.map(plainInput);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plainInput(item)]));
}

function plainWords(text: string): string {
  const half = comparedCharsMax / 2;
  const compared = text.length <= comparedCharsMax ? text : `${text.slice(0, half)} ${text.length} ${text.slice(-half)}`;
  return compared
    .normalize('NFKC')
    .toLowerCase()
    .replaceAll(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|\b(?=[a-f]*\d)[0-9a-f]{16,}\b/g, '#')
    .replaceAll(/\d{4,}/g, '#')
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{S}#]+/gu, ' ')
    .trim();
}

/** Equal for examples that ask for the same, from any origin. */
export function contentDigest({ origin: _origin, ...content }: DatasetExample): string {
  return hash('sha256', jsonText(content, { sortKeys: true })).slice(0, digits);
}
