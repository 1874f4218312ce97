import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace, call } from '../builders/agent-trace.ts';
import { judged } from './score.ts';

const entry = { use: 'trajectory_quality' };
const trace = agentTrace({ input: 'Book', toolCalls: [call({ name: 'book' })], finalResponse: 'Booked.' });
const answered = (value: JsonValue) => [{ kind: 'answered' as const, value, truncated: false }];

for (const score of [0, 0.25, 0.5, 0.75, 1]) {
  test(`trajectory_quality: ${score} is a score`, () => {
    expect(judged({ entry, trace }, answered({ explanation: 'So.', score })).verdict).toMatchObject({
      kind: 'scored',
      score,
      passed: score >= 0.75,
      explanation: 'So.',
      details: { steps: 1 },
    });
  });
}

for (const score of [-0.25, 1.25, 0.3, 75, '0.5', true, null, 'high'] as const) {
  test(`trajectory_quality: ${JSON.stringify(score)} is none, and nothing is made of it`, () => {
    const { questions, verdict } = judged({ entry, trace }, answered({ explanation: 'So.', score }));
    expect(questions[0]?.check?.({ explanation: 'So.', score })).toBe('the score is none of 0, 0.25, 0.5, 0.75 and 1');
    expect(verdict).toMatchObject({ kind: 'failed', details: { judge_error: true } });
  });
}

test('trajectory_quality: an explanation is needed and comes first', () => {
  const { questions, verdict } = judged({ entry, trace }, answered({ score: 1 }));
  expect(JSON.stringify(questions[0]?.answerSchema)).toContain('"properties":{"explanation":{"type":"string"},"score":');
  expect(verdict).toMatchObject({ kind: 'failed', error: 'judge_answer_invalid: the answer has no explanation' });
});

test('trajectory_quality: expected behaviour is shown where there is some, and a run without a response has a note', () => {
  const { finalResponse: _response, ...silent } = trace;
  const titles = (data: readonly { readonly title: string; readonly text: string }[] = []) => data.map(({ title, text }) => [title, text]);
  expect(
    titles(judged({ entry, trace: silent, expected: { tasks: ['book'], constraints: 'cheap', output: 'Booked.' } }, []).questions[0]?.data),
  ).toEqual([
    ['user input', 'Book'],
    ['steps taken', '1. book({})\n   returned: ok'],
    ['final response', '(none)'],
    ['expected behaviour', 'Tasks:\n1. book\nConstraints: cheap\nExpected final response: Booked.'],
  ]);
});

test('trajectory_quality: of a run too long for one question the ends are shown, and the details say what is missing', () => {
  const long = {
    ...trace,
    toolCalls: Array.from({ length: 900 }, (_, at) => call({ name: 'fetch', arguments: { at }, result: `${at} ${'z'.repeat(200)}` })),
  };
  const { questions, verdict } = judged({ entry, trace: long }, answered({ explanation: 'So.', score: 1 }));
  expect(questions[0]?.data[1]?.text).toMatch(/^1\. fetch.*\[left out: steps \d+ to \d+ \(fetch \d+×; 0 failed\)\].*900\. fetch/s);
  expect(verdict).toMatchObject({ kind: 'scored', details: { truncated: true, steps: 900, steps_left_out: expect.any(Number) as number } });
});

for (const { name, run, reason } of [
  { name: 'no call', run: { ...trace, toolCalls: [] }, reason: 'no_tool_calls' },
  { name: 'a blank input', run: { ...trace, input: '' }, reason: 'no_input' },
]) {
  test(`trajectory_quality: ${name} is skipped as ${reason} and asks no judge`, () => {
    expect(judged({ entry, trace: run }, [])).toMatchObject({ questions: [], verdict: { kind: 'skipped', reason } });
  });
}
