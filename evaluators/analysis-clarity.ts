/** The final response is an analysis that its reader can follow, by the judgement of a model. Whether it is right is not asked. */
import type { Outcome } from '../src/model/verdict.ts';
import { labelSchema } from './judging/numbered-verdicts.ts';
import type { Answer, EvaluationContext, JudgeEvaluator, Question, Subject } from './evaluator.ts';
import { blocksOf, lacking, truncatedDetail } from './judging/judge-blocks.ts';
import { finalText } from './judging/judge-evidence.ts';
import { readLabel, strictly } from './judging/strict-answers.ts';

export type AnalysisClarityOptions = { readonly [option: string]: never };

export const analysisClarity = {
  kind: 'judge',
  id: 'analysis_clarity',
  version: 1,
  summary: 'A judge finds the final response clear to its reader.',
  needs: ['input', 'final_response'],
  onByDefault: false,
  defaultThreshold: 1,
  defaults: {},
  optionsSchema: { type: 'object', additionalProperties: false, properties: {} },
  source: 'clarity checks of published agent tutorials, with two labels',
  evaluate,
} as const satisfies JudgeEvaluator<AnalysisClarityOptions>;

const labels = ['clear', 'unclear'] as const;
const instruction =
  'An AI agent has answered the user input. Decide whether its final response is clear. clear: it says what it found and what follows from it, in an order that a reader can follow, without terms that it does not explain, and without contradicting itself. unclear: the reader cannot tell what the answer is, why, or what numbers and names in it mean. Do not judge whether it is correct. First explain in one sentence, then give the label.';
const answerSchema = labelSchema(labels);

function* evaluate({ trace }: Subject, _options: AnalysisClarityOptions, context: EvaluationContext): Generator<Question, Outcome, Answer> {
  const stop = lacking(trace, context, ['input', 'final_response']);
  if (stop !== undefined) return stop;
  const { data, truncated } = blocksOf({ 'user input': trace.input, 'final response': finalText(trace) });
  const judged = yield* strictly({ id: 'judge', instruction, data, answerSchema }, (answer) => readLabel(answer, labels));
  if (judged.kind === 'failed') return judged.outcome;
  const { label, explanation } = judged.value;
  return {
    kind: 'scored',
    score: label === 'clear' ? 1 : 0,
    label,
    explanation,
    evidence: [],
    details: { judge_called: true, label, ...truncatedDetail(truncated, judged.truncated) },
  };
}
