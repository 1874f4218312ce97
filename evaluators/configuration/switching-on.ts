/** The requirements for enabling an evaluator that is off by default, beside an entry under `evaluators`. */
import type { AnyEvaluator, Need } from '../evaluator.ts';
import { configuredEvaluator } from './configured.ts';

/** Parts of an expectation without which an evaluator scores nothing. */
const expected: { readonly [need in Need]?: string } = {
  expected_tool_calls: 'expect.tool_calls',
  expected_tool_outputs: 'expect.tool_outputs',
  expected_tool_counts: 'expect.tool_calls_count',
  expected_tool_order: 'expect.tool_calls_order',
  expected_messages: 'expect.messages',
  expected_output: 'expect.output',
  search_text: 'expect.search_text',
};

/** In words; empty when an entry with its name suffices. */
export function switchingOn(evaluator: AnyEvaluator, members: readonly AnyEvaluator[]): readonly string[] {
  const bare = configuredEvaluator({ use: evaluator.id }, members);
  return [
    ...(evaluator.kind === 'judge' ? ['a judge'] : []),
    ...(bare.kind === 'ready' ? [] : bare.faults.map(({ path }) => path.join('.'))),
    ...evaluator.needs.flatMap((need) => expected[need] ?? []),
    ...(evaluator.learns === undefined ? [] : ['a learnt process']),
  ];
}
