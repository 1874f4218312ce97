import fc from 'fast-check';
import { expect, test } from 'vitest';
import { matchedLeaves, similarity, similarityDefaults } from '../../../evaluators/matching/similarity.ts';
import type { SimilarityOptions } from '../../../evaluators/matching/similarity.ts';
import type { JsonValue } from '../../../src/model/json.ts';

const json = fc.jsonValue({ maxDepth: 3 }).map((value) => value as JsonValue);

const rows: readonly {
  readonly name: string;
  readonly expected: JsonValue;
  readonly actual: JsonValue;
  readonly options?: Partial<SimilarityOptions>;
  readonly want: readonly [number, number];
}[] = [
  { name: 'every leaf counts once', expected: { a: 1, b: { c: 'x', d: true } }, actual: { a: 1, b: { c: 'x', d: false } }, want: [2, 3] },
  { name: 'numbers count by nearness', expected: 10, actual: 9, want: [0.9, 1] },
  { name: 'a number far away counts nothing', expected: 1, actual: 100, want: [0, 1] },
  { name: 'zero is near zero only', expected: 0, actual: 0.1, want: [0, 1] },
  { name: 'texts count by edits', expected: 'abcd', actual: 'abcx', want: [0.75, 1] },
  { name: 'texts may have to be equal', expected: 'abcd', actual: 'abcx', options: { text: 'exact' }, want: [0, 1] },
  { name: 'another type loses all leaves of the expected side', expected: { a: [1, 2] }, actual: { a: 1 }, want: [0, 2] },
  { name: 'an empty object has no leaves', expected: {}, actual: 3, want: [0, 0] },
  { name: 'extras are free', expected: [1], actual: [1, 2], want: [1, 1] },
  { name: 'extras may count', expected: { a: [1] }, actual: { a: [1, 2], b: { c: 3 } }, options: { countExtra: true }, want: [1, 3] },
  { name: 'lists go by position', expected: [1, 'x'], actual: ['x', 1], want: [0, 2] },
  { name: 'lists may go by the best pairs', expected: [1, 'x'], actual: ['x', 1], options: { listMatch: 'best' }, want: [2, 2] },
  { name: 'a text beside an object is read', expected: { a: 1 }, actual: '{"a": 1}', want: [1, 1] },
  { name: 'an inherited name is not a member', expected: { constructor: 1 }, actual: {}, want: [0, 1] },
];
for (const { name, expected, actual, options, want } of rows) {
  test(`similarity: ${name}`, () => {
    const { matched, total } = matchedLeaves(expected, actual, { ...similarityDefaults, ...options });
    expect([matched, total]).toEqual([expect.closeTo(want[0], 12), want[1]]);
  });
}

test('similarity: a value is fully similar to itself, and any other is between 0 and 1', () => {
  fc.assert(fc.property(json, json, (a, b) => similarity(a, a) === 1 && similarity(a, b) >= 0 && similarity(a, b) <= 1));
});

test('similarity: the best pairs match at least what positions match', () => {
  const list = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 6 });
  fc.assert(
    fc.property(
      list,
      list,
      (a, b) => matchedLeaves(a, b, { ...similarityDefaults, listMatch: 'best' }).matched >= matchedLeaves(a, b).matched - 1e-9,
    ),
  );
});
