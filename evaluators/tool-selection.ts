/** The tools that the agent called were the right ones to choose among those that it had, by the judgement of a model, on a scale of five steps. */
import type { Outcome } from '../src/model/verdict.ts';
import { evidenceOf, placedCalls } from './evidence/calls.ts';
import type { Answer, EvaluationContext, JudgeEvaluator, Question, Subject } from './evaluator.ts';
import { lacking } from './judging/judge-evidence.ts';
import { scoredRun } from './judging/labelled-run.ts';
import { selectionInstruction, selectionInput, selectionSteps } from './judging/selection-question.ts';

export interface ToolSelectionOptions {}

export const toolSelection = {
  kind: 'judge',
  id: 'tool_selection',
  version: 1,
  summary: 'A judge finds the tools that were called well chosen among those that are defined.',
  needs: ['tool_calls', 'tool_definitions', 'input'],
  onByDefault: false,
  defaultThreshold: 0.5,
  defaults: {},
  optionsSchema: { type: 'object', additionalProperties: false, properties: {} },
  source: 'the selection part of DeepEval ToolCorrectness, on a scale of five steps',
  evaluate,
} as const satisfies JudgeEvaluator<ToolSelectionOptions>;

function* evaluate({ trace }: Subject, _options: ToolSelectionOptions, context: EvaluationContext): Generator<Question, Outcome, Answer> {
  const stop = lacking(trace, context, ['tool_calls', 'tool_definitions', 'input']);
  if (stop !== undefined) return stop;
  const calls = placedCalls(trace);
  return yield* scoredRun({
    instruction: selectionInstruction,
    shown: selectionInput(trace),
    what: 'The choice of tools',
    steps: selectionSteps,
    evidence: evidenceOf(calls),
    details: { tool_calls: calls.length },
  });
}
