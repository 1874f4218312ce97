/**
 * Schemas and readers of a judge's answer. Schemas require every member, in the order of writing. Readers accept an answer whole or not at
 * all. A retry names the fault: an unknown label, a missing explanation, or an item without exactly one verdict. A second fault fails the
 * evaluation.
 */
import { isJsonArray, isJsonObject, member, type JsonValue, type JsonObject } from '../../src/model/json.ts';
import type { Outcome } from '../../src/model/verdict.ts';
import type { JsonSchema, Answer, Question } from '../evaluator.ts';
import { cut } from './judge-input.ts';

/** 1, 2, 3 … */
export function upTo(total: number): readonly number[] {
  return Array.from({ length: total }, (_, at) => at + 1);
}

export function listIn(answer: JsonValue, list: string): readonly JsonValue[] | undefined {
  const entries = isJsonObject(answer) ? member(answer, list) : undefined;
  return isJsonArray(entries) ? entries : undefined;
}

/** The first verdict for each number; by position when the answer does not number from 1. Ignores others. */
export function verdictsOn(numbers: readonly number[], entries: readonly JsonValue[], byPlace = false): readonly (JsonValue | undefined)[] {
  const given = entries.map(numberOf);
  if (byPlace || given.some((number) => number === undefined || number < 1)) return numbers.map((_, at) => entries[at]);
  return numbers.map((number) => entries[given.indexOf(number)]);
}

/** `undefined` when each number has exactly one verdict. */
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

function numberOf(entry: JsonValue): number | undefined {
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

/** `undefined` when it is missing or blank. */
export function explanationIn(answer: JsonValue): string | undefined {
  const explanation = isJsonObject(answer) ? member(answer, 'explanation') : undefined;
  return typeof explanation === 'string' && explanation.trim() !== '' ? explanation : undefined;
}

/** The failure of a judge is not evidence about the agent. */
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

/** An object with one verdict list. */
export function verdictListSchema(name: string, properties: JsonObject): JsonSchema {
  return objectSchema({ [name]: { type: 'array', items: objectSchema(properties) } });
}

/** The explanation precedes the label, so that the label follows from it. */
export function labelSchema(labels: readonly string[], more: JsonObject = {}): JsonSchema {
  return objectSchema({ explanation: { type: 'string' }, ...more, label: { enum: [...labels] } });
}

export function labelListSchema(list: string, labels: readonly string[], more: JsonObject = {}): JsonSchema {
  return verdictListSchema(list, { number: { type: 'integer' }, ...more, explanation: { type: 'string' }, label: { enum: [...labels] } });
}

/** `fault`: what is wrong with the answer, in words that repeat nothing of it. */
export type Reading<Value> = { readonly kind: 'read'; readonly value: Value } | { readonly kind: 'faulty'; readonly fault: string };

export type Judged<Value> =
  | { readonly kind: 'judged'; readonly value: Value; readonly truncated: boolean }
  | { readonly kind: 'failed'; readonly outcome: Outcome };

export interface Labelled {
  readonly explanation: string;
  readonly label: string;
  /** The object that contains the label. */
  readonly entry: JsonObject;
}

/** Asks and reads. The retry names the fault of an unreadable answer; a second fault fails the evaluation. */
export function* strictly<Value>(
  question: Omit<Question, 'check'>,
  read: (answer: JsonValue) => Reading<Value>,
): Generator<Question, Judged<Value>, Answer> {
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

/** `who`: owner of the label in fault messages. Ignores case and surrounding blanks. */
export function readLabel(answer: JsonValue, labels: readonly string[], who = 'the answer'): Reading<Labelled> {
  if (!isJsonObject(answer)) return faulty(`${who} is not an object`);
  const explanation = explanationIn(answer);
  if (explanation === undefined) return faulty(`${who} has no explanation`);
  const given = member(answer, 'label');
  const word = typeof given === 'string' ? given.trim().toLowerCase() : undefined;
  const label = labels.find((one) => one.toLowerCase() === word);
  return label === undefined
    ? faulty(`the label of ${who} is none of ${labels.join(', ')}`)
    : { kind: 'read', value: { explanation, label, entry: answer } };
}

/** A list with exactly one verdict per number. */
interface NumberedList {
  readonly list: string;
  readonly numbers: readonly number[];
  /** Singular noun for a numbered item. */
  readonly what: string;
}

/** Reads each verdict in the order of numbers, or returns the first fault. */
export function readEach<Value>(
  answer: JsonValue,
  { list, numbers, what }: NumberedList,
  read: (entry: JsonValue, who: string) => Reading<Value>,
): Reading<readonly Value[]> {
  const entries = listIn(answer, list);
  if (entries === undefined) return faulty(`${list} is not a list`);
  const fault = verdictsFault(numbers, entries, what);
  if (fault !== undefined) return faulty(fault);
  const found: Value[] = [];
  for (const number of numbers) {
    const reading = read(entries.find((one) => numberOf(one) === number) ?? null, `${what} ${number}`);
    if (reading.kind === 'faulty') return reading;
    found.push(reading.value);
  }
  return { kind: 'read', value: found };
}

export function readLabels(answer: JsonValue, wanted: NumberedList, labels: readonly string[]): Reading<readonly Labelled[]> {
  return readEach(answer, wanted, (entry, who) => readLabel(entry, labels, who));
}

export function faulty(fault: string): Extract<Reading<never>, { readonly kind: 'faulty' }> {
  return { kind: 'faulty', fault };
}

/** The labels with their scores from 0 to 1. */
interface LabelScores {
  readonly [label: string]: number;
}

export interface LabelForm {
  readonly labels: LabelScores;
  /** Name of a list of faults in the answer; empty exactly under a label with the score 1. */
  readonly faults?: string;
}

export interface ScoredLabel {
  readonly label: string;
  readonly score: number;
  readonly explanation: string;
  readonly faults: readonly string[];
}

/** Limits of faults, of each fault, and of the explanation in the details. */
const faultsMax = 50;
const faultCharsMax = 300;
const explanationCharsMax = 1_000;

/** Members of the answer in order of writing: reasons before the label. */
export function labelProperties({ labels, faults }: LabelForm): JsonObject {
  return {
    explanation: { type: 'string' },
    ...(faults === undefined ? {} : { [faults]: { type: 'array', items: { type: 'string' } } }),
    label: { type: 'string', enum: Object.keys(labels) },
  };
}

/** `who`: owner of the label in fault messages. */
export function readLabelled(answer: JsonValue, form: LabelForm, who: string): Reading<ScoredLabel> {
  const read = readLabel(answer, Object.keys(form.labels), who);
  if (read.kind === 'faulty') return read;
  const { label, explanation, entry } = read.value;
  const score = form.labels[label] ?? 0;
  const faults = readFaults(entry, form.faults, who);
  if (faults.kind === 'faulty') return faults;
  if (form.faults !== undefined && faults.value.length > 0 !== score < 1)
    return faulty(`${form.faults} of ${who} must be ${score < 1 ? 'filled' : 'empty'} under the label ${label}`);
  return { kind: 'read', value: { label, score, explanation: keptExplanation(explanation), faults: faults.value } };
}

/** The explanation for the details. */
export function keptExplanation(explanation: string): string {
  return cut(explanation.trim(), explanationCharsMax);
}

function readFaults(entry: JsonObject, name: string | undefined, who: string): Reading<readonly string[]> {
  if (name === undefined) return { kind: 'read', value: [] };
  const texts = member(entry, name);
  if (!isJsonArray(texts) || !texts.every((one) => typeof one === 'string')) return faulty(`${name} of ${who} is not a list of texts`);
  if (texts.length > faultsMax) return faulty(`${name} of ${who} has more than ${faultsMax} entries`);
  return { kind: 'read', value: texts.map((one) => cut(one.trim(), faultCharsMax)).filter((one) => one !== '') };
}
