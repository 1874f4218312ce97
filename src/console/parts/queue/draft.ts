/** A person's choices for the item on screen, before they are sent. */

export interface AskedQuestion {
  readonly name: string;
  readonly kind: 'evaluator' | 'label' | 'score' | 'text';
  readonly values: readonly string[];
  readonly min: number | null;
  readonly max: number | null;
}

export interface Draft {
  /** Values by the name of the question. */
  readonly values: { readonly [name: string]: string | number };
  readonly comment: string;
  /** Position of the question that keys answer. */
  readonly at: number;
}

export const emptyDraft: Draft = { values: {}, comment: '', at: 0 };

/** Keys choose only whole numbers of a short range. */
const scoreKeysMax = 9;

/** Choices of the keys 1 to 9; empty for a text and for a wide range. */
export function choicesOf({ kind, values, min, max }: AskedQuestion): readonly (string | number)[] {
  if (kind === 'evaluator' || kind === 'label') return values;
  if (kind !== 'score' || min === null || max === null) return [];
  const isShort = Number.isInteger(min) && Number.isInteger(max) && max - min < scoreKeysMax && max - min > 1;
  return isShort ? Array.from({ length: max - min + 1 }, (_, at) => min + at) : [];
}

/** Chooses by a key, and goes to the next question without an answer. The same draft when the key chooses nothing. */
export function withKey(questions: readonly AskedQuestion[], draft: Draft, key: string): Draft {
  const question = questions[draft.at];
  const choice = question === undefined || !/^[1-9]$/.test(key) ? undefined : choicesOf(question)[Number(key) - 1];
  return question === undefined || choice === undefined ? draft : withValue(questions, draft, { name: question.name, value: choice });
}

export function withValue(
  questions: readonly AskedQuestion[],
  draft: Draft,
  { name, value }: { readonly name: string; readonly value: string | number | undefined },
): Draft {
  const { [name]: _before, ...others } = draft.values;
  const values = value === undefined || value === '' ? others : { ...others, [name]: value };
  const next = { ...draft, values, at: questions.findIndex((one) => one.name === name) };
  return questions[next.at]?.kind === 'text' ? next : { ...next, at: nextOpen(questions, next) };
}

/** The first question behind the current one that keys can answer and that has no answer; else the current one. */
function nextOpen(questions: readonly AskedQuestion[], { values, at }: Draft): number {
  const found = questions.findIndex((one, place) => place > at && choicesOf(one).length > 0 && !Object.hasOwn(values, one.name));
  return found < 0 ? at : found;
}

/** Names of questions that need an answer and have none, or one out of range. */
export function missingAnswers(questions: readonly AskedQuestion[], { values }: Draft): readonly string[] {
  return questions.filter((question) => question.kind !== 'text' && !isAnswer(question, values[question.name])).map(({ name }) => name);
}

function isAnswer({ kind, values, min, max }: AskedQuestion, value: string | number | undefined): boolean {
  if (kind !== 'score') return typeof value === 'string' && values.includes(value);
  return typeof value === 'number' && value >= (min ?? -Infinity) && value <= (max ?? Infinity);
}

/** The answers in the form of the API. */
export function answersOf(
  questions: readonly AskedQuestion[],
  { values }: Draft,
): readonly { readonly name: string; readonly value: string | number }[] {
  return questions.flatMap(({ name }) => {
    const value = values[name];
    return value === undefined ? [] : [{ name, value }];
  });
}
