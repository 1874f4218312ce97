/** Schemas of answers as structured output wants them: every member required, in the order in which it is to be written, and no others. */
import type { JsonObject } from '../../src/model/json.ts';
import type { JsonSchema } from '../evaluator.ts';

export function objectSchema(properties: JsonObject): JsonSchema {
  return { type: 'object', additionalProperties: false, required: Object.keys(properties), properties };
}

/** An object with one list of verdicts. */
export function verdictListSchema(name: string, properties: JsonObject): JsonSchema {
  return objectSchema({ [name]: { type: 'array', items: objectSchema(properties) } });
}

/** The explanation comes first, so that the label follows from it. */
export function labelSchema(labels: readonly string[], more: JsonObject = {}): JsonSchema {
  return objectSchema({ explanation: { type: 'string' }, ...more, label: { enum: [...labels] } });
}

export function labelListSchema(list: string, labels: readonly string[], more: JsonObject = {}): JsonSchema {
  return verdictListSchema(list, { number: { type: 'integer' }, ...more, explanation: { type: 'string' }, label: { enum: [...labels] } });
}
