/** The schema of what a user may write under `expect`, and the members that several evaluators take. */
import type { JsonObject } from '../../src/model/json.ts';
import type { JsonSchema } from '../evaluator.ts';

export function expecting(properties: JsonObject, ...required: readonly string[]): JsonSchema {
  return { type: 'object', ...(required.length === 0 ? {} : { required }), properties };
}

/** Tasks, or the steps of a plan. */
export function textList(description: string): JsonObject {
  return { type: 'array', maxItems: 50, items: { type: 'string', minLength: 1 }, description };
}

export const constraints: JsonObject = { type: 'string', description: 'What the agent has to keep to meanwhile.' };

/** One text or several. */
export function contextTexts(description: string): JsonObject {
  return {
    description,
    anyOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', maxItems: 1000, items: { type: 'string', minLength: 1 } },
    ],
  };
}
