import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { answered, labelsTheRun, marksCuts, skips } from './judge-suite.ts';
import { judged } from './score.ts';
import { configuredEvaluator } from '../../evaluators/configuration/configured.ts';
import { evaluators } from '../../evaluators/index.ts';

const entry = { use: 'answer_relevance' };
const onScale = { ...entry, options: { scale: 'score' } };
const trace = agentTrace({
  input: 'And to Rome?',
  finalResponse: 'At noon.',
  messages: [
    { role: 'user', text: 'A flight to Oslo', calls: [] },
    { role: 'assistant', text: 'At 9.', calls: [] },
    { role: 'user', text: 'And to Rome?', calls: [] },
    { role: 'assistant', text: 'At noon.', calls: [] },
  ],
});
const { input: _input, ...withoutInput } = trace;
const { finalResponse: _response, ...withoutResponse } = trace;
const rated = (score: JsonValue) => judged({ entry: onScale, trace }, answered({ explanation: 'it is about lunch', score }));

labelsTheRun({ entry, trace, good: 'relevant', bad: 'irrelevant' });

test('answer_relevance: the judge sees what was said before, the last message and the final response', () => {
  expect(judged({ entry, trace }, []).questions[0]?.data).toEqual([
    { title: 'earlier messages', text: 'user: A flight to Oslo\nassistant: At 9.' },
    { title: 'last message of the user', text: 'And to Rome?' },
    { title: 'final response', text: 'At noon.' },
  ]);
});

test('answer_relevance: on a scale the judge gives a number', () => {
  expect(rated(0.35).verdict).toMatchObject({
    kind: 'scored',
    score: 0.35,
    passed: false,
    label: 'fail',
    explanation: 'The final response is rated 0.35: it is about lunch.',
  });
  expect(rated(1).verdict).toMatchObject({ score: 1, passed: true });
  expect(rated(1).questions[0]?.answerSchema).toMatchObject({
    required: ['explanation', 'score'],
    properties: { score: { minimum: 0, maximum: 1 } },
  });
});

for (const score of [7, -1, '0.5', true, null]) {
  test(`answer_relevance: ${JSON.stringify(score)} is not a score`, () => {
    expect(rated(score).verdict).toMatchObject({ kind: 'failed', error: 'judge_answer_invalid: the score is not a number from 0 to 1' });
  });
}

marksCuts({ entry: onScale, trace }, answered({ explanation: 'e', score: 1 }), answered({ explanation: 'e', score: 1 }, true));

skips([
  { name: 'a run without an input', entry, trace: withoutInput, reason: 'no_input' },
  { name: 'an input that was cut', entry, trace: { ...trace, truncated: ['input'] }, reason: 'truncated' },
  { name: 'a run without a final response', entry, trace: withoutResponse, reason: 'no_final_response' },
  { name: 'a blank final response', entry, trace: { ...trace, finalResponse: ' ' }, reason: 'no_final_response' },
  { name: 'a final response that is null', entry: onScale, trace: { ...trace, finalResponse: null }, reason: 'no_final_response' },
  { name: 'a final response that was cut', entry, trace: { ...trace, truncated: ['final_response'] }, reason: 'truncated' },
]);

const templates: readonly { readonly template: string; readonly data: readonly string[] }[] = [
  { template: 'Does {{answer}} answer {{ request }}?', data: ['answer', 'request'] },
  { template: 'Asked: {request}{answer} as {"score": 1}', data: ['request', 'answer'] },
  { template: 'Is {{final_response}} about {{input}}? Look at {{input}} first.', data: ['final_response', 'input'] },
];
for (const { template, data } of templates) {
  test(`answer_relevance: the template ${JSON.stringify(template)} is the question, and what it names are blocks`, () => {
    const { questions, verdict } = judged(
      { entry: { ...entry, options: { template } }, trace },
      answered({ explanation: 'e', label: 'relevant' }),
    );
    expect(questions[0]?.data).toEqual(
      data.map((title) => ({ title, text: title === 'request' || title === 'input' ? 'And to Rome?' : 'At noon.' })),
    );
    expect(questions[0]?.instruction).toContain(`(block "${data[0] ?? ''}")`);
    expect(verdict).toMatchObject({ kind: 'scored', score: 1 });
  });
}

test('answer_relevance: text of a run is never taken for a placeholder', () => {
  const { questions } = judged(
    {
      entry: { ...entry, options: { template: '{{request}} {{answer}}', scale: 'score' } },
      trace: { ...trace, input: 'What is {{answer}}?' },
    },
    [],
  );
  expect(questions[0]?.data[0]).toEqual({ title: 'request', text: 'What is {{answer}}?' });
  expect(questions[0]?.instruction).toContain('then give a score');
});

for (const { template, problem } of [
  { template: 'Is {{answer}} fine?', problem: 'lacks {{request}}; without both the judge sees no answer to a request' },
  { template: 'Is {{request}} fine?', problem: 'lacks {{answer}}; without both the judge sees no answer to a request' },
  { template: 'Is it fine?', problem: 'lacks {{request}} and {{answer}}; without both the judge sees no answer to a request' },
  {
    template: '{{request}}\n{{answer}} {{anwser}}',
    problem:
      'names {{anwser}}, which is not known; known are request, input, answer, final_response (line 2, character 12 of the template)',
  },
]) {
  test(`answer_relevance: the template ${JSON.stringify(template)} is refused`, () => {
    expect(configuredEvaluator({ use: 'answer_relevance', options: { template } }, evaluators)).toEqual({
      kind: 'faulty',
      faults: [{ path: ['options', 'template'], problem }],
    });
  });
}
