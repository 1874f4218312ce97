/** The hash of a version of a dataset, which experiments keep. */
import { createHash } from 'node:crypto';
import { type JsonObject, jsonText, member } from '../model/json.ts';

/** Members that a run and its verdicts depend on; notes and tags do not count. */
const hashedKeys = ['input', 'expect', 'tasks', 'constraints', 'tools', 'evaluators', 'timeout_seconds'] as const;

/** SHA-256 in hex. The same for a file and a stored version with the same examples, in any order. */
export function datasetHash(examples: readonly { readonly id: string; readonly given: JsonObject }[]): string {
  const lines = examples.map(({ id, given }) => jsonText([id, ...hashedKeys.map((key) => member(given, key) ?? null)], { sortKeys: true }));
  return createHash('sha256').update(lines.sort().join('\n')).digest('hex');
}
