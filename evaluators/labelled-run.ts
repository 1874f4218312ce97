/** One label, or one score, that a judge gives a run as a whole. */
import type { SpanId } from '../src/model/ids.ts';
import { isJsonObject, member } from '../src/model/json.ts';
import type { JsonObject, JsonValue } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import type { Answer, JsonSchema, Question } from './evaluator.ts';
import { faulty, labelProperties, readExplanation, readLabelled } from './labels.ts';
import type { LabelForm, Read } from './labels.ts';
import { answerInvalid, judgeFailed } from './numbered-verdicts.ts';
import type { Shown } from './shown.ts';
import { listed, quoted, saidBriefly } from './wording.ts';

interface AboutRun {
  readonly instruction: string;
  readonly shown: readonly Shown[];
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
  const read = yield* readOf(about, labelProperties(about), (answer) => readLabelled(answer, about, 'the answer'));
  if (read.kind !== 'read') return read;
  const { label, score, explanation, faults } = read.value;
  const reason = saidBriefly(explanation);
  return {
    kind: 'scored',
    score,
    label,
    explanation: `${about.what} is ${label}: ${faults.length === 0 ? reason : `${listed(faults.map(quoted))} (${reason})`}.`,
    evidence: score < 1 ? (about.evidence ?? []) : [],
    details: { judge_called: true, label, explanation, ...(about.faults === undefined ? {} : { [about.faults]: faults }), ...about.details, ...read.marks },
  };
}

export function* scoredRun(about: ScoreOfRun): Generator<Question, Outcome, Answer> {
  const score: JsonObject = about.steps === undefined ? { type: 'number', minimum: 0, maximum: 1 } : { type: 'number', enum: about.steps };
  const read = yield* readOf(about, { explanation: { type: 'string' }, score }, (answer) => readScore(answer, about.steps));
  if (read.kind !== 'read') return read;
  const { score: given, explanation } = read.value;
  return {
    kind: 'scored',
    score: given,
    explanation: `${about.what} is rated ${given}: ${saidBriefly(explanation)}.`,
    evidence: given < 1 ? (about.evidence ?? []) : [],
    details: { judge_called: true, explanation, ...about.details, ...read.marks },
  };
}

interface Answered<Value> {
  readonly kind: 'read';
  readonly value: Value;
  readonly marks: JsonObject;
}

/** The answer as it was read, or a failed outcome. */
function* readOf<Value>(about: AboutRun, properties: JsonObject, read: (answer: JsonValue) => Read<Value>): Generator<Question, Answered<Value> | Extract<Outcome, { readonly kind: 'failed' }>, Answer> {
  const answerSchema: JsonSchema = { type: 'object', additionalProperties: false, required: Object.keys(properties), properties };
  const answer = yield { id: 'judge', instruction: about.instruction, data: about.shown.map(({ title, text }) => ({ title, text })), answerSchema, check: (value) => faultOf(read(value)) };
  if (answer.kind === 'failed') return judgeFailed(answer.error);
  const found = read(answer.value);
  if (found.kind === 'faulty') return answerInvalid(found.fault);
  return { ...found, marks: answer.truncated || about.shown.some(({ isCut }) => isCut) ? { truncated: true } : {} };
}

function faultOf(read: Read<unknown>): string | undefined {
  return read.kind === 'faulty' ? read.fault : undefined;
}

function readScore(answer: JsonValue, steps: readonly number[] | undefined): Read<{ readonly score: number; readonly explanation: string }> {
  const explanation = readExplanation(answer, 'the answer');
  if (explanation.kind === 'faulty') return explanation;
  const score = isJsonObject(answer) ? member(answer, 'score') : undefined;
  if (typeof score !== 'number' || !(score >= 0 && score <= 1)) return faulty('the score is no number from 0 to 1');
  if (steps !== undefined && !steps.includes(score)) return faulty(`the score is none of ${steps.join(', ')}`);
  return { kind: 'read', value: { score, explanation: explanation.value } };
}
