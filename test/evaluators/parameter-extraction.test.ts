import { expect, test } from 'vitest';
import { agentTrace, call, spanId, tool } from '../builders/agent-trace.ts';
import { answered, labelsEachItem, said, skips } from './judge-suite.ts';
import { judged } from './score.ts';

const entry = { use: 'parameter_extraction' };
const schema = { type: 'object', required: ['to'] };
const trace = agentTrace({
  input: 'Two to Rome',
  toolDefinitions: [tool('find', schema), tool('book', { type: 'object' }), tool('unused', { type: 'object' }), tool('bare')],
  toolCalls: [
    call({ name: 'find', arguments: { to: 'Rome' }, spanId: spanId(1) }),
    call({ name: 'bare', arguments: { x: 1 } }),
    call({ name: 'book', arguments: null, argumentsText: 'two', spanId: spanId(3) }),
    call({ name: 'find', arguments: undefined }),
  ],
});
const { input: _input, ...withoutInput } = trace;

labelsEachItem({
  entry,
  trace,
  list: 'calls',
  what: 'tool call',
  numbers: [1, 3],
  good: 'correct',
  bad: 'incorrect',
  oneBad: 0.5,
  faults: 'wrong_arguments',
});

test('parameter_extraction: the judge sees the input, the schemas of the tools that were called, and all calls', () => {
  expect(judged({ entry, trace }, []).questions[0]?.data).toEqual([
    { title: 'last message of the user', text: 'Two to Rome' },
    {
      title: 'tools that were called',
      text: '- find: (no description)\n  parameters: {"type":"object","required":["to"]}\n- book: (no description)\n  parameters: {"type":"object"}',
    },
    {
      title: 'tool calls',
      text: '1. find({"to":"Rome"})\n   returned: ok\n2. bare({"x":1})\n   returned: ok\n3. book(two)\n   returned: ok\n4. find(arguments not recorded)\n   returned: ok',
    },
  ]);
});

test('parameter_extraction: the wrong arguments are named, and calls that nothing is known of are counted', () => {
  const { verdict } = judged(
    { entry, trace },
    answered({
      calls: [
        said('correct', { number: 1, faults: 'wrong_arguments' }),
        { number: 3, explanation: 'It is two seats.', wrong_arguments: ['seats', 'to'], label: 'incorrect' },
      ],
    }),
  );
  expect(verdict).toMatchObject({
    score: 0.5,
    label: 'incorrect',
    explanation: '1 of 2 tool calls is incorrect: book (call 3) ("seats", "to": It is two seats).',
    evidence: [spanId(3)],
    details: { not_judged: 2, calls: [{ wrong_arguments: [] }, { index: 2, wrong_arguments: ['seats', 'to'], label: 'incorrect' }] },
  });
});

skips([
  { name: 'a run without a call', entry, trace: { ...trace, toolCalls: [] }, reason: 'no_tool_calls' },
  {
    name: 'a dialect that carries no calls',
    entry,
    trace: { ...trace, toolCalls: [], toolCallsCarried: false },
    reason: 'tool_calls_not_carried',
  },
  { name: 'a run without definitions', entry, trace: { ...trace, toolDefinitions: [] }, reason: 'no_tool_definitions' },
  {
    name: 'a run without a schema of a tool that was called',
    entry,
    trace: { ...trace, toolDefinitions: [tool('unused', schema), tool('find')] },
    reason: 'no_tool_definitions',
  },
  { name: 'a run without an input', entry, trace: withoutInput, reason: 'no_input' },
  { name: 'an input that was cut', entry, trace: { ...trace, truncated: ['input'] }, reason: 'truncated' },
  {
    name: 'a run of calls without arguments',
    entry,
    trace: { ...trace, toolCalls: [call({ name: 'find', arguments: undefined })] },
    reason: 'arguments_not_carried',
  },
  {
    name: 'a run of calls whose arguments were cut',
    entry,
    trace: { ...trace, toolCalls: [call({ name: 'find', arguments: undefined, truncated: { arguments: '{' } })] },
    reason: 'truncated',
  },
  {
    name: 'a result before a call that was cut',
    entry,
    trace: { ...trace, toolCalls: [call({ result: undefined, truncated: { result: 'x' } }), ...trace.toolCalls] },
    reason: 'truncated',
  },
  {
    name: 'a definition of a tool that was called and cut',
    entry,
    trace: { ...trace, toolDefinitions: [{ name: 'find', truncated: true }] },
    reason: 'truncated',
  },
  { name: 'more calls than are scored', entry, trace, limits: { toolCallsMax: 2 }, reason: 'too_large' },
]);
