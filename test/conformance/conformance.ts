/** Runs every case of every vector file through the product and returns the results. Nothing here knows a case. */
import { readAnswer } from '../../evaluators/judging/answers.ts';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import type { ConfiguredAsking } from '../../evaluators/configuration/configured.ts';
import { evaluationContext } from '../../evaluators/configuration/context.ts';
import type { Answer, EvaluationContext, EvaluatorRequest } from '../../evaluators/evaluator.ts';
import type { GroupOutcome } from '../../evaluators/evidence/convergence.ts';
import { evaluators } from '../../evaluators/index.ts';
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import { isJsonObject, member, plainText } from '../../src/model/json.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import type { Verdict } from '../../src/model/verdict.ts';
import { difference, near } from './compare.ts';
import { derivedDetails } from './derived-details.ts';
import { disputed } from './disputed.ts';
import { extractors } from './extractors.ts';
import { groups } from './groups.ts';
import { entryOf, traceOf } from './inputs.ts';
import { namesOf } from './names.ts';
import type { Case, VectorFile } from './vectors.ts';

export type CaseResult =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly problem: string }
  /** The case is optional and we do otherwise. */
  | { readonly kind: 'declined'; readonly problem: string }
  /** Everything but the disputed details holds. */
  | { readonly kind: 'disputed' }
  | { readonly kind: 'not built' };

export interface FileResult {
  readonly name: string;
  readonly results: readonly { readonly id: string; readonly result: CaseResult }[];
}

export function runVectors(files: readonly VectorFile[]): readonly FileResult[] {
  const context = evaluationContext();
  return files.map((file) => ({ name: file.name, results: file.cases.map((one) => ({ id: one.id, result: judged(file, one, context) })) }));
}

function judged(file: VectorFile, one: Case, context: EvaluationContext): CaseResult {
  const dispute = disputed.find(({ file: name, id }) => name === file.name && id === one.id);
  const got = result(file, one, context);
  if (got === undefined) return { kind: 'not built' };
  const problem = problemOf(one, got, dispute?.details ?? []);
  if (problem === undefined) return dispute === undefined ? { kind: 'passed' } : { kind: 'disputed' };
  return one.optional === undefined ? { kind: 'failed', problem } : { kind: 'declined', problem };
}

type Got =
  | { readonly kind: 'refused'; readonly paths: readonly string[] }
  | { readonly kind: 'extracted'; readonly details: JsonObject }
  | { readonly kind: 'verdict'; readonly verdict: Reached; readonly details: JsonObject };

/** The compared part of a verdict; that on a group never passes or fails. */
type Reached = Verdict | (GroupOutcome & { readonly passed?: null });

function result(file: VectorFile, one: Case, context: EvaluationContext): Got | undefined {
  if (one.outcome === 'extracted') {
    const details = extractors[file.evaluator]?.(one);
    return details === undefined ? undefined : { kind: 'extracted', details };
  }
  const group = groups[file.evaluator]?.(one);
  if (group !== undefined) return { kind: 'verdict', verdict: group, details: group.details };
  const names = namesOf(file.evaluator);
  const evaluator = evaluators.find(({ id }) => id === (names.evaluator ?? file.evaluator));
  if (evaluator === undefined) return undefined;
  const configuration = configuredEvaluator(entryOf(one, evaluator, names), evaluators);
  if (configuration.kind === 'faulty')
    return { kind: 'refused', paths: configuration.faults.map(({ path, problem }) => `${path.join('.')} ${problem}`) };
  const ready = configuration.evaluator;
  const trace = traceOf(one);
  const verdict = ready.kind === 'rule' ? ready.evaluate(trace, {}, context) : asked(ready, trace, one.judgeAnswers ?? [], context);
  return { kind: 'verdict', verdict, details: { ...verdict.details, ...derivedDetails(verdict) } };
}

/** Plays the answers of the case to the judge's questions, one each: a fault in an answer is not asked about again. */
function asked(ready: ConfiguredAsking, trace: AgentTrace, answers: readonly JsonValue[], context: EvaluationContext): Verdict {
  const questions = ready.judge(trace, {}, context);
  let step = questions.next();
  for (let at = 0; step.done !== true; at++) step = questions.next(answered(step.value, answers[at]));
  return step.value;
}

function answered(request: EvaluatorRequest, given: JsonValue | undefined): Answer {
  if (given === undefined) return { kind: 'failed', error: 'the case has no further answer' };
  if (isJsonObject(given)) return { kind: 'failed', error: plainText(member(given, 'throws') ?? '') };
  if (request.kind === 'embed' || request.kind === 'call') return { kind: 'failed', error: 'no case has vectors or calls' };
  const read = readAnswer(plainText(given), request.answerSchema, request.check);
  return read.kind === 'failed' ? read : { kind: 'answered', value: read.value, truncated: false };
}

function problemOf(one: Case, got: Got, leftOut: readonly string[]): string | undefined {
  if (got.kind === 'refused') return one.outcome === 'refused' ? undefined : `refused: ${got.paths.join('; ')}`;
  if (got.kind === 'extracted') return detailsProblem(one, got.details, leftOut);
  const { verdict } = got;
  if (verdict.kind !== one.outcome) return `${verdict.kind}, wanted ${one.outcome}: ${verdict.explanation}`;
  switch (verdict.kind) {
    case 'skipped':
      return undefined;
    case 'failed':
      return detailsProblem(one, got.details, leftOut);
    case 'scored': {
      const { score, passed } = one.wanted;
      if (score === null || !near(score, verdict.score)) return `score ${verdict.score}, wanted ${score}`;
      if (passed !== null && passed !== verdict.passed) return `passed ${verdict.passed}, wanted ${passed}`;
      return detailsProblem(one, got.details, leftOut);
    }
  }
}

function detailsProblem(one: Case, details: JsonObject, leftOut: readonly string[]): string | undefined {
  const wanted = Object.entries(one.wanted.details ?? {}).filter(([key]) => !leftOut.includes(key));
  return difference(Object.fromEntries(wanted), details, '');
}
