import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { judged } from './score.ts';

const entry = { use: 'tool_argument_hallucination' };
const trace = agentTrace({
  input: 'Find flights from Oslo',
  systemPrompt: 'You book flights.',
  toolCalls: [
    call({ name: 'ping' }),
    call({ name: 'find', arguments: { from: 'OSL' }, spanId: spanId(2) }),
    call({ name: 'find', arguments: { city: 'Oslo' } }),
    call({ name: 'find', arguments: { day: 'May 3' }, spanId: spanId(4) }),
  ],
});
const said = (number: number, grounded: boolean): JsonValue => ({ number, explanation: `because ${number}`, grounded });
const answer = (...calls: JsonValue[]) => [{ kind: 'answered' as const, value: { calls }, truncated: false }];

test('tool_argument_hallucination: only the doubtful calls are asked about, and verdicts count by call number', () => {
  const { questions, verdict } = judged({ entry, trace }, answer(said(4, false), said(2, true)));
  expect(questions).toHaveLength(1);
  expect(questions[0]?.instruction).toMatch(/: 2, 4\.$/);
  expect(questions[0]?.data.map(({ title }) => title)).toEqual(['system prompt', 'user input', 'tool calls']);
  expect(verdict).toMatchObject({
    kind: 'scored',
    score: 0.75,
    passed: false,
    explanation: '1 of 4 tool calls has arguments without ground: find (call 4) (because 4).',
    evidence: [spanId(4)],
    parts: [{ passed: true }, { passed: true, explanation: 'find (call 2): because 2.' }, { passed: true }, { index: 3, passed: false }],
    details: { judge_called: true, asked: 2, grounded: 3, total: 4 },
  });
});

test('tool_argument_hallucination: where every value is in the input, no judge is asked', () => {
  const { questions, verdict } = judged({ entry, trace: { ...trace, toolCalls: trace.toolCalls.filter((_, at) => at % 2 === 0) } }, []);
  expect(questions).toEqual([]);
  expect(verdict).toMatchObject({ score: 1, details: { judge_called: false, grounded: 2, total: 2 } });
});

test('tool_argument_hallucination: without the check before it every call is asked about', () => {
  const { questions, verdict } = judged(
    { entry: { ...entry, options: { precheck: false } }, trace },
    answer(said(1, true), said(2, true), said(3, true), said(4, true)),
  );
  expect(questions[0]?.instruction).toMatch(/: 1, 2, 3, 4\.$/);
  expect(verdict).toMatchObject({ score: 1, details: { asked: 4 } });
});

const rows = [
  { name: 'a call without a verdict is not grounded', calls: [said(2, true)], score: 0.75 },
  { name: 'a verdict on a call that was not asked about is ignored', calls: [said(1, false), said(2, true), said(4, true)], score: 1 },
  { name: 'without numbers the place counts', calls: [{ grounded: false }, { grounded: true }], score: 0.75 },
];
for (const { name, calls, score } of rows) {
  test(`tool_argument_hallucination: ${name}`, () => {
    expect(judged({ entry, trace }, answer(...calls)).verdict).toMatchObject({ kind: 'scored', score });
  });
}

test('tool_argument_hallucination: an answer must hold one verdict for each call that was asked about', () => {
  const { questions } = judged({ entry, trace }, answer());
  const fault = (...calls: JsonValue[]) => questions[0]?.check?.({ calls });
  expect([
    fault(said(2, true), said(4, true)),
    fault(said(2, true)),
    fault(said(2, true), said(2, true), said(4, true)),
    fault(said(2, true), said(4, true), said(1, true)),
  ]).toEqual([undefined, 'call 4 has no verdict', 'call 2 has 2 verdicts', 'there are 3 verdicts for 2 calls']);
});

test('tool_argument_hallucination: a judge that fails gives no score', () => {
  expect(judged({ entry, trace }, [{ kind: 'failed', error: 'timeout' }]).verdict).toMatchObject({
    kind: 'failed',
    error: 'timeout',
    details: { judge_called: true, judge_error: true },
  });
});

const { input: _input, ...withoutInput } = trace;
const skips = [
  { name: 'no call', run: { ...trace, toolCalls: [] }, reason: 'no_tool_calls' },
  { name: 'no input', run: { ...withoutInput, toolCalls: [call()] }, reason: 'no_input' },
  { name: 'no arguments', run: { ...trace, toolCalls: [call({ arguments: undefined })] }, reason: 'arguments_not_carried' },
  { name: 'more calls than the limit', run: trace, reason: 'too_large' },
];
for (const { name, run, reason } of skips) {
  test(`tool_argument_hallucination: ${name} is skipped as ${reason} and asks no judge`, () => {
    const { questions, verdict } = judged({ entry, trace: run, limits: { toolCallsMax: 3 } }, []);
    expect(verdict).toMatchObject({ kind: 'skipped', reason });
    expect(questions).toEqual([]);
  });
}
