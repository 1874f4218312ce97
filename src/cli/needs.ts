/** Texts for what evaluators need. */
import type { Need } from '../../evaluators/evaluator.ts';
import { lackTexts } from '../pipeline/reporting/missing-data.ts';

export const needTexts: { readonly [need in Need]: string } = {
  tool_calls: lackTexts.tool_calls,
  tool_definitions: lackTexts.tool_definitions,
  tool_results: lackTexts.tool_results,
  input: lackTexts.input,
  final_response: lackTexts.final_response,
  expected_tool_calls: 'expected tool calls (expect.tool_calls)',
  expected_tool_outputs: 'expected tool outputs (expect.tool_outputs)',
  expected_tool_counts: 'expected numbers of tool calls (expect.tool_calls_count)',
  expected_tool_order: 'the expected order of tools (expect.tool_calls_order)',
  expected_messages: 'the reference messages (expect.messages)',
  expected_output: 'the expected output (expect.output)',
  expected_context: 'a context that holds what is true (expect.context)',
  documents: 'retrieved documents',
  search_text: 'the texts to search for (expect.search_text)',
  tokens: lackTexts.tokens,
  times: lackTexts.times,
  tasks: 'tasks (expect.tasks)',
};
