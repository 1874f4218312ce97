/**
 * Answers of a judge that are taken whole or not at all: a label that is none of the set, an explanation that is missing, or an item
 * without exactly one verdict is named to the judge once, and then the evaluation has failed. Nothing is guessed, clamped or counted as 0.
 */
import { isJsonArray, isJsonObject, member } from '../src/model/json.ts';
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import type { Answer, JsonSchema, Question } from './evaluator.ts';
import { judgeFailed, verdictListSchema, verdictsFault } from './numbered-verdicts.ts';

export type Reading<Value> = { readonly kind: 'read'; readonly value: Value } | { readonly kind: 'faulty'; readonly fault: string };

export type Judged<Value> = { readonly kind: 'judged'; readonly value: Value; readonly truncated: boolean } | { readonly kind: 'failed'; readonly outcome: Outcome };

export interface Labelled {
  readonly explanation: string;
  readonly label: string;
  /** The object that the label stands in. */
  readonly entry: JsonObject;
}

/** Asks, and reads the answer. What cannot be read is a fault that the judge may mend; what still cannot be read is a failed evaluation. */
export function* strictly<Value>(question: Omit<Question, 'check'>, read: (answer: JsonValue) => Reading<Value>): Generator<Question, Judged<Value>, Answer> {
  const check = (answer: JsonValue): string | undefined => {
    const reading = read(answer);
    return reading.kind === 'faulty' ? reading.fault : undefined;
  };
  const answer = yield { ...question, check };
  if (answer.kind === 'failed') return { kind: 'failed', outcome: judgeFailed(answer.error) };
  const reading = read(answer.value);
  if (reading.kind === 'faulty') return { kind: 'failed', outcome: judgeFailed(`judge_answer_invalid: ${reading.fault}`) };
  return { kind: 'judged', value: reading.value, truncated: answer.truncated };
}

/** An object with these members, in this order, and no others. */
export function objectSchema(properties: JsonObject): JsonSchema {
  return { type: 'object', additionalProperties: false, required: Object.keys(properties), properties };
}

/** The explanation comes first, so that the label follows from it. */
export function labelSchema(labels: readonly string[], more: JsonObject = {}): JsonSchema {
  return objectSchema({ explanation: { type: 'string' }, ...more, label: { enum: [...labels] } });
}

export function labelListSchema(list: string, labels: readonly string[], more: JsonObject = {}): JsonSchema {
  return verdictListSchema(list, { number: { type: 'integer' }, ...more, explanation: { type: 'string' }, label: { enum: [...labels] } });
}

export function readLabel(answer: JsonValue, labels: readonly string[], what = 'the answer'): Reading<Labelled> {
  if (!isJsonObject(answer)) return faulty(`${what} is not an object`);
  const explanation = member(answer, 'explanation');
  if (typeof explanation !== 'string' || explanation.trim() === '') return faulty(`${what} has no explanation`);
  const given = member(answer, 'label');
  const word = typeof given === 'string' ? given.trim().toLowerCase() : undefined;
  const label = labels.find((one) => one.toLowerCase() === word);
  return label === undefined ? faulty(`the label of ${what} is none of ${labels.join(', ')}`) : { kind: 'read', value: { explanation, label, entry: answer } };
}

/** Exactly one verdict on each number, in the order of the numbers. */
export function readLabels(answer: JsonValue, { list, numbers, labels, what }: { readonly list: string; readonly numbers: readonly number[]; readonly labels: readonly string[]; readonly what: string }): Reading<readonly Labelled[]> {
  const entries = listIn(answer, list);
  if (entries === undefined) return faulty(`${list} is not a list`);
  const fault = verdictsFault(numbers, entries, what);
  if (fault !== undefined) return faulty(fault);
  const found: Labelled[] = [];
  for (const number of numbers) {
    const entry = entries.find((one) => isJsonObject(one) && member(one, 'number') === number);
    const reading = readLabel(entry ?? null, labels, `${what} ${number}`);
    if (reading.kind === 'faulty') return reading;
    found.push(reading.value);
  }
  return { kind: 'read', value: found };
}

export function listIn(answer: JsonValue, list: string): readonly JsonValue[] | undefined {
  const entries = isJsonObject(answer) ? member(answer, list) : undefined;
  return isJsonArray(entries) ? entries : undefined;
}

export function faulty(fault: string): Extract<Reading<never>, { readonly kind: 'faulty' }> {
  return { kind: 'faulty', fault };
}
