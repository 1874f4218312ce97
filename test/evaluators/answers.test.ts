import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readAnswer } from '../../evaluators/answers.ts';
import type { JsonValue } from '../../src/model/json.ts';

const list = {
  type: 'object',
  required: ['tasks'],
  properties: { tasks: { type: 'array', items: { type: 'object', required: ['explanation', 'completed'], properties: { explanation: { type: 'string' }, completed: { type: 'boolean' } } } } },
} as const;
const label = { type: 'object', required: ['explanation', 'label'], properties: { explanation: { type: 'string' }, label: { enum: ['correct', 'incorrect'] } } } as const;
const rating = { type: 'object', required: ['score'], properties: { score: { type: 'number', minimum: 0, maximum: 1 } } } as const;
const steps = { type: 'object', required: ['score'], properties: { score: { type: 'number', enum: [0, 0.5, 1] } } } as const;
const yes = { tasks: [{ explanation: 'e', completed: true }] };
const text = JSON.stringify(yes);

const read: readonly { readonly name: string; readonly text: string; readonly schema?: typeof label | typeof rating | typeof steps; readonly value: JsonValue }[] = [
  { name: 'plain JSON', text, value: yes },
  { name: 'a fenced block after prose', text: `Sure [as asked]:\n\`\`\`json\n${text}\n\`\`\`\nBye.`, value: yes },
  { name: 'prose around it', text: `Here: ${text} done.`, value: yes },
  { name: 'a balanced bracket in the prose before it', text: `Looking at [the call]: ${text}`, value: yes },
  { name: 'JSON in the prose that does not fit', text: `Tasks [1]: ${text}`, value: yes },
  { name: 'a comma before a closing bracket', text: '{"tasks":[{"explanation":"e","completed":true,},]}', value: yes },
  { name: 'single quotes, bare keys and comments', text: "{tasks: [/* first */ {'explanation': 'e', 'completed': True}]}", value: yes },
  { name: 'a bare list', text: '[{"explanation":"e","completed":true}]', value: yes },
  { name: 'a single entry', text: '{"explanation":"e","completed":true}', value: yes },
  { name: 'another name for the list', text: '{"verdicts":[{"explanation":"e","completed":true}]}', value: { ...yes, verdicts: [{ explanation: 'e', completed: true }] } },
  { name: 'true written as a text', text: '{"tasks":[{"explanation":"e","completed":" True "}]}', value: yes },
  { name: 'a raw line break in a text', text: '{"tasks":[{"explanation":"a\nb","completed":1}]}', value: { tasks: [{ explanation: 'a\nb', completed: true }] } },
  { name: 'a label in another case', text: '{"explanation":"e","label":" Correct"}', schema: label, value: { explanation: 'e', label: 'correct' } },
  { name: 'a score written as text', text: '{"score":"0.5"}', schema: rating, value: { score: 0.5 } },
  { name: 'one of a few scores, written as text', text: '{"score":"0.50"}', schema: steps, value: { score: 0.5 } },
  { name: 'brackets and quotes inside texts', text: '{"tasks":[{"explanation":"it\'s \\"{[\\" here","completed":true}]}', value: { tasks: [{ explanation: 'it\'s "{[" here', completed: true }] } },
];
for (const row of read) {
  test(`answers: ${row.name} can be read`, () => {
    expect(readAnswer(row.text, row.schema ?? list)).toEqual({ kind: 'answered', value: row.value });
  });
}

const refused: readonly { readonly name: string; readonly text: string; readonly schema?: typeof label | typeof rating | typeof steps }[] = [
  { name: 'an empty answer', text: ' \n' },
  { name: 'prose alone', text: 'They did fine.' },
  { name: 'null', text: 'null' },
  { name: 'an answer that is cut off', text: '{"tasks":[{"explanation":"e","completed":true}' },
  { name: 'a fence that is cut off', text: '```json\n{"tasks":[' },
  { name: 'an object without the list', text: '{"result":[]}' },
  { name: 'a list of texts', text: '["yes"]' },
  { name: 'an object where the list should be', text: '{"tasks":{"a":true}}' },
  { name: 'a label that is not one of them', text: '{"explanation":"e","label":"perhaps"}', schema: label },
  { name: 'a label without an explanation', text: '{"label":"correct"}', schema: label },
  { name: 'a score out of range', text: '{"score":7}', schema: rating },
  { name: 'a score that is none of a few', text: '{"score":0.7}', schema: steps },
  { name: 'a text that is none of a few scores', text: '{"score":" "}', schema: steps },
  { name: 'a score that is a truth value', text: '{"score":true}', schema: rating },
  { name: 'a score that is no number', text: '{"score":NaN}', schema: rating },
];
for (const row of refused) {
  test(`answers: ${row.name} is no verdict`, () => {
    expect(readAnswer(row.text, row.schema ?? list).kind).toBe('failed');
  });
}

test('answers: a member that an entry lacks is a fault, not a failure', () => {
  expect(readAnswer('{"tasks":[{"completed":true}]}', list)).toEqual({ kind: 'answered', value: { tasks: [{ completed: true }] }, fault: 'tasks[0] has no explanation' });
});

test('answers: the question’s own check is a fault too', () => {
  expect(readAnswer(text, list, () => 'task 2 has no verdict')).toMatchObject({ kind: 'answered', fault: 'task 2 has no verdict' });
});

test('answers: any text gives an answer or a reason, and never an exception', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.json(), fc.string({ unit: fc.constantFrom('{', '}', '[', ']', '"', "'", '\\', ',', ':', 'a', '/', '*', '`', ' ') })), (any) => {
      expect(['answered', 'failed']).toContain(readAnswer(any, list).kind);
    }),
  );
});

test('answers: of several verdicts those that are there can be used, and one that is missing is a fault', () => {
  const checks = { type: 'object', required: ['explanation', 'clear', 'short'], properties: { explanation: { type: 'string' }, clear: { type: 'boolean' }, short: { type: 'boolean' } } };
  expect(readAnswer('{"clear": 1}', checks)).toEqual({ kind: 'answered', value: { clear: true }, fault: 'the answer has no explanation' });
  expect(readAnswer('{"explanation": "e", "clear": true, "short": "perhaps"}', checks)).toMatchObject({ kind: 'answered', value: { clear: true }, fault: 'short is neither true nor false' });
  expect(readAnswer('{"explanation": "e"}', checks).kind).toBe('failed');
});
