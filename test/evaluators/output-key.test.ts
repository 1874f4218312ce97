import { expect, test } from 'vitest';
import { picked, pickedExpectation } from '../../evaluators/output-key.ts';
import type { OutputKey } from '../../evaluators/output-key.ts';
import { parseJson } from '../../src/model/json.ts';
import type { JsonValue } from '../../src/model/json.ts';

const rows: readonly { readonly name: string; readonly value: JsonValue; readonly key: OutputKey; readonly want: JsonValue | undefined; readonly missing?: readonly string[] }[] = [
  { name: 'a star is the whole', value: { '*': 1 }, key: '*', want: { '*': 1 } },
  { name: 'a path goes through objects and lists', value: { a: { b: [{ c: 1 }, { c: 2 }] } }, key: 'a.b[1].c', want: 2 },
  { name: 'the literal key wins', value: { 'a.b': 1, a: { b: 2 } }, key: 'a.b', want: 1 },
  { name: 'a text that holds JSON is read', value: '```json\n{"a": [5]}\n```', key: 'a[0]', want: 5 },
  { name: 'null is a value', value: { a: null }, key: 'a', want: null },
  { name: 'an inherited name is no member', value: {}, key: 'constructor', want: undefined, missing: ['constructor'] },
  { name: 'an index beyond the list is missing', value: { a: [1] }, key: 'a[1]', want: undefined, missing: ['a[1]'] },
  { name: 'several paths give those that are there', value: { a: 1, b: { c: 2 } }, key: ['a', 'b.c', 'd'], want: { a: 1, 'b.c': 2 }, missing: ['d'] },
  { name: 'a member named __proto__ is found', value: parseJson('{"__proto__": 3}') ?? null, key: '__proto__', want: 3 },
];
for (const { name, value, key, want, missing = [] } of rows) {
  test(`output-key: ${name}`, () => {
    expect(picked(value, key)).toEqual({ value: want, missing });
  });
}

test('output-key: with one path an expected value that is no object stands for itself, and an object must have the path', () => {
  expect([pickedExpectation('yes', 'a'), pickedExpectation('{"a": "yes"}', 'a'), pickedExpectation({ b: 1 }, 'a'), pickedExpectation('yes', ['a'])]).toEqual(['yes', 'yes', undefined, undefined]);
});
