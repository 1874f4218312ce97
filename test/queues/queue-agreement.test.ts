import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import type { AnsweredItem } from '../../src/model/store/queue-store.ts';
import type { QueueQuestion } from '../../src/queues/question.ts';
import { queueAgreement } from '../../src/queues/queue-agreement.ts';

const questions: readonly QueueQuestion[] = [
  { kind: 'label', name: 'tone', values: ['good', 'bad'] },
  { kind: 'score', name: 'helpful', min: 1, max: 5 },
  { kind: 'text', name: 'why' },
];

function item(id: number, answers: { readonly [person: string]: JsonObject }): AnsweredItem {
  return { item: id, answers: Object.entries(answers).map(([person, values]) => ({ person, values })) };
}

test('queueAgreement: by question, over all people and by pair', () => {
  const [tone, helpful, ...more] = queueAgreement(questions, [
    item(1, { ann: { tone: 'good', helpful: 1 }, bob: { tone: 'good', helpful: 2 } }),
    item(2, { ann: { tone: 'bad', helpful: 3 }, bob: { tone: 'good', helpful: 3 } }),
    item(3, { ann: { tone: 'bad', helpful: 5 }, cid: { tone: 'bad', helpful: 1 } }),
    item(4, { ann: { tone: 'good', helpful: 5 }, bob: { tone: 'good', helpful: 5 }, cid: { tone: 'bad', helpful: 5 } }),
  ]);
  expect(more).toEqual([]);
  // One of three pairs of item 4 agrees.
  expect(tone).toMatchObject({ name: 'tone', items: 4, answers: 9, people: 3, difference: undefined, fleiss: { kind: 'estimated', n: 4 } });
  expect(tone?.share).toBeCloseTo((1 + 0 + 1 + 1 / 3) / 4, 10);
  expect(tone?.cohen?.pairs.map(({ people, items }) => [people, items])).toEqual([
    [['ann', 'bob'], 3],
    [['ann', 'cid'], 2],
    [['bob', 'cid'], 1],
  ]);
  expect(helpful).toMatchObject({ name: 'helpful', items: 4, fleiss: undefined, cohen: undefined });
  expect(helpful?.difference).toBeCloseTo((1 + 0 + 4 + 0) / 4, 10);
  expect(helpful?.share).toBeCloseTo(0.5, 10);
});

test('queueAgreement: answers to a question that the queue has no more, or not yet, are left out', () => {
  const [tone] = queueAgreement(questions, [item(1, { ann: { other: 'x' }, bob: { tone: 'good' } }), item(2, { ann: { tone: 'good' } })]);
  expect(tone).toMatchObject({ items: 0, answers: 0, share: undefined, fleiss: { kind: 'not_estimable', reason: 'no_observations' } });
});
