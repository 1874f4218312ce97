/** The agent called the right tools among those that it had. A judge rates the choice on a scale of five steps. */
import { evidenceOf, placedCalls } from './evidence/calls.ts';
import { questionJudge } from './judging/question-judge.ts';
import { selectionInput, selectionInstruction, selectionSteps } from './judging/selection-question.ts';

export const toolSelection = questionJudge({
  id: 'tool_selection',
  summary: 'A judge finds the tools that were called well chosen among those that are defined.',
  needs: ['tool_calls', 'tool_definitions', 'input'],
  defaultThreshold: 0.5,
  source: 'the selection part of DeepEval ToolCorrectness, on a scale of five steps',
  question({ trace }) {
    const calls = placedCalls(trace);
    return {
      instruction: selectionInstruction,
      input: selectionInput(trace),
      what: 'The choice of tools',
      steps: selectionSteps,
      evidence: evidenceOf(calls),
      details: { tool_calls: calls.length },
    };
  },
});
