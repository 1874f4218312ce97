import { expect, test } from 'vitest';
import { collectors } from '../../../collectors/index.ts';
import type { Span } from '../../../src/model/span.ts';
import { conversationOf, repeatedMessages } from '../../../src/pipeline/reporting/conversation.ts';
import { type ReadSpan, spanReadings } from '../../../src/pipeline/reporting/span-readings.ts';
import { runSteps } from '../../../src/runtime/cooperative.ts';
import { assistant, modelSpan, toolMessage, user } from '../../builders/gen-ai-spans.ts';

function read(spans: readonly Span[]): readonly ReadSpan[] {
  return runSteps(spanReadings({ spans, records: [] }, collectors));
}

function conversation(spans: readonly Span[]): readonly string[] {
  return conversationOf(read(spans)).map(({ message: { role, text, requested, results }, isAnswer }) =>
    [
      isAnswer ? 'answer' : role,
      text,
      ...requested.map(({ name }) => `calls ${name}`),
      ...results.map(({ result }) => `result ${JSON.stringify(result)}`),
    ]
      .filter((part) => part !== undefined)
      .join(' '),
  );
}

const asks = [{ id: 'c1', name: 'find', arguments: { id: 'A-1' } }];
const told = [{ id: 'c1', response: 'depot' }];

test('each message stands once, where the conversation first has it', () => {
  const spans = [
    modelSpan({ id: 1, start: 0, end: 1, user: 'Where is it?', asks }),
    modelSpan({ id: 2, start: 2, end: 3, user: 'Where is it?', history: [assistant({ asks })], told, says: 'At the depot.' }),
    modelSpan({
      id: 3,
      start: 4,
      end: 5,
      user: 'Where is it?',
      history: [assistant({ asks }), toolMessage(told), assistant({ text: 'At the depot.' }), user('Thanks')],
      says: 'You are welcome.',
    }),
  ];
  expect(conversation(spans)).toEqual([
    'user Where is it?',
    'answer calls find',
    'tool result "depot"',
    'answer At the depot.',
    'user Thanks',
    'answer You are welcome.',
  ]);
});

test('a message that one request has twice stands twice', () => {
  const spans = [
    modelSpan({ id: 1, start: 0, end: 1, user: 'Yes', says: 'Sure?' }),
    modelSpan({ id: 2, start: 2, end: 3, user: 'Yes', history: [assistant({ text: 'Sure?' }), user('Yes')], says: 'Done.' }),
  ];
  expect(conversation(spans)).toEqual(['user Yes', 'answer Sure?', 'user Yes', 'answer Done.']);
});

test('a request that dropped the beginning of the conversation adds nothing old', () => {
  const spans = [
    modelSpan({ id: 1, start: 0, end: 1, user: 'One', says: 'First.' }),
    modelSpan({ id: 2, start: 2, end: 3, history: [assistant({ text: 'First.' }), user('Two')], says: 'Second.' }),
  ];
  expect(conversation(spans)).toEqual(['user One', 'answer First.', 'user Two', 'answer Second.']);
});

test('the same answer of two requests stands twice, and once for one request that two spans report', () => {
  const apart = [modelSpan({ id: 1, start: 0, end: 1, says: 'OK' }), modelSpan({ id: 2, start: 2, end: 3, says: 'OK' })];
  const nested = [modelSpan({ id: 1, start: 0, end: 10, says: 'OK' }), modelSpan({ id: 2, parent: 1, start: 2, end: 3, says: 'OK' })];
  expect([conversation(apart), conversation(nested)]).toEqual([['answer OK', 'answer OK'], ['answer OK']]);
});

test('the leading messages that the call before had are counted', () => {
  const [one, two] = read([
    modelSpan({ id: 1, start: 0, end: 1, user: 'One', says: 'First.' }),
    modelSpan({ id: 2, start: 2, end: 3, user: 'One', history: [assistant({ text: 'First.' }), user('Two')], says: 'Second.' }),
  ]).map(({ reading: { facts } }) => facts);
  const before = [...(one?.inputMessages ?? []), ...(one?.outputMessages ?? [])];
  expect([repeatedMessages(two?.inputMessages ?? [], before), repeatedMessages(two?.inputMessages ?? [], [])]).toEqual([2, 0]);
});
