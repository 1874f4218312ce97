import { expect, test } from 'vitest';
import { configuredEvaluator } from '../../../evaluators/configuration/configured.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { picked, pickedExpectation, type OutputKey } from '../../../evaluators/matching/texts.ts';
import { parseJson } from '../../../src/model/json.ts';
import type { JsonValue } from '../../../src/model/json.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { score } from '../score.ts';

const rows: readonly {
  readonly name: string;
  readonly value: JsonValue;
  readonly key: OutputKey;
  readonly want: JsonValue | undefined;
  readonly missing?: readonly string[];
}[] = [
  { name: 'a star is the whole', value: { '*': 1 }, key: '*', want: { '*': 1 } },
  { name: 'a path goes through objects and lists', value: { a: { b: [{ c: 1 }, { c: 2 }] } }, key: 'a.b[1].c', want: 2 },
  { name: 'the literal key wins', value: { 'a.b': 1, a: { b: 2 } }, key: 'a.b', want: 1 },
  { name: 'a text that holds JSON is read', value: '```json\n{"a": [5]}\n```', key: 'a[0]', want: 5 },
  { name: 'null is a value', value: { a: null }, key: 'a', want: null },
  { name: 'an inherited name is not a member', value: {}, key: 'constructor', want: undefined, missing: ['constructor'] },
  { name: 'an index beyond the list is missing', value: { a: [1] }, key: 'a[1]', want: undefined, missing: ['a[1]'] },
  {
    name: 'several paths give those that are there',
    value: { a: 1, b: { c: 2 } },
    key: ['a', 'b.c', 'd'],
    want: { a: 1, 'b.c': 2 },
    missing: ['d'],
  },
  { name: 'a member named __proto__ is found', value: parseJson('{"__proto__": 3}') ?? null, key: '__proto__', want: 3 },
];
for (const { name, value, key, want, missing = [] } of rows) {
  test(`output-key: ${name}`, () => {
    expect(picked(value, key)).toEqual({ value: want, missing });
  });
}

test('output-key: with one path an expected value that is not an object means itself, and an object must have the path', () => {
  expect([
    pickedExpectation('yes', 'a'),
    pickedExpectation('{"a": "yes"}', 'a'),
    pickedExpectation({ b: 1 }, 'a'),
    pickedExpectation('yes', ['a']),
  ]).toEqual(['yes', 'yes', undefined, undefined]);
});

const unmet: readonly { readonly use: string; readonly output: JsonValue; readonly key: OutputKey; readonly lacks?: string }[] = [
  { use: 'exact_match', output: { a: 1 }, key: 'b', lacks: '"b"' },
  { use: 'exact_match', output: '{"a": {"c": 1}}', key: 'a.b', lacks: '"a.b"' },
  { use: 'exact_match', output: { a: 1 }, key: ['a', 'b', 'c'], lacks: '"b", "c"' },
  { use: 'exact_match', output: 'yes', key: ['a'], lacks: '"a"' },
  { use: 'exact_match', output: [1], key: '[1]', lacks: '"[1]"' },
  { use: 'json_similarity', output: {}, key: 'a', lacks: '"a"' },
  { use: 'cosine_similarity', output: { vector: [1] }, key: 'v', lacks: '"v"' },
  { use: 'output_similarity', output: { text: 'x' }, key: 't', lacks: '"t"' },
  { use: 'exact_match', output: 'yes', key: 'a' },
  { use: 'exact_match', output: { a: null }, key: 'a' },
  { use: 'json_similarity', output: { a: 1 }, key: '*' },
];
for (const { use, output, key, lacks } of unmet) {
  test(`output-key: ${use} with ${JSON.stringify(key)} ${lacks === undefined ? 'takes' : 'refuses'} the expectation ${JSON.stringify(output)}`, () => {
    const configuration = configuredEvaluator(
      { use, options: { target_output_key: key }, expect: { output }, ...(use === 'output_similarity' ? { judge: 'main' } : {}) },
      evaluators,
    );
    if (lacks === undefined) expect(configuration.kind).toBe('ready');
    else
      expect(configuration).toEqual({
        kind: 'faulty',
        faults: [{ path: ['expect', 'output'], problem: `has nothing at ${lacks}, which options.target_output_key names` }],
      });
  });
}

test('output-key: the expectation of one run that has nothing at the key is skipped with the reason', () => {
  for (const use of ['exact_match', 'json_similarity']) {
    expect(
      score({
        entry: { use, options: { target_output_key: 'b' } },
        trace: agentTrace({ finalResponse: { b: 1 } }),
        expected: { output: { a: 1 } },
      }),
    ).toMatchObject({ kind: 'skipped', reason: 'no_expectation', explanation: 'The expected output has nothing at "b".' });
  }
});
