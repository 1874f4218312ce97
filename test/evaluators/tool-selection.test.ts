import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace, call, spanId, tool } from '../builders/agent-trace.ts';
import { answered, marksCuts, skips } from './judge-suite.ts';
import { judged } from './score.ts';

const entry = { use: 'tool_selection' };
const trace = agentTrace({
  input: 'Find a flight',
  toolDefinitions: [tool('find', { type: 'object' }), { name: 'book', description: 'Books.' }],
  toolCalls: [call({ name: 'find', spanId: spanId(1) }), call({ name: 'book', spanId: spanId(2) })],
});
const { input: _input, ...withoutInput } = trace;
const rated = (score: JsonValue) => judged({ entry, trace }, answered({ explanation: 'book was not needed.', score }));

for (const score of [0, 0.25, 0.5, 0.75, 1]) {
  test(`tool_selection: ${score} is one of the five steps`, () => {
    expect(rated(score).verdict).toMatchObject({
      kind: 'scored',
      score,
      passed: score >= 0.5,
      label: score >= 0.5 ? 'pass' : 'fail',
      explanation: `The choice of tools is rated ${score}: book was not needed.`,
      evidence: score < 1 ? [spanId(1), spanId(2)] : [],
      details: { judge_called: true, explanation: 'book was not needed.', tool_calls: 2 },
    });
  });
}

for (const score of [0.3, 1.25, -0.25, 70, '0.5', true, null, Number.NaN]) {
  test(`tool_selection: ${JSON.stringify(score)} is not a score, and never a clamped one`, () => {
    const { questions, verdict } = rated(score);
    expect(questions[0]?.check?.({ explanation: 'e', score })).toMatch(/^the score is /);
    expect(verdict).toMatchObject({ kind: 'failed', details: { judge_error: true } });
  });
}

test('tool_selection: a score without an explanation is none', () => {
  expect(judged({ entry, trace }, answered({ score: 1 })).verdict).toMatchObject({
    kind: 'failed',
    error: 'judge_answer_invalid: the answer has no explanation',
  });
});

test('tool_selection: the judge sees the input, the tools and the calls, and explains before it scores', () => {
  expect(rated(1).questions).toMatchObject([
    {
      data: [
        { title: 'user input', text: 'Find a flight' },
        { title: 'available tools', text: '- find: (no description)\n- book: Books.' },
        { title: 'tool calls', text: '1. find({})\n   returned: ok\n2. book({})\n   returned: ok' },
      ],
      answerSchema: { required: ['explanation', 'score'], properties: { score: { enum: [0, 0.25, 0.5, 0.75, 1] } } },
    },
  ]);
});

marksCuts({ entry, trace }, answered({ explanation: 'e', score: 1 }), answered({ explanation: 'e', score: 1 }, true));

test('tool_selection: in a conversation the judge sees what was said before', () => {
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
  { name: 'a run without definitions', entry, trace: { ...trace, toolDefinitions: [] }, reason: 'no_tool_definitions' },
  {
    name: 'a run whose definitions may have been lost',
    entry,
    trace: { ...trace, toolDefinitions: [], truncated: ['spans'] },
    reason: 'truncated',
  },
  { name: 'a run without an input', entry, trace: withoutInput, reason: 'no_input' },
  { name: 'an input that was cut', entry, trace: { ...trace, truncated: ['input'] }, reason: 'truncated' },
  { name: 'more calls than are scored', entry, trace, limits: { toolCallsMax: 1 }, reason: 'too_large' },
]);
