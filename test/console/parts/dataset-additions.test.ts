import { describe, expect, test } from 'vitest';
import { additionRequests, additionTexts, datasetNameFault, tagsOf } from '../../../src/console/parts/dataset-additions.ts';

const run = (number: number, tenant = '') => ({ tenant, trace_id: `t${number}`, span_id: `s${number}` });
const nothing = { version: 1, added: 0, changed: 0, unchanged: 0, left_out: [] };

describe('additionRequests', () => {
  test('has no request for no run', () => expect(additionRequests([])).toEqual([]));

  test('sends the runs of each tenant apart, and keeps their order', () => {
    expect(additionRequests([run(1), run(2, 'b'), run(3)])).toEqual([
      {
        tenant: '',
        runs: [
          { trace_id: 't1', span_id: 's1' },
          { trace_id: 't3', span_id: 's3' },
        ],
      },
      { tenant: 'b', runs: [{ trace_id: 't2', span_id: 's2' }] },
    ]);
  });

  test.each([
    [200, [200]],
    [201, [200, 1]],
    [450, [200, 200, 50]],
  ])('divides %i runs into requests of %j', (count, sizes) => {
    const requests = additionRequests(Array.from({ length: count }, (_, at) => run(at)));
    expect(requests.map(({ runs }) => runs.length)).toEqual(sizes);
    expect(new Set(requests.flatMap(({ runs }) => runs.map(({ trace_id: id }) => id))).size).toBe(count);
  });
});

test.each([
  ['', []],
  [' , ,', []],
  ['refund', ['refund']],
  ['refund,  two words ,refund', ['refund', 'two words']],
])('tagsOf(%j) is %j', (text, want) => expect(tagsOf(text)).toEqual(want));

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
