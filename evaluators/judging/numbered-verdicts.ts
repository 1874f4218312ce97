/** Schemas of a judge's answers, with every member required and in the order of writing, and answers with one verdict per numbered thing. */
import { isJsonArray, isJsonObject, member, type JsonValue, type JsonObject } from '../../src/model/json.ts';
import type { Outcome } from '../../src/model/verdict.ts';
import type { JsonSchema } from '../evaluator.ts';

/** 1, 2, 3 … */
export function upTo(total: number): readonly number[] {
  return Array.from({ length: total }, (_, at) => at + 1);
}

export function listIn(answer: JsonValue, list: string): readonly JsonValue[] | undefined {
  const entries = isJsonObject(answer) ? member(answer, list) : undefined;
  return isJsonArray(entries) ? entries : undefined;
}

/** The first verdict on each thing, by its number; by its place where the answer does not number from 1. Others are ignored. */
export function verdictsOn(numbers: readonly number[], entries: readonly JsonValue[], byPlace = false): readonly (JsonValue | undefined)[] {
  const given = entries.map(numberOf);
  if (byPlace || given.some((number) => number === undefined || number < 1)) return numbers.map((_, at) => entries[at]);
  return numbers.map((number) => entries[given.indexOf(number)]);
}

/** Exactly one verdict on each; undefined when that holds. */
export function verdictsFault(numbers: readonly number[], entries: readonly JsonValue[], what: string): string | undefined {
  const given = entries.map(numberOf);
  for (const number of numbers) {
    const times = given.filter((one) => one === number).length;
    if (times !== 1) return times === 0 ? `${what} ${number} has no verdict` : `${what} ${number} has ${times} verdicts`;
  }
  return entries.length > numbers.length
    ? `there are ${entries.length} verdicts for ${numbers.length} ${what}${numbers.length === 1 ? '' : 's'}`
    : undefined;
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
  return explanationIn(entry) ?? 'the judge gave no explanation';
}

/** Undefined: it has none, or a blank one. */
export function explanationIn(answer: JsonValue): string | undefined {
  const explanation = isJsonObject(answer) ? member(answer, 'explanation') : undefined;
  return typeof explanation === 'string' && explanation.trim() !== '' ? explanation : undefined;
}

/** A judge that does not answer says nothing about the agent. */
export function judgeFailed(error: string): Extract<Outcome, { readonly kind: 'failed' }> {
  return {
    kind: 'failed',
    error,
    explanation: `The judge gave no usable answer: ${error}.`,
    details: { judge_called: true, judge_error: true },
  };
}

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
