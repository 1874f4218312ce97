import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { judged } from './score.ts';

const entry = { use: 'plan_quality' };
const trace = agentTrace({ input: 'Book a room', reasoningSteps: ['I book.'], toolDefinitions: [{ name: 'book', description: 'Books.' }] });
const expected = { plan: ['book one'] };
const answered = (value: JsonValue) => ({ kind: 'answered' as const, value, truncated: false });

const rows: readonly { readonly name: string; readonly answer: JsonValue; readonly want: object }[] = [
  {
    name: 'a good plan is 1',
    answer: { explanation: 'Sound.', faults: [], label: 'good' },
    want: {
      kind: 'scored',
      score: 1,
      label: 'good',
      passed: true,
      explanation: 'The plan is good: Sound.',
      details: { faults: [], plan: ['book one'], plan_source: 'expected' },
    },
  },
  {
    name: 'a good plan may have a fault that does not matter',
    answer: { explanation: 'Sound.', faults: ['long'], label: 'good' },
    want: { kind: 'scored', score: 1, details: { faults: ['long'] } },
  },
  {
    name: 'a bad plan is 0 and its faults are named',
    answer: { explanation: 'It misses the search.', faults: ['no search'], label: 'bad' },
    want: { kind: 'scored', score: 0, label: 'bad', passed: false, explanation: 'The plan is bad, with 1 fault: no search.' },
  },
  {
    name: 'a bad plan without a fault is not an answer',
    answer: { explanation: 'x', faults: [' '], label: 'bad' },
    want: { kind: 'failed', error: 'judge_answer_invalid: the plan is bad and no fault is named' },
  },
  {
    name: 'faults that are not texts are not an answer',
    answer: { explanation: 'x', faults: [1], label: 'bad' },
    want: { kind: 'failed', error: 'judge_answer_invalid: faults is not a list of texts' },
  },
  {
    name: 'another label is not an answer',
    answer: { explanation: 'x', faults: [], label: 'fine' },
    want: { kind: 'failed', error: 'judge_answer_invalid: the label of the answer is none of good, bad' },
  },
  {
    name: 'an answer without an explanation is refused',
    answer: { faults: [], label: 'good' },
    want: { kind: 'failed', error: 'judge_answer_invalid: the answer has no explanation' },
  },
];
for (const { name, answer, want } of rows) {
  test(`plan_quality: ${name}`, () => {
    const { questions, verdict } = judged({ entry, trace, expected }, [answered(answer)]);
    expect(questions.map(({ id, data }) => [id, data.map(({ title }) => title)])).toEqual([['judge', ['user input', 'tools', 'plan']]]);
    expect(verdict).toMatchObject(want);
  });
}

test('plan_quality: the explanation comes first and the label last', () => {
  expect(JSON.stringify(judged({ entry, trace, expected }, []).questions[0]?.answerSchema)).toContain(
    '"required":["explanation","faults","label"],"properties":{"explanation":{"type":"string"},"faults"',
  );
});

test('plan_quality: without a given or found plan, nothing is scored', () => {
  expect(judged({ entry, trace: { ...trace, reasoningSteps: [] } }, [])).toMatchObject({
    questions: [],
    verdict: { kind: 'skipped', reason: 'no_plan' },
  });
  expect(judged({ entry, trace }, [answered({ plan: [] })]).verdict).toMatchObject({ kind: 'skipped', reason: 'no_plan' });
  const { input: _input, ...withoutInput } = trace;
  expect(judged({ entry, trace: withoutInput, expected }, [])).toMatchObject({
    questions: [],
    verdict: { kind: 'skipped', reason: 'no_input' },
  });
});
