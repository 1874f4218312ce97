/** Bounds over foreign data that leave a part of a span unread. One counter shows how many runs each of them has cut. */
import type { Attributed } from '../../src/model/span.ts';
import type { SpanFacts } from '../collector.ts';
import { definitionsMax } from './definitions.ts';
import { documentsMax } from './documents.ts';
import { exceedsFlattened } from './flattened.ts';
import { keyEvidenceOf } from './key-evidence.ts';
import { messagesMax } from './messages.ts';
import { pythonLiteralCharsMax } from './python-literal.ts';

/** The values of the label `tracejury.limit`, each with its meaning. */
export const readLimits = {
  keys_per_field: 'keys, and flattened lists, that may hold one field',
  key_length: 'characters of a key that is read by evidence',
  flattened: 'items and depth of a list spread over many keys',
  messages: 'messages of a request or an answer',
  definitions: 'tool definitions of a list',
  documents: 'documents of a retrieval',
  text: 'characters of a text that is read as an object',
} as const;
export type ReadLimit = keyof typeof readLimits;

/** Limits that follow from the keys, which many spans share. */
export function keyLimits(from: Attributed, prefixes: readonly string[], isByEvidence: boolean): readonly ReadLimit[] {
  const evidence = isByEvidence ? (keyEvidenceOf(from).limits ?? []) : [];
  return from.attributeKeys().some((key) => prefixes.some((prefix) => key.startsWith(prefix) && exceedsFlattened(key, prefix)))
    ? [...evidence, 'flattened']
    : evidence;
}

/** Limits that follow from the facts: a list that is as long as it may be, and a text that is longer. */
export function factLimits({ inputMessages, outputMessages, toolDefinitions, documents, tool }: SpanFacts): readonly ReadLimit[] {
  const found: ReadLimit[] = [];
  if ((inputMessages?.length ?? 0) >= messagesMax || (outputMessages?.length ?? 0) >= messagesMax) found.push('messages');
  if ((toolDefinitions?.length ?? 0) >= definitionsMax) found.push('definitions');
  if ((documents?.length ?? 0) >= documentsMax) found.push('documents');
  if ((tool?.argumentsPart?.length ?? 0) > pythonLiteralCharsMax) found.push('text');
  return found.length === 0 ? none : found;
}

const none: readonly ReadLimit[] = [];
