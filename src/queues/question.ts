/** The questions of a queue, and what people answer as annotations. */
import type { RunKey } from '../model/agent-trace.ts';
import { isJsonArray, isJsonObject, member, type JsonObject, type JsonValue } from '../model/json.ts';
import type { Annotation } from '../model/store/annotation-store.ts';
import type { Micros } from '../model/timestamp.ts';

/** Each value has a key of the keyboard, from 1 to 9. */
export const questionValuesMax = 9;
export const questionsMax = 10;
/** Maximum length of a text answer, a comment and a reason. */
export const responseCharsMax = 4_000;

export type QueueQuestion =
  /** Asks whether the evaluator of this name should pass the run. */
  | { readonly kind: 'evaluator'; readonly name: string }
  | { readonly kind: 'label'; readonly name: string; readonly values: readonly string[] }
  /** A number from `min` to `max`, stored as a score from 0 to 1. */
  | { readonly kind: 'score'; readonly name: string; readonly min: number; readonly max: number }
  /** Free text, which may be left out. */
  | { readonly kind: 'text'; readonly name: string };

export const evaluatorValues = ['pass', 'fail'] as const;

/** The label of an annotation that carries a text. */
const textLabel = 'text';

/** Values that a question accepts, by the kind of its answer. */
export function valuesOf(question: QueueQuestion): readonly string[] {
  switch (question.kind) {
    case 'evaluator':
      return evaluatorValues;
    case 'label':
      return question.values;
    case 'score':
    case 'text':
      return [];
  }
}

interface AnswerFault {
  readonly message: string;
  readonly todo: string;
}

export type ReadAnswers =
  /** Values by the name of the question. */
  { readonly values: JsonObject } | { readonly fault: AnswerFault };

/** Reads `[ { name, value } ]`. Each question but those of a text needs an answer. */
export function readAnswers(questions: readonly QueueQuestion[], given: JsonValue): ReadAnswers {
  const entries = isJsonArray(given) ? given : [];
  const values = new Map<string, JsonValue>();
  for (const entry of entries) {
    const [name, value] = ['name', 'value'].map((key) => (isJsonObject(entry) ? member(entry, key) : undefined));
    const question = questions.find((one) => one.name === name);
    if (question === undefined)
      return fault(`The queue asks nothing named ${shortText(name)}.`, `It asks ${questions.map((one) => one.name).join(', ')}.`);
    if (values.has(question.name)) return fault(`${question.name} is answered twice.`, 'Give one answer to each question.');
    const wrong = valueFault(question, value ?? null);
    if (wrong !== undefined) return { fault: wrong };
    values.set(question.name, value ?? null);
  }
  const missing = questions.filter(({ kind, name }) => kind !== 'text' && !values.has(name));
  if (missing.length > 0)
    return fault(`${missing.map(({ name }) => name).join(', ')} has no answer.`, 'Answer each question, or skip the item with a reason.');
  return { values: Object.fromEntries(values) };
}

function valueFault(question: QueueQuestion, value: JsonValue): AnswerFault | undefined {
  const { kind, name } = question;
  switch (kind) {
    case 'evaluator':
    case 'label': {
      const known = valuesOf(question);
      return typeof value === 'string' && known.includes(value)
        ? undefined
        : { message: `${name} is ${shortText(value)}, which is none of its values.`, todo: `Give one of ${known.join(', ')}.` };
    }
    case 'score': {
      const { min, max } = question;
      return typeof value === 'number' && value >= min && value <= max
        ? undefined
        : { message: `${name} is ${shortText(value)}, which is out of its range.`, todo: `Give a number from ${min} to ${max}.` };
    }
    case 'text':
      return typeof value === 'string' && value.length > 0 && value.length <= responseCharsMax
        ? undefined
        : { message: `${name} is not a text, or it is too long.`, todo: `Give a text of 1 to ${responseCharsMax} characters.` };
  }
}

function fault(message: string, todo: string): ReadAnswers {
  return { fault: { message, todo } };
}

const shownMax = 60;

function shortText(value: JsonValue | undefined): string {
  const text = JSON.stringify(value ?? null);
  return text.length > shownMax ? `${text.slice(0, shownMax).toWellFormed()}…` : text;
}

export interface AnswerContext {
  readonly run: RunKey;
  readonly person: string;
  readonly comment: string;
  readonly at: Micros;
}

/** One annotation for each answered question. The comment explains all of them but texts, which explain themselves. */
export function annotationsOfAnswers(
  questions: readonly QueueQuestion[],
  values: JsonObject,
  { run, person, comment, at }: AnswerContext,
): readonly Annotation[] {
  const { tenant, traceId, spanId } = run;
  const shared = {
    tenant,
    traceId,
    spanId,
    by: person,
    kind: 'human',
    score: undefined,
    passed: undefined,
    explanation: comment,
    at,
  } as const;
  return questions.flatMap((question): readonly Annotation[] => {
    const value = member(values, question.name);
    if (value === undefined) return [];
    const own = { ...shared, name: question.name };
    switch (question.kind) {
      case 'evaluator':
        return [{ ...own, label: String(value), passed: value === 'pass' }];
      case 'label':
        return [{ ...own, label: String(value) }];
      case 'score':
        return [{ ...own, label: undefined, score: (Number(value) - question.min) / (question.max - question.min) }];
      case 'text':
        return [{ ...own, label: textLabel, explanation: String(value) }];
    }
  });
}
