/** Applies `redact` to an example that comes from outside, such as a file or a request: the store keeps no other content. */
import type { DatasetExample } from '../model/example.ts';
import type { JsonObject } from '../model/json.ts';
import { present } from '../model/present.ts';
import type { Redaction } from '../redaction/redaction.ts';

/** Ids, splits, evaluators and the origin are names and not content. */
export function redactedExample(example: DatasetExample, redaction: Pick<Redaction, 'fields'> | undefined): DatasetExample {
  if (redaction === undefined) return example;
  const { input, expect, tasks, constraints, tools, tags, metadata } = example;
  const content = present<JsonObject>({ input, expect, tasks, constraints, tools, tags, metadata });
  return { ...example, ...redaction.fields(content) };
}
