import { expect, test } from 'vitest';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { answered, labelsEachItem, said, skips } from './judge-suite.ts';
import { judged } from './score.ts';

const entry = { use: 'argument_correctness' };
const trace = agentTrace({
  input: 'Find flights from Oslo',
  systemPrompt: 'You book flights.',
  toolCalls: [
    call({ name: 'places', arguments: { q: 'Oslo' }, result: { code: 'OSL' }, spanId: spanId(1) }),
    call({
      name: 'find',
      arguments: { from: 'OSL' },
      result: undefined,
      error: { message: 'down', sign: 'span_status' },
      spanId: spanId(2),
    }),
    call({ name: 'pay', executed: false, result: undefined }),
  ],
});
const { input: _input, ...withoutInput } = trace;
const cut = call({ arguments: undefined, truncated: { arguments: '{"x":"a lo' } });

labelsEachItem({ entry, trace, list: 'calls', what: 'tool call', numbers: [1, 2, 3], good: 'yes', bad: 'no', oneBad: 2 / 3 });

test('argument_correctness: the judge sees the system prompt, the input, and each call with what became of it', () => {
  expect(judged({ entry, trace }, []).questions[0]?.data).toEqual([
    { title: 'system prompt', text: 'You book flights.' },
    { title: 'user input', text: 'Find flights from Oslo' },
    {
      title: 'tool calls',
      text: '1. places({"q":"Oslo"})\n   returned: {"code":"OSL"}\n2. find({"from":"OSL"})\n   failed: down\n3. pay({})\n   did not run',
    },
  ]);
});

test('argument_correctness: the calls with wrong arguments are named, are the evidence, and have parts', () => {
  const { verdict } = judged(
    { entry, trace },
    answered({ calls: [said('yes', { number: 1 }), said('no', { number: 2 }), said('yes', { number: 3 })] }),
  );
  expect(verdict).toMatchObject({
    score: 2 / 3,
    passed: true,
    explanation: '1 of 3 tool calls is given wrong arguments: find (call 2) (because 2).',
    evidence: [spanId(2)],
    parts: [
      { passed: true },
      {
        index: 1,
        tool: 'find',
        spanId: spanId(2),
        score: 0,
        passed: false,
        explanation: 'find (call 2) is given wrong arguments: because 2.',
      },
      { passed: true },
    ],
    details: {
      calls: [
        { index: 0, label: 'yes' },
        { index: 1, tool: 'find', span_id: spanId(2), label: 'no', explanation: 'because 2' },
        { index: 2, label: 'yes' },
      ],
    },
  });
});

test('argument_correctness: calls whose arguments are not known are shown and not judged', () => {
  const run = { ...trace, toolCalls: [call({ arguments: undefined }), ...trace.toolCalls.slice(1, 2)] };
  const { questions, verdict } = judged({ entry, trace: run }, answered({ calls: [said('yes', { number: 2 })] }));
  expect(questions[0]?.instruction).toMatch(/: 2\.$/);
  expect(questions[0]?.data[2]?.text).toMatch(/^1\. t\(arguments not recorded\)/);
  expect(verdict).toMatchObject({ score: 1, explanation: 'The tool call is given correct arguments.', details: { without_arguments: 1 } });
});

test('argument_correctness: calls of one turn of the model are marked, since none knew what the others returned', () => {
  const toolCalls = [call({ turn: 0 }), call({ turn: 1 }), call({ turn: 1 }), call({})];
  expect(
    judged({ entry, trace: { ...trace, toolCalls } }, [])
      .questions[0]?.data[2]?.text.split('\n')
      .filter((line) => /^\d/.test(line)),
  ).toEqual(['1. t({})', '2. t({})', '3. t({}) (asked for together with call 2)', '4. t({})']);
});

test('argument_correctness: of many long calls each keeps its place', () => {
  const toolCalls = Array.from({ length: 100 }, (_, at) =>
    call({ name: `t${at}`, arguments: { text: `${at} ${'x'.repeat(5_000)}` }, result: 'y'.repeat(5_000) }),
  );
  const { questions, verdict } = judged(
    { entry, trace: { ...trace, toolCalls } },
    answered({ calls: toolCalls.map((_, at) => said('yes', { number: at + 1 })) }),
  );
  expect(questions[0]?.data[2]?.text).toContain('100. t99({"text":"99 ');
  expect(questions[0]?.data[2]?.text.length).toBeLessThan(31_000);
  expect(verdict).toMatchObject({ score: 1, details: { truncated: true } });
});

test('argument_correctness: in a conversation the judge sees what was said before', () => {
  const messages = [
    { role: 'user', text: 'Two of us', calls: [] },
    { role: 'user', text: 'Find flights', calls: [] },
  ];
  expect(judged({ entry, trace: { ...trace, messages } }, []).questions[0]?.data).toContainEqual({
    title: 'earlier messages',
    text: 'user: Two of us',
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
  { name: 'a run without an input', entry, trace: withoutInput, reason: 'no_input' },
  { name: 'a blank input', entry, trace: { ...trace, input: ' \n' }, reason: 'no_input' },
  { name: 'an input that was cut', entry, trace: { ...trace, truncated: ['input'] }, reason: 'truncated' },
  { name: 'a system prompt that was cut', entry, trace: { ...trace, truncated: ['system_prompt'] }, reason: 'truncated' },
  {
    name: 'a result before a call that was cut',
    entry,
    trace: { ...trace, toolCalls: [call({ result: undefined, truncated: { result: 'x' } }), ...trace.toolCalls] },
    reason: 'truncated',
  },
  {
    name: 'a run of calls without arguments',
    entry,
    trace: { ...trace, toolCalls: [call({ arguments: undefined })] },
    reason: 'arguments_not_carried',
  },
  { name: 'a run of calls whose arguments were cut', entry, trace: { ...trace, toolCalls: [cut] }, reason: 'truncated' },
  { name: 'more calls than are scored', entry, trace, limits: { toolCallsMax: 2 }, reason: 'too_large' },
  {
    name: 'more calls than a judge is asked about',
    entry,
    trace: { ...trace, toolCalls: Array.from({ length: 101 }, () => call()) },
    reason: 'too_large',
  },
]);

test('argument_correctness: a result after the last call that is judged may be cut', () => {
  const run = { ...trace, toolCalls: [call({ arguments: { x: 1 }, result: undefined, truncated: { result: 'x' } })] };
  expect(judged({ entry, trace: run }, answered({ calls: [said('yes', { number: 1 })] })).verdict).toMatchObject({
    kind: 'scored',
    score: 1,
  });
});
