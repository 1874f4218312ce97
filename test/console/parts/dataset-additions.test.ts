import { describe, expect, test } from 'vitest';
import { additionTexts, datasetNameFault, placeOf, tagsOf } from '../../../src/console/parts/dataset-additions.ts';

const nothing = { version: 1, added: 0, changed: 0, unchanged: 0, left_out: [] };

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

describe('additionTexts', () => {
  test('sums the requests', () => {
    expect(
      additionTexts([
        { ...nothing, added: 2 },
        { ...nothing, added: 1, changed: 1, unchanged: 4 },
      ]),
    ).toEqual(['3 examples are added.', '1 example is brought up to date.', '4 examples are in the dataset already.']);
  });

  test('says for each reason how many runs are left out', () => {
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
      '2 runs left out: the example is reviewed already, and stays as it is.',
      '1 run left out: the store has no texts of the run.',
    ]);
  });

  test('says a reason that it does not know as the API does', () => {
    expect(additionTexts([{ ...nothing, left_out: [{ id: 'a', reason: 'new_reason' }] }])).toEqual(['1 run left out: new reason.']);
  });
});
