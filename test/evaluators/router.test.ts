import { expect, test } from 'vitest';
import { agentTrace, call, spanId, tool } from '../builders/agent-trace.ts';
import { answered, labelsEachItem, labelsTheRun, said, skips } from './judge-suite.ts';
import { judged } from './score.ts';

const entry = { use: 'router' };
const asksNone = { use: 'router', options: { judge_no_call: true } };
const trace = agentTrace({
  input: 'And to Rome?',
  systemPrompt: 'You book flights.',
  messages: [
    { role: 'system', text: 'You book flights.', calls: [] },
    { role: 'user', text: 'A flight to Oslo', calls: [] },
    { role: 'assistant', text: 'At 9.', calls: [] },
    { role: 'user', text: 'And to Rome?', calls: [] },
  ],
  toolDefinitions: [
    tool('find', { type: 'object', required: ['to'] }),
    { name: 'book', description: 'Books.', inputSchema: { type: 'object' } },
  ],
  toolCalls: [
    call({ name: 'find', arguments: { to: 'Rome' }, spanId: spanId(1) }),
    call({ name: 'pay', executed: false, result: undefined, spanId: spanId(2) }),
  ],
});
const quiet = { ...trace, toolCalls: [] };
const { input: _input, ...withoutInput } = trace;

labelsEachItem({ entry, trace, list: 'calls', what: 'tool call', numbers: [1, 2], good: 'correct', bad: 'incorrect', oneBad: 0.5 });
labelsTheRun({ entry: asksNone, trace: quiet, good: 'correct', bad: 'incorrect' });

test('router: the judge sees the conversation, the tools with the parameters of those that were called, and the calls', () => {
  expect(judged({ entry, trace }, []).questions[0]?.data).toEqual([
    { title: 'system prompt', text: 'You book flights.' },
    { title: 'earlier messages', text: 'user: A flight to Oslo\nassistant: At 9.' },
    { title: 'last message of the user', text: 'And to Rome?' },
    { title: 'available tools', text: '- find: (no description)\n  parameters: {"type":"object","required":["to"]}\n- book: Books.' },
    { title: 'tool calls', text: '1. find({"to":"Rome"})\n   returned: ok\n2. pay({})\n   did not run' },
  ]);
});

test('router: a wrong call is named and is the evidence', () => {
  const { verdict } = judged({ entry, trace }, answered({ calls: [said('correct', { number: 1 }), said('incorrect', { number: 2 })] }));
  expect(verdict).toMatchObject({
    score: 0.5,
    passed: false,
    label: 'incorrect',
    explanation: '1 of 2 tool calls is incorrect: pay (call 2) (because 2).',
    evidence: [spanId(2)],
    parts: [{ passed: true }, { index: 1, passed: false }],
  });
});

test('router: where no tool was called, the sentence reports it', () => {
  const { questions, verdict } = judged({ entry: asksNone, trace: quiet }, answered(said('incorrect')));
  expect(questions[0]?.data.map(({ title }) => title)).toEqual([
    'system prompt',
    'earlier messages',
    'last message of the user',
    'available tools',
  ]);
  expect(verdict).toMatchObject({ score: 0, explanation: 'Calling no tool is incorrect: because.', details: { tool_calls: 0 } });
});

test('router: of a long conversation the newest messages are shown, and the details say that others were not', () => {
  const messages = [
    ...Array.from({ length: 60 }, (_, at) => ({ role: 'user', text: `m${at}`, calls: [] })),
    { role: 'user', text: 'And to Rome?', calls: [] },
  ];
  const { questions, verdict } = judged(
    { entry, trace: { ...trace, messages } },
    answered({ calls: [said('correct', { number: 1 }), said('correct', { number: 2 })] }),
  );
  expect(questions[0]?.data[1]?.text.split('\n').map((line) => line.replace('user: ', ''))).toEqual(
    messages.slice(10, 60).map(({ text }) => text),
  );
  expect(verdict.details).toMatchObject({ truncated: true });
});

skips([
  { name: 'a run without a call', entry, trace: quiet, reason: 'no_tool_calls' },
  {
    name: 'a dialect that carries no calls',
    entry: asksNone,
    trace: { ...quiet, toolCallsCarried: false },
    reason: 'tool_calls_not_carried',
  },
  {
    name: 'calls that may have been lost',
    entry: asksNone,
    trace: { ...quiet, toolCallsCarried: false, truncated: ['spans'] },
    reason: 'truncated',
  },
  { name: 'a run without definitions', entry, trace: { ...trace, toolDefinitions: [] }, reason: 'no_tool_definitions' },
  { name: 'no call and no definitions', entry: asksNone, trace: { ...quiet, toolDefinitions: [] }, reason: 'no_tool_definitions' },
  { name: 'a run without an input', entry, trace: withoutInput, reason: 'no_input' },
  { name: 'an input that was cut', entry, trace: { ...trace, truncated: ['input'] }, reason: 'truncated' },
  {
    name: 'a result before a call that was cut',
    entry,
    trace: { ...trace, toolCalls: [call({ result: undefined, truncated: { result: 'x' } }), ...trace.toolCalls] },
    reason: 'truncated',
  },
  { name: 'more calls than are scored', entry, trace, limits: { toolCallsMax: 1 }, reason: 'too_large' },
  {
    name: 'more calls than a judge is asked about',
    entry,
    trace: { ...trace, toolCalls: Array.from({ length: 101 }, () => call()) },
    reason: 'too_large',
  },
]);
