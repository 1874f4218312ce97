/** Answers that please the schema of a question, so that what a judge evaluator itself does can be measured. */
import type { Answer, Question } from '../../../evaluators/evaluator.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../../src/model/json.ts';

/** Questions about numbered things name the numbers at the end. */
const NUMBERS = /(\d+(?:, \d+)*)\.$/;

export function pleasedAnswer({ instruction, answerSchema }: Question): Answer {
  const numbers = NUMBERS.exec(instruction)?.[1]?.split(', ').map(Number) ?? [1];
  return { kind: 'answered', value: valueOf(answerSchema, numbers), truncated: false };
}

function valueOf(schema: JsonObject, numbers: readonly number[]): JsonValue {
  const [allowed, type, items] = ['enum', 'type', 'items'].map((key) => member(schema, key));
  if (isJsonArray(allowed)) return allowed[0] ?? null;
  if (type === 'boolean') return true;
  if (type === 'number' || type === 'integer') return numbers[0] ?? 1;
  if (type === 'string') return 'It is so.';
  if (type === 'array') return isJsonObject(items) ? numbers.map((number) => valueOf(items, [number])) : [];
  const properties = member(schema, 'properties');
  return isJsonObject(properties) ? Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, isJsonObject(inner) ? valueOf(inner, numbers) : null])) : {};
}
