/** An evaluator that asks a judge one question about a run: what it says of itself, the question, and how the answer becomes a verdict. */
import type { Outcome } from '../../src/model/verdict.ts';
import { judge, type Described } from '../configuration/define.ts';
import type { OptionsOf, OptionTable } from '../configuration/option-table.ts';
import type { Answer, EvaluationContext, JudgeEvaluator, Question, Subject } from '../evaluator.ts';
import { isEvidence, lacking, type Evidence } from './judge-evidence.ts';
import { labelledItems, type LabelOfItems } from './labelled-items.ts';
import type { SpanId } from '../../src/model/ids.ts';
import { isJsonObject, member, type JsonObject, type JsonValue } from '../../src/model/json.ts';
import { objectSchema, explanationIn } from './numbered-verdicts.ts';
import { judgeInputBlocks, truncatedDetail } from './judge-blocks.ts';
import { keptExplanation, labelProperties, readLabelled, type LabelForm } from './labels.ts';
import type { JudgeInput } from './judge-input.ts';
import { faulty, strictly, type Judged, type Reading } from './strict-answers.ts';
import { listed, quoted, briefExplanation } from '../explain/explanation.ts';

/** A label for each of several items, a label for the run, or a score for the run. */
export type JudgeQuestion = LabelOfItems | LabelOfRun | ScoreOfRun;

interface Questions<Options> {
  /** The evidence without which the judge is not called; what the evaluator needs when left out. */
  readonly evidence?: readonly Evidence[];
  /** The question about a run, or the outcome when the judge is not called. */
  question(subject: Subject, options: Options, context: EvaluationContext): JudgeQuestion | Outcome;
}

export function questionJudge<Table extends OptionTable = {}>({
  evidence,
  question,
  ...described
}: Described<Table> & Questions<OptionsOf<Table>>): JudgeEvaluator<OptionsOf<Table>> {
  const wanted = evidence ?? described.needs.filter(isEvidence);
  // Without the two members the rest is what the evaluator says of itself.
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
  /** What is judged; begins the sentence of the verdict. */
  readonly what: string;
  /** Spans that prove a score below 1. */
  readonly evidence?: readonly SpanId[];
  readonly details?: JsonObject;
}

export interface LabelOfRun extends AboutRun, LabelForm {}

export interface ScoreOfRun extends AboutRun {
  /** The only scores that there are, with 0 and 1 among them; absent: any number from 0 to 1. */
  readonly steps?: readonly number[];
}

export function* labelledRun(about: LabelOfRun): Generator<Question, Outcome, Answer> {
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

export function* scoredRun(about: ScoreOfRun): Generator<Question, Outcome, Answer> {
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

/** The one question about the run. */
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
  if (typeof score !== 'number' || !(score >= 0 && score <= 1)) return faulty('the score is no number from 0 to 1');
  if (steps !== undefined && !steps.includes(score)) return faulty(`the score is none of ${steps.join(', ')}`);
  return { kind: 'read', value: { score, explanation: keptExplanation(explanation) } };
}
