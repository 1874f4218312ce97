import { describe, expect, test } from 'vitest';
import { additionTexts, datasetNameFault, placeOf, presentText, tagsOf } from '../../../src/console/parts/dataset-additions.ts';

const nothing = { version: 1, added: 0, changed: 0, changed_reviewed: 0, unchanged: 0, left_out: [] };

test.each([
  ['', []],
  [' , ,', []],
  ['refund', ['refund']],
  ['refund,  two words ,refund', ['refund', 'two words']],
])('tagsOf(%j) is %j', (text, want) => expect(tagsOf(text)).toEqual(want));

test.each([
  [{ split: ' ', tags: ',' }, {}],
  [{ split: ' test ', tags: '' }, { split: 'test' }],
  [{ split: '', tags: 'a, b' }, { tags: ['a', 'b'] }],
])('placeOf(%j) is %j', (fields, want) => expect(placeOf(fields)).toEqual(want));

test.each([
  ['failures', undefined],
  ['a.b_c-1', undefined],
  ['x'.repeat(100), undefined],
  ['', 'Choose a dataset'],
  ['x'.repeat(101), 'at most 100'],
  ['two words', 'letters, digits'],
  ['a/b', 'letters, digits'],
  ['..', 'more than dots'],
])('datasetNameFault(%j) names %j', (name, want) => {
  const fault = datasetNameFault(name);
  if (want === undefined) expect(fault).toBeUndefined();
  else expect(fault).toContain(want);
});

test.each([
  [[0, 0, 0], false, ''],
  [[2, 0, 0], false, ' The dataset has 2 of their ids already, with the same content.'],
  [[3, 2, 1], true, ' The dataset has 3 of their ids already: these examples stay unchanged.'],
  [[3, 2, 0], false, ' The dataset has 3 of their ids already: the import replaces 2 of these examples.'],
  [[3, 2, 1], false, ' The dataset has 3 of their ids already: the import replaces 2 of these examples, and 1 of them is reviewed.'],
  [[9, 8, 7], false, ' The dataset has 9 of their ids already: the import replaces 8 of these examples, and 7 of them are reviewed.'],
] as const)('presentText of %j, keeping them: %j', ([present, differing, reviewed], keeps, want) =>
  expect(presentText({ present, present_differing: differing, present_reviewed: reviewed }, keeps)).toBe(want),
);

describe('additionTexts', () => {
  test('sums the requests', () => {
    expect(
      additionTexts([
        { ...nothing, added: 2 },
        { ...nothing, added: 1, changed: 1, unchanged: 4 },
      ]),
    ).toEqual(['3 examples are added.', '1 example is brought up to date.', '4 examples are in the dataset already.']);
  });

  test('shows how many of the replaced examples were reviewed', () => {
    expect(additionTexts([{ ...nothing, changed: 1, changed_reviewed: 1 }])).toEqual([
      '1 example is brought up to date, 1 of them reviewed.',
    ]);
    expect(
      additionTexts([
        { ...nothing, changed: 4, changed_reviewed: 1 },
        { ...nothing, changed: 3, changed_reviewed: 2 },
      ]),
    ).toEqual(['7 examples are brought up to date, 3 of them reviewed.']);
  });

  test('shows for each reason how many runs are left out', () => {
    const texts = additionTexts([
      {
        ...nothing,
        left_out: [
          { id: 'a', reason: 'kept' },
          { id: 'b', reason: 'kept' },
        ],
        no_example: [{ reason: 'no_content' }],
      },
    ]);
    expect(texts).toEqual([
      '2 runs left out: the example is reviewed already, and stays unchanged.',
      '1 run left out: the store has no texts of the run.',
    ]);
  });

  test('shows an unknown reason as the API gives it', () => {
    expect(additionTexts([{ ...nothing, left_out: [{ id: 'a', reason: 'new_reason' }] }])).toEqual(['1 run left out: new reason.']);
  });
});
