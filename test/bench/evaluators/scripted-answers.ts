/** Answers that please the schema of a question, so that what a judge evaluator itself does can be measured. */
import type { Answer, EvaluatorRequest } from '../../../evaluators/evaluator.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../../../src/model/json.ts';

/** Questions about numbered things name the numbers at the end. */
const NUMBERS = /(\d+(?:, \d+)*)\.$/;

export function pleasedAnswer(request: EvaluatorRequest): Answer {
  if (request.kind === 'embed') return { kind: 'answered', value: request.texts.map((text) => embeddingOf(text)), truncated: false };
  if (request.kind === 'call')
    return { kind: 'answered', value: { status: 'scored', score: 1, explanation: 'It is so.' }, truncated: false };
  const { instruction, answerSchema } = request;
  const numbers = NUMBERS.exec(instruction)?.[1]?.split(', ').map(Number) ?? [1];
  return { kind: 'answered', value: valueOf(answerSchema, numbers), truncated: false };
}

/** The length of a usual model's answers. */
function embeddingOf(text: string): readonly number[] {
  return Array.from({ length: 1_536 }, (_, at) => Math.sin((at + 1) * text.length));
}

function valueOf(schema: JsonObject, numbers: readonly number[]): JsonValue {
  const [allowed, type, items] = ['enum', 'type', 'items'].map((key) => member(schema, key));
  if (isJsonArray(allowed)) return allowed[0] ?? null;
  if (type === 'boolean') return true;
  if (type === 'number' || type === 'integer') return numbers[0] ?? 1;
  if (type === 'string') return 'It is so.';
  if (type === 'array') return isJsonObject(items) ? numbers.map((number) => valueOf(items, [number])) : [];
  const properties = member(schema, 'properties');
  return isJsonObject(properties)
    ? Object.fromEntries(Object.entries(properties).map(([name, inner]) => [name, isJsonObject(inner) ? valueOf(inner, numbers) : null]))
    : {};
}
