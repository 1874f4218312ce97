/** The final response is about what the user asked, by the judgement of a model: as a label, or as a number where a scale is wanted. */
import type { Outcome } from '../src/model/verdict.ts';
import type { Answer, EvaluationContext, JudgeEvaluator, Question, Subject } from './evaluator.ts';
import { finalText, inputText, lacking } from './judge-evidence.ts';
import { labelledRun, scoredRun } from './labelled-run.ts';
import { shown, shownHistory } from './shown.ts';

export interface AnswerRelevanceOptions {
  readonly scale: 'label' | 'score';
}

export const answerRelevance = {
  kind: 'judge',
  id: 'answer_relevance',
  version: 1,
  summary: 'A judge finds the final response relevant to what the user asked.',
  needs: ['input', 'final_response'],
  onByDefault: false,
  defaultThreshold: 0.5,
  defaults: { scale: 'label' },
  optionsSchema: {
    type: 'object',
    additionalProperties: false,
    properties: { scale: { enum: ['label', 'score'], description: 'What the judge gives: the label relevant or irrelevant, or a number from 0 to 1.' } },
  },
  source: 'Sentinel AI answerRelevance, where a judge that fails gives no score',
  evaluate,
} as const satisfies JudgeEvaluator<AnswerRelevanceOptions>;

const rules =
  'A response is relevant when it addresses what the user asked for or wants, without leaving the matter. One that asks back for what it needs, or declines and says why, is relevant. Do not judge whether what it says is true or complete.';
const labelInstruction = `An AI agent has answered the last message of the user. Decide whether its final response is relevant. ${rules} A response that is mostly about something else, or evades the matter, is irrelevant. First explain in one sentence, then give the label relevant or irrelevant.`;
const scoreInstruction = `An AI agent has answered the last message of the user. Rate how relevant its final response is. ${rules} First explain in one sentence, then give a score: 1 when all of it is about the matter and no part of what was asked is passed over, 0 when nothing of it is, and numbers between for responses that are relevant in part.`;

function* evaluate({ trace }: Subject, { scale }: AnswerRelevanceOptions, context: EvaluationContext): Generator<Question, Outcome, Answer> {
  const stop = lacking(trace, context, ['input', 'final_response']);
  if (stop !== undefined) return stop;
  const about = { shown: [...shownHistory(trace), shown('last message of the user', inputText(trace)), shown('final response', finalText(trace))], what: 'The final response' };
  if (scale === 'score') return yield* scoredRun({ ...about, instruction: scoreInstruction });
  return yield* labelledRun({ ...about, instruction: labelInstruction, labels: { relevant: 1, irrelevant: 0 } });
}
