/** What evaluators look at, in words. */
import type { Need } from '../../evaluators/evaluator.ts';

export const needTexts: { readonly [need in Need]: string } = {
  tool_calls: 'tool calls',
  tool_definitions: 'tool definitions',
  tool_results: 'results of tool calls',
  input: 'the input',
  final_response: 'the final response',
  expected_tool_calls: 'expected tool calls (expect.tool_calls)',
  expected_tool_outputs: 'expected tool outputs (expect.tool_outputs)',
  expected_tool_counts: 'expected numbers of tool calls (expect.tool_calls_count)',
  expected_tool_order: 'the expected order of tools (expect.tool_calls_order)',
  expected_messages: 'the reference messages (expect.messages)',
  expected_output: 'the expected output (expect.output)',
  search_text: 'the texts to search for (expect.search_text)',
  tokens: 'tokens of model calls',
  times: 'start and end of the run',
  tasks: 'tasks (expect.tasks)',
};
