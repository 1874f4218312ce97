import { expect, test } from 'vitest';
import { agentTrace } from '../builders/agent-trace.ts';
import { answered, labelsEachItem, said, skips } from './judge-suite.ts';
import { judged } from './score.ts';

const entry = { use: 'code_readability' };
const finalResponse = 'Here:\n```python\nprint(1)\n```\n\n```\n \n```\nand\n~~~\nx = y\n~~~\n';
const trace = agentTrace({ input: 'Print 1', finalResponse });
const { input: _input, ...withoutInput } = trace;
const { finalResponse: _response, ...withoutResponse } = trace;

labelsEachItem({ entry, trace, list: 'blocks', what: 'code block', numbers: [1, 2], good: 'readable', bad: 'unreadable', oneBad: 0 });

test('code_readability: the judge sees the input and the blocks that are not blank', () => {
  expect(judged({ entry, trace }, []).questions[0]?.data).toEqual([
    { title: 'user input', text: 'Print 1' },
    { title: 'blocks of code', text: 'Block 1 (python):\nprint(1)\n\nBlock 2:\nx = y' },
  ]);
});

test('code_readability: the worst block counts and is named by its line', () => {
  expect(
    judged({ entry, trace }, answered({ blocks: [said('readable', { number: 1 }), said('unreadable', { number: 2 })] })).verdict,
  ).toMatchObject({
    score: 0,
    passed: false,
    label: 'unreadable',
    explanation: '1 of 2 code blocks is unreadable: the block at line 11 (because 2).',
    details: {
      blocks: [
        { line: 3, language: 'python', label: 'readable' },
        { line: 11, label: 'unreadable' },
      ],
    },
  });
});

skips([
  { name: 'a response without code', entry, trace: { ...trace, finalResponse: 'No `code`.' }, reason: 'no_such_target' },
  { name: 'a run without an input', entry, trace: withoutInput, reason: 'no_input' },
  { name: 'a run without a final response', entry, trace: withoutResponse, reason: 'no_final_response' },
  { name: 'a final response that was cut', entry, trace: { ...trace, truncated: ['final_response'] }, reason: 'truncated' },
  { name: 'more blocks than are read', entry, trace: { ...trace, finalResponse: '```\nx\n```\n'.repeat(300) }, reason: 'too_large' },
  {
    name: 'more blocks than a judge is asked about',
    entry,
    trace: { ...trace, finalResponse: '```\nx\n```\n'.repeat(101) },
    reason: 'too_large',
  },
]);
