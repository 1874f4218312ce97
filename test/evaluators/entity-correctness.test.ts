import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace, call } from '../builders/agent-trace.ts';
import { judged } from './score.ts';

const entry = { use: 'entity_correctness' };
const trace = agentTrace({
  input: 'Which flight?',
  toolCalls: [call({ name: 'search', result: { flight: 'AF007', price: 120 } })],
  finalResponse: 'You fly with AF007 for 130 EUR on May 3.',
});
const said = (number: number, entity: string, label: string): JsonValue => ({ number, entity, explanation: `because ${number}`, label });
const answered = (entities: JsonValue) => [{ kind: 'answered' as const, value: { entities }, truncated: false }];

const rows: readonly { readonly name: string; readonly entities: JsonValue; readonly want: object }[] = [
  {
    name: 'wrong ones count against right ones',
    entities: [said(1, 'AF007', 'correct'), said(2, '130 EUR', 'incorrect')],
    want: {
      kind: 'scored',
      score: 0.5,
      passed: false,
      explanation: '1 of 2 entities is incorrect: "130 EUR" (because 2).',
      details: {
        correct: 1,
        total: 2,
        entities: [
          { entity: 'AF007', label: 'correct' },
          { entity: '130 EUR', label: 'incorrect' },
        ],
      },
    },
  },
  {
    name: 'case, white space and quotation marks do not matter',
    entities: [said(1, '“may  3.”', 'correct')],
    want: { kind: 'scored', score: 1, passed: true, explanation: 'The entity of the final response is correct.' },
  },
  { name: 'none is nothing to score', entities: [], want: { kind: 'skipped', reason: 'no_such_target', details: { judge_called: true } } },
  {
    name: 'one that the response does not hold is not an answer',
    entities: [said(1, 'Paris', 'correct')],
    want: { kind: 'failed', error: 'judge_answer_invalid: entity 1 is not in the final response word for word' },
  },
  {
    name: 'one without text is not an answer',
    entities: [said(1, '"', 'correct')],
    want: { kind: 'failed', error: 'judge_answer_invalid: entity 1 has no text' },
  },
  {
    name: 'a number twice is not an answer',
    entities: [said(1, 'AF007', 'correct'), said(1, '130', 'correct')],
    want: { kind: 'failed', error: 'judge_answer_invalid: entity 1 has 2 verdicts' },
  },
  {
    name: 'another label is not an answer',
    entities: [said(1, 'AF007', 'yes')],
    want: { kind: 'failed', error: 'judge_answer_invalid: the label of entity 1 is none of correct, incorrect' },
  },
  {
    name: 'more than fifty are not an answer',
    entities: Array.from({ length: 51 }, (_, at) => said(at + 1, 'AF007', 'correct')),
    want: { kind: 'failed', error: 'judge_answer_invalid: more than 50 entities' },
  },
];
for (const { name, entities, want } of rows) {
  test(`entity_correctness: ${name}`, () => {
    const { questions, verdict } = judged({ entry, trace }, answered(entities));
    expect(verdict).toMatchObject(want);
    expect(questions[0]?.check?.({ entities }) === undefined).toBe(verdict.kind !== 'failed');
  });
}

test('entity_correctness: documents and a reference are shown, and are evidence by themselves', () => {
  const titles = judged(
    {
      entry,
      trace: { ...trace, toolCalls: [], documents: [{ content: 'AF007 costs 120' }, { id: 'x' }] },
      expected: { output: { flight: 'AF007' } },
    },
    [],
  ).questions[0]?.data.map(({ title, text }) => [title, text]);
  expect(titles).toEqual([
    ['user input', 'Which flight?'],
    ['steps taken', '(no steps)'],
    ['documents', '1. AF007 costs 120'],
    ['reference', '{"flight":"AF007"}'],
    ['final response', 'You fly with AF007 for 130 EUR on May 3.'],
  ]);
});

const { finalResponse: _response, ...silent } = trace;
for (const { name, run, reason } of [
  { name: 'no response', run: silent, reason: 'no_final_response' },
  { name: 'no call', run: { ...trace, toolCalls: [] }, reason: 'no_tool_calls' },
  { name: 'no calls in the spans', run: { ...trace, toolCalls: [], toolCallsCarried: false }, reason: 'tool_calls_not_carried' },
  { name: 'documents without content', run: { ...trace, toolCalls: [], documents: [{ id: 'x' }] }, reason: 'no_tool_calls' },
  { name: 'no results', run: { ...trace, toolCalls: [call({ result: undefined })] }, reason: 'results_not_carried' },
  {
    name: 'results that were cut',
    run: { ...trace, toolCalls: [call({ result: undefined, truncated: { result: 'a' } })] },
    reason: 'truncated',
  },
]) {
  test(`entity_correctness: ${name} is skipped as ${reason} and asks no judge`, () => {
    expect(judged({ entry, trace: run }, [])).toMatchObject({ questions: [], verdict: { kind: 'skipped', reason } });
  });
}
