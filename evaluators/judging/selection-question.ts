/** The question whether the called tools were the right choice among the defined ones. */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import { objectSchema } from './verdict-forms.ts';
import { placedCalls } from '../evidence/calls.ts';
import type { Question } from '../evaluator.ts';
import { judgeInputBlocks, judgeInput, judgeInputCalls, judgeInputDefinitions, judgeInputHistory, type JudgeInput } from './judge-input.ts';

export const selectionSteps: readonly number[] = [0, 0.25, 0.5, 0.75, 1];

export const selectionInstruction =
  'An AI agent has chosen the tool calls among the available tools. Judge the choice of tools only, not their arguments or results: were the tools the right ones for the task, were none left out that were needed, and none called that were not? First give the reason in one sentence, then a score: 1 for a choice that could not be better, 0.75, 0.5 or 0.25 for one with minor, considerable or grave faults, 0 for a wrong one.';

export function selectionInput(trace: AgentTrace): readonly JudgeInput[] {
  return [
    ...judgeInputHistory(trace),
    ...(trace.input === undefined ? [] : [judgeInput('user input', trace.input)]),
    judgeInputDefinitions(trace.toolDefinitions, () => false),
    judgeInputCalls(placedCalls(trace)),
  ];
}

export function selectionQuestion(trace: AgentTrace): { readonly question: Question; readonly truncated: boolean } {
  const { data, truncated } = judgeInputBlocks(selectionInput(trace));
  return {
    question: {
      id: 'tool_selection',
      instruction: selectionInstruction,
      data,
      answerSchema: objectSchema({ reason: { type: 'string' }, score: { type: 'number', minimum: 0, maximum: 1 } }),
    },
    truncated,
  };
}
