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
  tasks: 'tasks (expect.tasks)',
};
