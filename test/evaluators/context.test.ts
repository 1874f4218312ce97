import { expect, test } from 'vitest';
import { evaluationContext, patternSourceMax, searchedTextMax } from '../../evaluators/context.ts';
import { schemaTextMax } from '../../evaluators/schemas.ts';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';

const text = (name: string): JsonObject => ({ properties: { [name]: { type: 'string' } } });
const problems = (schema: JsonValue, value: JsonValue) => evaluationContext().schema(schema)?.problems(value)?.map(({ path, keyword }) => `${keyword} ${path.join('.')}`);

test('context: a schema is compiled once, and the least recently used goes', () => {
  const context = evaluationContext({ schemasMax: 2 });
  const first = context.schema(text('a'));
  context.schema(text('b'));
  expect(context.schema(text('a'))).toBe(first);
  context.schema(text('c'));
  expect(context.schema(text('a'))).toBe(first);
  context.schema(text('d'));
  context.schema(text('e'));
  expect(context.schema(text('a'))).not.toBe(first);
});

test('context: a pattern is compiled once and found anywhere', () => {
  const context = evaluationContext();
  expect(context.pattern('b+')).toBe(context.pattern('b+'));
  expect([context.pattern('b+').test('abba'), context.pattern('^b').test('abba')]).toEqual([true, false]);
});

test('context: patterns that no linear-time engine takes are refused, and long ones', () => {
  for (const source of ['(', '(a)\\1', 'x'.repeat(patternSourceMax + 1)]) expect(() => evaluationContext().pattern(source)).toThrow();
});

test('context: a text is searched up to its limit', () => {
  const { test: found } = evaluationContext().pattern('b');
  expect([found(`${'a'.repeat(searchedTextMax - 1)}b`), found(`${'a'.repeat(searchedTextMax)}b`)]).toEqual([true, false]);
});

test('context: a schema above the size limit is not compiled', () => {
  const padded = (length: number): JsonObject => ({ description: 'x'.repeat(length - '{"description":""}'.length) });
  expect(evaluationContext().schema(padded(schemaTextMax))).toBeDefined();
  expect(evaluationContext().schema(padded(schemaTextMax + 1))).toBeUndefined();
});

const dropped: readonly { readonly name: string; readonly schema: JsonObject; readonly value: JsonValue; readonly faults: number }[] = [
  { name: 'required that is no list', schema: { required: true }, value: {}, faults: 1 },
  { name: 'an enumeration that is no list', schema: { properties: { a: { enum: 'x' } } }, value: { a: 'y' }, faults: 1 },
  { name: 'null keywords', schema: { properties: null, minProperties: null }, value: {}, faults: 2 },
  { name: 'a property that is no schema', schema: { properties: { a: 'text' }, additionalProperties: false }, value: { a: 1 }, faults: 1 },
  { name: 'a reference to another machine', schema: { properties: { a: { $ref: 'https://example.org/a.json' } } }, value: { a: 1 }, faults: 1 },
  { name: 'a reference that leads nowhere', schema: { properties: { a: { $ref: '#/$defs/none' } } }, value: { a: 1 }, faults: 1 },
  { name: 'a pattern that looks around', schema: { properties: { a: { pattern: '(a)\\1' } } }, value: { a: 'b' }, faults: 1 },
  { name: 'a type of no JSON schema', schema: { properties: { a: { type: 'date' } } }, value: { a: 5 }, faults: 1 },
  { name: 'nothing of a schema with an identifier of its own', schema: { $id: 'https://example.org/x', $schema: 'https://example.org/y', format: 'strange' }, value: {}, faults: 0 },
];
for (const { name, schema, value, faults } of dropped) {
  test(`context: of a schema ${name} is dropped and noted`, () => {
    const compiled = evaluationContext().schema(schema);
    expect({ faults: compiled?.faults.length, problems: compiled?.problems(value) }).toEqual({ faults, problems: [] });
  });
}

test('context: what is left of a faulty schema still counts', () => {
  expect(problems({ required: true, properties: { a: { type: 'STRING', enum: 5 } } }, { a: 1 })).toEqual(['type a']);
});

test('context: two schemas with one identifier do not meet', () => {
  const context = evaluationContext();
  const [one, other] = [{ $id: 'x', type: 'object' }, { $id: 'x', type: 'array' }].map((schema) => context.schema(schema)?.problems({}));
  expect([one?.length, other?.length]).toEqual([0, 1]);
});

test('context: lists of items in the older form, recursion and exact enumerations are understood', () => {
  expect(problems({ properties: { a: { items: [{ type: 'string' }] } } }, { a: [1] })).toEqual(['type a.0']);
  const tree = { type: 'object', properties: { children: { type: 'array', items: { $ref: '#' } } }, required: ['name'] };
  expect(problems(tree, { name: 'a', children: [{ children: [] }] })).toEqual(['required children.0.name']);
  expect(problems({ properties: { a: { enum: [{ x: 1 }] } } }, { a: { x: 1.0 } })).toEqual([]);
});

test('context: a schema that recurses without end, or doubles with each level, is given up', () => {
  const both = { anyOf: [{ $ref: '#' }, { $ref: '#' }] };
  let deep: JsonValue = 1;
  for (let level = 0; level < 60; level++) deep = { a: deep };
  expect(evaluationContext().schema({ $ref: '#' })?.problems({})).toBeUndefined();
  expect(evaluationContext().schema({ type: 'object', properties: { a: both } })?.problems(deep)).toBeUndefined();
});
