/** Signatures of failed verdicts that expect calls of tools. */
import { expect, test } from 'vitest';
import { redactedRun } from '../../../src/pipeline/evaluation/redacted-run.ts';
import { agentTrace, call, spanId } from '../../builders/agent-trace.ts';
import { run } from '../../builders/scored-run.ts';
import { configFrom, scoredUnder } from '../../builders/stored-runs.ts';

const order = (options = '{}'): string =>
  `evaluators: [ { use: tool_call_order, options: ${options}, expect: { tool_calls_order: [ sign_in, find, book ] }, threshold: 1 } ]`;
const correctness = 'evaluators: [ { use: tool_correctness, expect: { tool_calls: [ { name: sign_in }, { name: book } ] } } ]';

test.each([
  ['a missing step, beside calls that are allowed', order(), ['find', 'book', 'mail'], 'missing: sign_in'],
  ['a step out of order', order(), ['book', 'sign_in', 'find'], 'out of order: book'],
  ['a call that is not allowed', order('{ strict: true }'), ['sign_in', 'find', 'book', 'mail'], 'unexpected: mail'],
  ['a missing and an unexpected tool', correctness, ['book', 'mail'], 'missing: sign_in; unexpected: mail'],
])('%s', (_, config, tools, signature) => {
  const toolCalls = tools.map((name, at) => call({ name, spanId: spanId(at + 1) }));
  const { run: given, ...item } = scoredUnder(run({ trace: agentTrace({ toolCalls }) }), configFrom(config));
  expect(
    redactedRun(given, undefined)
      .item(item)
      .faults?.map((fault) => fault.signature),
  ).toEqual([signature]);
});
