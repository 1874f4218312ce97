/** Answers of a judge that hold one verdict for each of several numbered things. */
import { isJsonObject, member } from '../src/model/json.ts';
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import type { JsonSchema } from './evaluator.ts';

/** An object with one list of verdicts. As structured output wants it: every member required, no others. */
export function verdictListSchema(name: string, properties: JsonObject): JsonSchema {
  const items = { type: 'object', additionalProperties: false, required: Object.keys(properties), properties };
  return { type: 'object', additionalProperties: false, required: [name], properties: { [name]: { type: 'array', items } } };
}

/** The first verdict on each thing, by its number; by its place where the answer does not number from 1. Others are ignored. */
export function verdictsOn(asked: readonly number[], entries: readonly JsonValue[], byPlace = false): readonly (JsonValue | undefined)[] {
  const numbers = entries.map(numberOf);
  if (byPlace || numbers.some((number) => number === undefined || number < 1)) return asked.map((_, at) => entries[at]);
  return asked.map((number) => entries[numbers.indexOf(number)]);
}

/** Exactly one verdict on each; undefined when that holds. */
export function verdictsFault(asked: readonly number[], entries: readonly JsonValue[], what: string): string | undefined {
  const numbers = entries.map(numberOf);
  for (const number of asked) {
    const times = numbers.filter((one) => one === number).length;
    if (times !== 1) return times === 0 ? `${what} ${number} has no verdict` : `${what} ${number} has ${times} verdicts`;
  }
  return entries.length > asked.length ? `there are ${entries.length} verdicts for ${asked.length} ${what}${asked.length === 1 ? '' : 's'}` : undefined;
}

export function numberOf(entry: JsonValue): number | undefined {
  const number = isJsonObject(entry) ? member(entry, 'number') : undefined;
  return typeof number === 'number' ? number : undefined;
}

export function isYes(entry: JsonValue | undefined, name: string): boolean {
  return entry !== undefined && isJsonObject(entry) && member(entry, name) === true;
}

export function explanationOf(entry: JsonValue | undefined): string {
  if (entry === undefined) return 'the judge gave no verdict on it';
  const explanation = isJsonObject(entry) ? member(entry, 'explanation') : undefined;
  return typeof explanation === 'string' && explanation.trim() !== '' ? explanation : 'the judge gave no explanation';
}

/** A judge that does not answer says nothing about the agent. */
export function judgeFailed(error: string): Extract<Outcome, { readonly kind: 'failed' }> {
  return { kind: 'failed', error, explanation: `The judge gave no usable answer: ${error}.`, details: { judge_called: true, judge_error: true } };
}

/** An answer that stayed faulty after the correction. The fault repeats nothing of it. */
export function answerInvalid(fault: string): Extract<Outcome, { readonly kind: 'failed' }> {
  return judgeFailed(`judge_answer_invalid: ${fault}`);
}
