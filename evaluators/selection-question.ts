/** The question whether the tools that were called were the right ones to choose from those that are defined. */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import type { DataBlock, Question } from './evaluator.ts';
import { blockMax, callsText, cut } from './judge-data.ts';

export function selectionQuestion(trace: AgentTrace): { readonly question: Question; readonly truncated: boolean } {
  const whole: readonly DataBlock[] = [
    ...(trace.input === undefined ? [] : [{ title: 'user input', text: trace.input }]),
    { title: 'available tools', text: trace.toolDefinitions.map(({ name, description }) => `- ${name}: ${description ?? '(no description)'}`).join('\n') },
    { title: 'tool calls', text: callsText(trace) },
  ];
  return {
    question: {
      id: 'tool_selection',
      instruction:
        'An AI agent has chosen the tool calls among the available tools. Judge the choice of tools only, not their arguments or results: were the tools the right ones for the task, were none left out that were needed, and none called that were not? First give the reason in one sentence, then a score: 1 for a choice that could not be better, 0.75, 0.5 or 0.25 for one with minor, considerable or grave faults, 0 for a wrong one.',
      data: whole.map(({ title, text }) => ({ title, text: cut(text, blockMax) })),
      answerSchema: { type: 'object', additionalProperties: false, required: ['reason', 'score'], properties: { reason: { type: 'string' }, score: { type: 'number', minimum: 0, maximum: 1 } } },
    },
    truncated: whole.some(({ text }) => text.length > blockMax),
  };
}
