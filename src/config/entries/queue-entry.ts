/** Reads and checks the list `queues`. */
import { type KnownEvaluators, meantEvaluator } from '../../model/did-you-mean.ts';
import { type JsonObject, member } from '../../model/json.ts';
import { quantityOf } from '../../model/quantities.ts';
import type { RunExpression } from '../../pipeline/evaluation/run-expression.ts';
import type { QueueQuestion } from '../../queues/question.ts';
import { queueOrders, type QueueSettings } from '../../queues/queue-settings.ts';
import { asObject, type Finding, finding, listAt, type Path } from '../diagnostic.ts';
import { scoreDefaults } from '../sections/queues.ts';
import { runRule } from './run-rule.ts';

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

/** Reads the queues of a checked list. */
export function queueConfigs(value: JsonObject): readonly QueueConfig[] {
  return listAt(value, 'queues').flatMap((item): readonly QueueConfig[] => {
    const [written, rule] = [asObject(item), runRule(asObject(item))];
    if (rule === undefined) return [];
    const [order, people, random] = ['order', 'people', 'random'].map((key) => member(written, key));
    return [
      {
        ...rule,
        ask: listAt(written, 'ask').flatMap((question) => questionOf(asObject(question)) ?? []),
        people: typeof people === 'number' ? people : 1,
        dueMs: quantityOf('duration', member(written, 'due')),
        order: queueOrders.find((one) => one === order) ?? 'oldest',
        random: typeof random === 'number' ? random : 0,
        leaseMs: quantityOf('duration', member(written, 'lease')) ?? 0,
        blind: member(written, 'blind') !== false,
      },
    ];
  });
}

const questionKinds = ['evaluator', 'label', 'score', 'text'] as const;
type QuestionKind = (typeof questionKinds)[number];

function kindsOf(question: JsonObject): readonly QuestionKind[] {
  return questionKinds.filter((kind) => member(question, kind) !== undefined);
}

function questionOf(question: JsonObject): QueueQuestion | undefined {
  const [kind] = kindsOf(question);
  const name = kind === undefined ? undefined : member(question, kind);
  if (kind === undefined || typeof name !== 'string') return undefined;
  switch (kind) {
    case 'evaluator':
    case 'text':
      return { kind, name };
    case 'label':
      return { kind, name, values: listAt(question, 'values').map(String) };
    case 'score':
      return { kind, name, ...rangeOf(question) };
  }
}

function rangeOf(question: JsonObject): { readonly min: number; readonly max: number } {
  const [min, max] = [member(question, 'min') ?? scoreDefaults.min, member(question, 'max') ?? scoreDefaults.max];
  return { min: Number(min), max: Number(max) };
}

export function questionFindings(value: JsonObject, evaluators: KnownEvaluators): readonly Finding[] {
  return listAt(value, 'queues').flatMap((item, index) => {
    const asked = listAt(asObject(item), 'ask').map(asObject);
    const path = (at: number): Path => ['queues', index, 'ask', at];
    return [...asked.flatMap((question, at) => ownFindings(question, path(at), evaluators)), ...sameNames(asked, path)];
  });
}

function ownFindings(question: JsonObject, path: Path, evaluators: KnownEvaluators): readonly Finding[] {
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
function surplusFindings(question: JsonObject, path: Path, kind: QuestionKind): readonly Finding[] {
  const readers = { values: 'label', min: 'score', max: 'score' } as const;
  return Object.entries(readers).flatMap(([key, reader]) =>
    member(question, key) === undefined || reader === kind
      ? []
      : [finding([...path, key], 'key', `is not for a question with ${kind}`, `Leave it out: only ${reader} reads it.`)],
  );
}

function kindFindings(
  question: JsonObject,
  path: Path,
  { kind, evaluators }: { readonly kind: QuestionKind; readonly evaluators: KnownEvaluators },
): readonly Finding[] {
  const name = member(question, kind);
  if (kind === 'evaluator' && typeof name === 'string' && !evaluators.on.includes(name))
    return [
      finding(
        [...path, kind],
        'value',
        `${name} is not an evaluator of this file`,
        meantEvaluator(name, evaluators, 'Add it under evaluators, or ask for a label of this name.'),
      ),
    ];
  if (kind === 'label' && member(question, 'values') === undefined)
    return [finding(path, 'value', 'lacks values', 'Add the labels to choose from: values: [good, bad].')];
  if (kind !== 'score') return [];
  const { min, max } = rangeOf(question);
  return min < max ? [] : [finding(path, 'value', `has no range: min is ${min} and max is ${max}`, 'Give a max above min.')];
}

/** Answers become annotations, which a person gives once under each name. */
function sameNames(asked: readonly JsonObject[], path: (at: number) => Path): readonly Finding[] {
  const first = new Set<string>();
  return asked.flatMap((question, at): readonly Finding[] => {
    const [kind] = kindsOf(question);
    const name = kind === undefined ? undefined : member(question, kind);
    if (kind === undefined || typeof name !== 'string') return [];
    if (first.has(name)) return [finding([...path(at), kind], 'value', `${name} is asked twice`, 'Give each question a name of its own.')];
    first.add(name);
    return [];
  });
}
