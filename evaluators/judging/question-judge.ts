/** An evaluator that asks one question about a run. The answer is a label or score for the run, or a label for each of several items. */
import type { Outcome } from '../../src/model/verdict.ts';
import { judge, type Described, type OptionsOf, type OptionTable } from '../configuration/define.ts';
import type { Answer, EvaluationContext, JudgeEvaluator, Question, Subject } from '../evaluator.ts';
import { isEvidence, lacking, type Evidence, judgeInputBlocks, truncatedDetail, type JudgeInput, notAsked } from './judge-input.ts';
import type { SpanId } from '../../src/model/ids.ts';
import { isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import {
  objectSchema,
  explanationIn,
  keptExplanation,
  labelProperties,
  readLabelled,
  type LabelForm,
  faulty,
  strictly,
  type Judged,
  type Reading,
  verdictListSchema,
  type ScoredLabel,
  readEach,
} from './verdict-forms.ts';
import { listed, quoted, briefExplanation, callName, count, someOf } from '../explain/explanation.ts';
import { callDetails, partOf, skipped, type PlacedCall, type Skipped } from '../evidence/calls.ts';
import { mean, numberOf, rational } from '../matching/rational.ts';

/** A label for each of several items, a label for the run, or a score for the run. */
export type JudgeQuestion = LabelOfItems | LabelOfRun | ScoreOfRun;

interface Questions<Options> {
  /** Evidence required for the question. Default: the evaluator's needs. */
  readonly evidence?: readonly Evidence[];
  /** The question, or the outcome without a question. */
  question(subject: Subject, options: Options, context: EvaluationContext): JudgeQuestion | Outcome;
}

export function questionJudge<Table extends OptionTable = {}>({
  evidence,
  question,
  ...described
}: Described<Table> & Questions<OptionsOf<Table>>): JudgeEvaluator<OptionsOf<Table>> {
  const wanted = evidence ?? described.needs.filter(isEvidence);
  // `evidence` and `question` are not part of the declaration.
  return judge<Table>({
    ...(described as unknown as Described<Table>),
    *evaluate(subject, options, context) {
      return lacking(subject.trace, context, wanted) ?? (yield* outcomeOf(question(subject, options, context)));
    },
  });
}

function* outcomeOf(asked: JudgeQuestion | Outcome): Generator<Question, Outcome, Answer> {
  if ('kind' in asked) return asked;
  if ('items' in asked) return yield* labelledItems(asked);
  return yield* 'labels' in asked ? labelledRun(asked) : scoredRun(asked);
}

interface AboutRun {
  readonly instruction: string;
  readonly input: readonly JudgeInput[];
  /** Subject of the verdict's sentence. */
  readonly what: string;
  /** Spans that support a score below 1. */
  readonly evidence?: readonly SpanId[];
  readonly details?: JsonObject;
}

interface LabelOfRun extends AboutRun, LabelForm {}

interface ScoreOfRun extends AboutRun {
  /** The allowed scores, including 0 and 1. When omitted, any number from 0 to 1. */
  readonly steps?: readonly number[];
}

function* labelledRun(about: LabelOfRun): Generator<Question, Outcome, Answer> {
  const judged = yield* readOf(about, labelProperties(about), (answer) => readLabelled(answer, about, 'the answer'));
  if (judged.kind === 'failed') return judged.outcome;
  const { label, score, explanation, faults } = judged.value;
  const reason = briefExplanation(explanation);
  return {
    kind: 'scored',
    score,
    label,
    explanation: `${about.what} is ${label}: ${faults.length === 0 ? reason : `${listed(faults.map(quoted))} (${reason})`}.`,
    evidence: score < 1 ? (about.evidence ?? []) : [],
    details: {
      judge_called: true,
      label,
      explanation,
      ...(about.faults === undefined ? {} : { [about.faults]: faults }),
      ...about.details,
      ...truncatedDetail(judged.truncated),
    },
  };
}

function* scoredRun(about: ScoreOfRun): Generator<Question, Outcome, Answer> {
  const score: JsonObject = about.steps === undefined ? { type: 'number', minimum: 0, maximum: 1 } : { type: 'number', enum: about.steps };
  const judged = yield* readOf(about, { explanation: { type: 'string' }, score }, (answer) => readScore(answer, about.steps));
  if (judged.kind === 'failed') return judged.outcome;
  const { score: given, explanation } = judged.value;
  return {
    kind: 'scored',
    score: given,
    explanation: `${about.what} is rated ${given}: ${briefExplanation(explanation)}.`,
    evidence: given < 1 ? (about.evidence ?? []) : [],
    details: { judge_called: true, explanation, ...about.details, ...truncatedDetail(judged.truncated) },
  };
}

/** Asks the question and reads the answer. */
function* readOf<Value>(
  { instruction, input }: AboutRun,
  properties: JsonObject,
  read: (answer: JsonValue) => Reading<Value>,
): Generator<Question, Judged<Value>, Answer> {
  const { data, truncated } = judgeInputBlocks(input);
  const judged = yield* strictly({ id: 'judge', instruction, data, answerSchema: objectSchema(properties) }, read);
  return judged.kind === 'failed' ? judged : { ...judged, truncated: truncated || judged.truncated };
}

function readScore(
  answer: JsonValue,
  steps: readonly number[] | undefined,
): Reading<{ readonly score: number; readonly explanation: string }> {
  const explanation = explanationIn(answer);
  if (explanation === undefined) return faulty('the answer has no explanation');
  const score = isJsonObject(answer) ? member(answer, 'score') : undefined;
  if (typeof score !== 'number' || !(score >= 0 && score <= 1)) return faulty('the score is not a number from 0 to 1');
  if (steps !== undefined && !steps.includes(score)) return faulty(`the score is none of ${steps.join(', ')}`);
  return { kind: 'read', value: { score, explanation: keptExplanation(explanation) } };
}

interface Item {
  /** Distinct number from 1, under which the judge sees the item. */
  readonly number: number;
  readonly name: string;
  readonly placed?: PlacedCall;
  readonly spanId?: SpanId;
  readonly details: JsonObject;
}

export interface LabelOfItems extends LabelForm {
  readonly instruction: string;
  readonly input: readonly JudgeInput[];
  /** At least one. */
  readonly items: readonly Item[];
  /** Singular noun for an item. */
  readonly what: string;
  /** Name of the verdict list in the answer and in the details. */
  readonly list: string;
  /** share: mean of the item scores. worst: the lowest score. */
  readonly scoredBy: 'share' | 'worst';
  /** Phrases for labels that do not form a sentence. */
  readonly inWords?: { readonly [label: string]: string };
  readonly details?: JsonObject;
}

/** Limit of items per question; with more, each would be cut to a few words. */
const itemsMax = 100;

/** The label of the run is the worst among its items. */
export function* labelledItems(about: LabelOfItems): Generator<Question, Outcome, Answer> {
  const large = tooMany(about);
  if (large !== undefined) return large;
  const wanted = { list: about.list, numbers: about.items.map(({ number }) => number), what: about.what };
  const { data, truncated } = judgeInputBlocks(about.input);
  const judged = yield* strictly(
    {
      id: 'judge',
      instruction: `${about.instruction} Judge the ${about.what}s with these numbers and no others, each in exactly one entry: ${wanted.numbers.join(', ')}.`,
      data,
      answerSchema: verdictListSchema(about.list, { number: { type: 'integer' }, ...labelProperties(about) }),
    },
    (answer) => readEach(answer, wanted, (entry, who) => readLabelled(entry, about, who)),
  );
  if (judged.kind === 'failed') return judged.outcome;
  const all = judged.value.flatMap((label, at): readonly JudgedItem[] => {
    const item = about.items[at];
    return item === undefined ? [] : [{ item, ...label }];
  });
  return verdict(about, all, truncated || judged.truncated);
}

export function callItems(calls: readonly PlacedCall[]): readonly Item[] {
  return calls.map((placed) => {
    const { spanId } = placed.call;
    return {
      number: placed.index + 1,
      name: callName(placed),
      placed,
      ...(spanId === undefined ? {} : { spanId }),
      details: callDetails(placed),
    };
  });
}

function tooMany({ items, what }: LabelOfItems): Skipped | undefined {
  return items.length <= itemsMax
    ? undefined
    : skipped('too_large', `${items.length} ${what}s are more than the ${itemsMax} that a judge is asked about in one run.`, {
        ...notAsked,
        items: items.length,
        items_max: itemsMax,
      });
}

interface JudgedItem extends ScoredLabel {
  readonly item: Item;
}

function verdict(about: LabelOfItems, judged: readonly JudgedItem[], truncated: boolean): Outcome {
  const bad = judged.filter(({ score }) => score < 1);
  const worst = judged.reduce((lowest, one) => (one.score < lowest.score ? one : lowest));
  const evidence = [...new Set(bad.flatMap(({ item }) => (item.spanId === undefined ? [] : [item.spanId])))];
  return {
    kind: 'scored',
    score: about.scoredBy === 'worst' ? worst.score : numberOf(mean(judged.map(({ score }) => rational(score)))),
    label: worst.label,
    explanation: explained(about, judged, bad),
    evidence,
    parts: judged.flatMap((one) =>
      one.item.placed === undefined
        ? []
        : [
            {
              ...partOf(one.item.placed, one.score === 1, `${one.item.name} is ${inWords(about, one.label)}: ${reason(one)}.`),
              score: one.score,
            },
          ],
    ),
    details: {
      judge_called: true,
      total: judged.length,
      full: judged.length - bad.length,
      [about.list]: judged.map((one) => itemDetails(one, about.faults)),
      ...about.details,
      ...truncatedDetail(truncated),
    },
  };
}

function explained(about: LabelOfItems, judged: readonly JudgedItem[], bad: readonly JudgedItem[]): string {
  const [first] = judged;
  if (bad.length === 0)
    return `${judged.length === 1 ? `The ${about.what} is` : `All ${judged.length} ${about.what}s are`} ${inWords(about, first?.label ?? '')}.`;
  const groups = [...Map.groupBy(bad, ({ label }) => label)].map(([label, own]) =>
    someOf(
      own,
      count(judged.length, about.what),
      [`is ${inWords(about, label)}`, `are ${inWords(about, label)}`],
      (one) => `${one.item.name} (${reason(one)})`,
    ),
  );
  return `${groups.join('; ')}.`;
}

function inWords({ inWords: words }: LabelOfItems, label: string): string {
  return words !== undefined && Object.hasOwn(words, label) ? (words[label] ?? label) : label;
}

function reason({ faults, explanation }: JudgedItem): string {
  return `${faults.length === 0 ? '' : `${listed(faults.map(quoted))}: `}${briefExplanation(explanation)}`;
}

function itemDetails({ item, label, explanation, faults }: JudgedItem, name: string | undefined): JsonObject {
  return { ...item.details, label, explanation, ...(name === undefined ? {} : { [name]: faults }) };
}
