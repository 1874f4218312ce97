import { expect, test } from 'vitest';
import { queueAdditionTexts } from '../../../../src/console/parts/queue/queue-additions.ts';

const items = (...outcomes: readonly string[]) => ({ items: outcomes.map((outcome) => ({ outcome })) });

test.each([
  [[], []],
  [[items('added')], ['1 run is added.']],
  [
    [items('known', 'added', 'added'), items('added', 'known')],
    ['3 runs are added.', '2 runs are in the queue already.'],
  ],
  [
    [items('not_stored', 'full', 'full', 'reopened')],
    [
      '1 run is opened again: the item was skipped, or its time had passed.',
      '2 runs left out: the queue is full.',
      '1 run left out: the run is not stored any more.',
    ],
  ],
  [[items('new_reason')], ['1 run left out: new reason.']],
])('queueAdditionTexts(%j) is %j', (additions, want) => expect(queueAdditionTexts(additions)).toEqual(want));
