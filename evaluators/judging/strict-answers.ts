/**
 * Answers of a judge that count whole or not at all. The retry names an unknown label, a missing explanation, or an item without exactly
 * one verdict. After that the evaluation fails. Nothing is guessed, clamped or counted as 0.
 */
import { isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import type { Outcome } from '../../src/model/verdict.ts';
import type { Answer, Question } from '../evaluator.ts';
import { explanationIn, judgeFailed, listIn, numberOf, verdictsFault } from './numbered-verdicts.ts';

/** `fault` says in words what is wrong with the answer; it repeats nothing of it. */
export type Reading<Value> = { readonly kind: 'read'; readonly value: Value } | { readonly kind: 'faulty'; readonly fault: string };

export type Judged<Value> =
  | { readonly kind: 'judged'; readonly value: Value; readonly truncated: boolean }
  | { readonly kind: 'failed'; readonly outcome: Outcome };

export interface Labelled {
  readonly explanation: string;
  readonly label: string;
  /** The object that the label stands in. */
  readonly entry: JsonObject;
}

/** Puts the question and reads the answer. The retry names the fault of an unreadable answer; a second one fails the evaluation. */
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

/** `who` is whose label it is, for the fault. Case and blanks around a label do not count. */
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

/** A list in an answer that must hold exactly one verdict on each number. */
export interface NumberedList {
  readonly list: string;
  readonly numbers: readonly number[];
  /** What has a number, in the singular. */
  readonly what: string;
}

/** What is read of each verdict, in the order of the numbers, or the first fault that there is. */
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
