import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { judged } from './score.ts';

const entry = { use: 'analysis_clarity' };
const trace = agentTrace({ input: 'Why?', finalResponse: { because: 'rain' } });
const answered = (value: JsonValue) => [{ kind: 'answered' as const, value, truncated: false }];

const rows: readonly { readonly name: string; readonly answer: JsonValue; readonly want: object }[] = [
  {
    name: 'clear is 1',
    answer: { explanation: 'It says why.', label: 'clear' },
    want: { kind: 'scored', score: 1, label: 'clear', passed: true, explanation: 'It says why.' },
  },
  {
    name: 'unclear is 0',
    answer: { explanation: 'Which rain?', label: ' Unclear' },
    want: { kind: 'scored', score: 0, label: 'unclear', passed: false },
  },
  {
    name: 'another label is not an answer',
    answer: { explanation: 'x', label: 'cloudy' },
    want: { kind: 'failed', error: 'judge_answer_invalid: the label of the answer is none of clear, unclear' },
  },
  {
    name: 'a score is not a label',
    answer: { explanation: 'x', score: 1 },
    want: { kind: 'failed', error: 'judge_answer_invalid: the label of the answer is none of clear, unclear' },
  },
  {
    name: 'a label without an explanation is not an answer',
    answer: { label: 'clear' },
    want: { kind: 'failed', error: 'judge_answer_invalid: the answer has no explanation' },
  },
  { name: 'a list is not an answer', answer: [], want: { kind: 'failed', error: 'judge_answer_invalid: the answer is not an object' } },
];
for (const { name, answer, want } of rows) {
  test(`analysis_clarity: ${name}`, () => {
    const { questions, verdict } = judged({ entry, trace }, answered(answer));
    expect(questions[0]?.data).toEqual([
      { title: 'user input', text: 'Why?' },
      { title: 'final response', text: '{"because":"rain"}' },
    ]);
    expect(verdict).toMatchObject(want);
  });
}

const { finalResponse: _response, ...silent } = trace;
for (const { name, run, reason } of [
  { name: 'no response', run: silent, reason: 'no_final_response' },
  { name: 'a blank response', run: { ...trace, finalResponse: ' ' }, reason: 'no_final_response' },
  { name: 'a response that was cut', run: { ...trace, truncated: ['final_response' as const] }, reason: 'truncated' },
  { name: 'a blank input', run: { ...trace, input: '' }, reason: 'no_input' },
]) {
  test(`analysis_clarity: ${name} is skipped as ${reason} and asks no judge`, () => {
    expect(judged({ entry, trace: run }, [])).toMatchObject({ questions: [], verdict: { kind: 'skipped', reason } });
  });
}
