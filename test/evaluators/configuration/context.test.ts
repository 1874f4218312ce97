import { expect, test } from 'vitest';
import { configuredEvaluator } from '../../../evaluators/configuration/configured.ts';
import { evaluationContext, patternSourceMax, searchedTextMax } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { patternSize, patternSizeMax } from '../../../evaluators/schema/pattern-size.ts';
import { schemaTextMax } from '../../../evaluators/schema/check.ts';
import type { ToolDefinition } from '../../../src/model/agent-trace.ts';
import type { JsonObject, JsonValue } from '../../../src/model/json.ts';
import { agentTrace } from '../../builders/agent-trace.ts';

const text = (name: string): JsonObject => ({ properties: { [name]: { type: 'string' } } });
const problems = (schema: JsonValue, value: JsonValue) =>
  evaluationContext()
    .schema(schema)
    ?.problems(value)
    ?.map(({ path, keyword }) => `${keyword} ${path.join('.')}`);

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
  { name: 'required that is not a list', schema: { required: true }, value: {}, faults: 1 },
  { name: 'an enumeration that is not a list', schema: { properties: { a: { enum: 'x' } } }, value: { a: 'y' }, faults: 1 },
  { name: 'null keywords', schema: { properties: null, minProperties: null }, value: {}, faults: 2 },
  {
    name: 'a property that is not a schema',
    schema: { properties: { a: 'text' }, additionalProperties: false },
    value: { a: 1 },
    faults: 1,
  },
  {
    name: 'a reference to another machine',
    schema: { properties: { a: { $ref: 'https://example.org/a.json' } } },
    value: { a: 1 },
    faults: 1,
  },
  { name: 'a reference that leads nowhere', schema: { properties: { a: { $ref: '#/$defs/none' } } }, value: { a: 1 }, faults: 1 },
  { name: 'a pattern that looks around', schema: { properties: { a: { pattern: '(a)\\1' } } }, value: { a: 'b' }, faults: 1 },
  { name: 'a type of no JSON schema', schema: { properties: { a: { type: 'date' } } }, value: { a: 5 }, faults: 1 },
  {
    name: 'nothing of a schema with its own identifier',
    schema: { $id: 'https://example.org/x', $schema: 'https://example.org/y', format: 'strange' },
    value: {},
    faults: 0,
  },
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
  const [one, other] = [
    { $id: 'x', type: 'object' },
    { $id: 'x', type: 'array' },
  ].map((schema) => context.schema(schema)?.problems({}));
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
  expect(
    evaluationContext()
      .schema({ type: 'object', properties: { a: both } })
      ?.problems(deep),
  ).toBeUndefined();
});

const keywords: readonly {
  readonly keyword: string;
  readonly schema: JsonObject;
  readonly good: JsonValue;
  readonly bad: JsonValue;
  readonly problem: string;
}[] = [
  { keyword: 'dependencies', schema: { dependencies: { a: ['b'] } }, good: { a: 1, b: 1 }, bad: { a: 1 }, problem: 'dependencies b' },
  { keyword: 'dependentRequired', schema: { dependentRequired: { a: ['b'] } }, good: {}, bad: { a: 1 }, problem: 'dependentRequired b' },
  { keyword: 'const', schema: { properties: { a: { const: 1 } } }, good: { a: 1 }, bad: { a: true }, problem: 'const a' },
  {
    keyword: 'multipleOf',
    schema: { properties: { a: { multipleOf: 0.1 } } },
    good: { a: 0.3 },
    bad: { a: 0.35 },
    problem: 'multipleOf a',
  },
  {
    keyword: 'minLength',
    schema: { properties: { a: { minLength: 2 } } },
    good: { a: 'ab' },
    bad: { a: '\u{1F600}' },
    problem: 'minLength a',
  },
  { keyword: 'maxItems', schema: { properties: { a: { maxItems: 1 } } }, good: { a: [1] }, bad: { a: [1, 2] }, problem: 'maxItems a' },
  {
    keyword: 'uniqueItems',
    schema: { properties: { a: { uniqueItems: true } } },
    good: { a: [1, 2] },
    bad: { a: [1, 1] },
    problem: 'uniqueItems a',
  },
  {
    keyword: 'exclusiveMaximum',
    schema: { properties: { a: { exclusiveMaximum: 2 } } },
    good: { a: 1.9 },
    bad: { a: 2 },
    problem: 'exclusiveMaximum a',
  },
  {
    keyword: 'patternProperties',
    schema: { patternProperties: { '^x': { type: 'string' } } },
    good: { x1: 'a', y: 1 },
    bad: { x1: 1 },
    problem: 'type x1',
  },
  {
    keyword: 'prefixItems',
    schema: { properties: { a: { prefixItems: [{ type: 'string' }] } } },
    good: { a: ['x', 1] },
    bad: { a: [1] },
    problem: 'type a.0',
  },
  {
    keyword: 'contains',
    schema: { properties: { a: { contains: { type: 'string' } } } },
    good: { a: [1, 'x'] },
    bad: { a: [] },
    problem: 'contains a',
  },
  {
    keyword: 'minContains',
    schema: { properties: { a: { contains: { type: 'string' }, minContains: 2 } } },
    good: { a: ['x', 'y'] },
    bad: { a: ['x', 1] },
    problem: 'type a.1, contains a',
  },
  {
    keyword: 'minContains of none',
    schema: { properties: { a: { contains: { type: 'string' }, minContains: 0, maxContains: 1 } } },
    good: { a: [] },
    bad: { a: ['x', 'y'] },
    problem: 'contains a',
  },
  {
    keyword: 'contains under not',
    schema: { properties: { a: { not: { contains: { type: 'string' } } } } },
    good: { a: [1] },
    bad: { a: ['x'] },
    problem: 'not a',
  },
  {
    keyword: 'unevaluatedItems',
    schema: {
      properties: {
        a: { oneOf: [{ prefixItems: [{ type: 'string' }] }, { prefixItems: [{ type: 'number' }, true] }], unevaluatedItems: false },
      },
    },
    good: { a: [1, 2] },
    bad: { a: ['x', 2] },
    problem: 'unevaluatedItems a',
  },
  {
    keyword: 'unevaluatedProperties',
    schema: { allOf: [{ properties: { a: {} } }], unevaluatedProperties: { type: 'string' } },
    good: { a: 1, b: 'x' },
    bad: { a: 1, b: 2 },
    problem: 'type b',
  },
  { keyword: 'not', schema: { properties: { a: { not: { type: 'null' } } } }, good: { a: 1 }, bad: { a: null }, problem: 'not a' },
  {
    keyword: 'if and then',
    schema: { if: { required: ['a'] }, then: { required: ['b'] } },
    good: { c: 1 },
    bad: { a: 1 },
    problem: 'required b',
  },
  {
    keyword: 'an exclusive minimum of the older form',
    schema: { properties: { a: { minimum: 1, exclusiveMinimum: true } } },
    good: { a: 1 },
    bad: { a: 0 },
    problem: 'minimum a',
  },
];
for (const { keyword, schema, good, bad, problem } of keywords) {
  test(`context: ${keyword} admits what it admits, and what it refuses is named`, () => {
    expect({ good: problems(schema, good), bad: problems(schema, bad) }).toEqual({ good: [], bad: problem.split(', ') });
  });
}

const sizes: readonly (readonly [source: string, size: number])[] = [
  ['abc', 3],
  ['a{9}', 9],
  ['(a{9}){9}', 99],
  ['(ab|c){2,}', 12],
  ['[a-z]{1,3}', 3],
  ['a{2}{3}', 6],
  ['\\{5}', 3],
  ['[]{9}]', 1],
  ['a{,9}', 5],
  ['\\p{L}', 13],
];
for (const [source, size] of sizes) {
  test(`context: the pattern ${source} written out has ${size} parts at most`, () => {
    expect(patternSize(source)).toBe(size);
  });
}

test('context: a pattern of a schema that grows beyond measure is dropped and noted, and another one counts', () => {
  const wide = '(a{1,30}){1,30}'.repeat(3);
  expect(patternSize(wide)).toBeGreaterThan(patternSizeMax);
  const compiled = evaluationContext().schema({ properties: { a: { pattern: wide }, b: { pattern: '^b' } } });
  expect({ faults: compiled?.faults, problems: compiled?.problems({ a: 'x', b: 'x' })?.map(({ path }) => path.join('.')) }).toEqual({
    faults: ['/properties/a/pattern is a pattern beyond the limits'],
    problems: ['b'],
  });
});

test('context: an alternative that two branches take is one problem, even if a third one lacks more', () => {
  const oneOf = [{ type: 'object' }, { required: ['a'] }, { required: ['b'] }];
  expect(problems({ oneOf }, { a: 1 })).toEqual(['oneOf ']);
});

test('context: an enumeration distinguishes long ids', () => {
  const schema = { properties: { id: { enum: [12345678901234567889n] } } };
  expect([problems(schema, { id: 12345678901234567889n }), problems(schema, { id: 12345678901234567888n })]).toEqual([[], ['enum id']]);
});

test('context: what is made of a shared value is made once for each options', () => {
  const { once } = evaluationContext();
  const [list, otherList, options, otherOptions] = [[], [], {}, {}];
  const made = (shared: object, by: object): object => once(shared, by, () => ({}));
  const first = made(list, options);
  expect(made(list, options)).toBe(first);
  expect(made(otherList, options)).not.toBe(first);
  expect(made(list, otherOptions)).not.toBe(first);
  expect(made(list, options)).toBe(first);
});

test.each(['tool_name_reliability', 'tool_description_reliability'])(
  'context: %s checks a list once, and gives another list its own verdict',
  (use) => {
    const made = configuredEvaluator({ use }, evaluators);
    if (made.kind === 'faulty' || made.evaluator.kind !== 'rule') throw new Error('it is not a rule');
    const { evaluate } = made.evaluator;
    const context = evaluationContext();
    const verdict = (toolDefinitions: readonly ToolDefinition[]) => evaluate(agentTrace({ toolDefinitions }), {}, context);
    const sound: readonly ToolDefinition[] = [
      {
        name: 'find_order',
        description: 'Finds an order by its number.',
        inputSchema: { properties: { number: { type: 'string', description: 'Of the order.' } }, required: ['number'] },
      },
    ];
    const faulty: readonly ToolDefinition[] = [{ name: 'FindOrder', inputSchema: { properties: { number: {} } } }];
    expect(verdict(sound)).toMatchObject({ kind: 'scored', score: 1 });
    expect(verdict(sound).details).toBe(verdict(sound).details);
    expect(verdict(structuredClone(sound))).toEqual(verdict(sound));
    expect(verdict(faulty)).toMatchObject({ kind: 'scored', passed: false });
  },
);
