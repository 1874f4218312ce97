/** Reads and checks the list `queues`. */
import { type KnownEvaluators, meantEvaluator } from '../../model/did-you-mean.ts';
import { parseRunExpression, type RunExpression } from '../../pipeline/evaluation/run-expression.ts';
import type { QueueQuestion } from '../../queues/question.ts';
import type { QueueSettings } from '../../queues/queue-settings.ts';
import { type Finding, finding, type Path } from '../diagnostic.ts';
import type { Draft } from '../field.ts';
import type { Written } from '../sections/index.ts';
import { scoreDefaults, type WrittenQuestion } from '../sections/queues.ts';

export interface QueueConfig extends QueueSettings {
  /** `undefined`: no rule adds runs. */
  readonly when: RunExpression | undefined;
}

/** A rule that fills a queue. */
export interface QueueRule extends QueueSettings {
  readonly when: RunExpression;
  /** The evaluator from whose judged runs it draws at random; absent: each run that matches enters. */
  readonly draws?: string;
}

export function queueConfigs(list: Written['queues']): readonly QueueConfig[] {
  return list.map(({ when, ask, dueMs, ...rest }) => {
    const parsed = when === undefined ? undefined : parseRunExpression(when);
    return {
      ...rest,
      when: parsed?.kind === 'parsed' ? parsed.expression : undefined,
      whenText: when,
      ask: ask.flatMap((question) => questionOf(question) ?? []),
      dueMs,
    };
  });
}

type Question = Draft<WrittenQuestion>;
const questionKinds = ['evaluator', 'label', 'score', 'text'] as const;
type QuestionKind = (typeof questionKinds)[number];

function questionOf(question: WrittenQuestion): QueueQuestion | undefined {
  const kind = questionKinds.find((one) => question[one] !== undefined);
  const name = kind === undefined ? undefined : question[kind];
  if (kind === undefined || name === undefined) return undefined;
  if (kind === 'label') return { kind, name, values: question.values ?? [] };
  return kind === 'score' ? { kind, name, ...rangeOf(question) } : { kind, name };
}

function rangeOf({ min = scoreDefaults.min, max = scoreDefaults.max }: Question): { readonly min: number; readonly max: number } {
  return { min, max };
}

export function questionFindings(queues: Draft<Written['queues']>, evaluators: KnownEvaluators): readonly Finding[] {
  return queues.flatMap(({ ask = [] }, index) => {
    const path = (at: number): Path => ['queues', index, 'ask', at];
    return [...ask.flatMap((question, at) => ownFindings(question, path(at), evaluators)), ...sameNames(ask, path)];
  });
}

function kindsOf(question: Question): readonly QuestionKind[] {
  return questionKinds.filter((kind) => question[kind] !== undefined);
}

function ownFindings(question: Question, path: Path, evaluators: KnownEvaluators): readonly Finding[] {
  const kinds = kindsOf(question);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1)
    return [
      finding(
        path,
        'value',
        kind === undefined ? 'asks nothing' : `asks for ${kinds.join(' and ')} at once`,
        `Write one of ${questionKinds.join(', ')} in each entry: { label: tone, values: [good, bad] }.`,
      ),
    ];
  return [...surplusFindings(question, path, kind), ...kindFindings(question, path, { kind, evaluators })];
}

/** Keys that another kind of question reads. */
function surplusFindings(question: Question, path: Path, kind: QuestionKind): readonly Finding[] {
  const readers = [
    ['values', 'label'],
    ['min', 'score'],
    ['max', 'score'],
  ] as const;
  return readers.flatMap(([key, reader]) =>
    question[key] === undefined || reader === kind
      ? []
      : [finding([...path, key], 'key', `is not for a question with ${kind}`, `Leave it out: only ${reader} reads it.`)],
  );
}

function kindFindings(
  question: Question,
  path: Path,
  { kind, evaluators }: { readonly kind: QuestionKind; readonly evaluators: KnownEvaluators },
): readonly Finding[] {
  const name = question[kind];
  if (kind === 'evaluator' && name !== undefined && !evaluators.on.includes(name))
    return [
      finding(
        [...path, kind],
        'value',
        `${name} is not an evaluator of this file`,
        meantEvaluator(name, evaluators, 'Add it under evaluators, or ask for a label of this name.'),
      ),
    ];
  if (kind === 'label' && question.values === undefined)
    return [finding(path, 'value', 'lacks values', 'Add the labels to choose from: values: [good, bad].')];
  if (kind !== 'score') return [];
  const { min, max } = rangeOf(question);
  return min < max ? [] : [finding(path, 'value', `has no range: min is ${min} and max is ${max}`, 'Give a max above min.')];
}

/** Answers become annotations, which a person gives once under each name. */
function sameNames(asked: readonly Question[], path: (at: number) => Path): readonly Finding[] {
  const first = new Set<string>();
  return asked.flatMap((question, at): readonly Finding[] => {
    const [kind] = kindsOf(question);
    const name = kind === undefined ? undefined : question[kind];
    if (kind === undefined || name === undefined) return [];
    if (first.has(name)) return [finding([...path(at), kind], 'value', `${name} is asked twice`, 'Give each question a different name.')];
    first.add(name);
    return [];
  });
}
