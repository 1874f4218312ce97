import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace, call } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const entry = (output: JsonValue, options: { readonly [key: string]: JsonValue } = {}) => ({
  use: 'json_similarity',
  expect: { output },
  options,
});
const rows: readonly {
  readonly name: string;
  readonly output: JsonValue;
  readonly wanted: JsonValue;
  readonly options?: { readonly [key: string]: JsonValue };
  readonly want: object;
}[] = [
  {
    name: 'a text that holds JSON is compared leaf by leaf',
    output: '{"a": 1, "b": "x"}',
    wanted: { a: 1, b: 'y' },
    want: { score: 0.5, explanation: 'The final response matches 1 of 2 expected leaves.' },
  },
  { name: 'a fenced one is too', output: '```json\n{"a": 1, "b": "x"}\n```', wanted: { a: 1, b: 'y' }, want: { score: 0.5 } },
  {
    name: 'an expectation in a fence is a text beside a text',
    output: '{"a": 1}',
    wanted: '```json\n{"a": 1}\n```',
    want: { details: { total_leaves: 1 } },
  },
  {
    name: 'extras are free unless they count',
    output: { a: 1, z: 1 },
    wanted: { a: 1 },
    options: { count_extra: true },
    want: { score: 0.5 },
  },
  { name: 'lists may be paired', output: [2, 1], wanted: [1, 2], options: { list_match: 'best' }, want: { score: 1 } },
  { name: 'texts may have to be equal', output: 'abcx', wanted: 'abcd', options: { text: 'exact' }, want: { score: 0 } },
  {
    name: 'a path that is missing is named',
    output: { b: 1 },
    wanted: { a: { c: 1, d: 2 } },
    options: { target_output_key: 'a' },
    want: {
      score: 0,
      explanation: 'The final response matches 0 of 2 expected leaves (nothing at "a").',
      details: { missing_paths: ['a'] },
    },
  },
  {
    name: 'a missing empty object is not a match either',
    output: {},
    wanted: { a: {} },
    options: { target_output_key: 'a' },
    want: { score: 0 },
  },
  {
    name: 'of several paths the ones that are there count',
    output: { a: 1 },
    wanted: { a: 1, b: 2 },
    options: { target_output_key: ['a', 'b'] },
    want: { score: 0.5 },
  },
  {
    name: 'as many characters as are compared',
    output: Array.from({ length: 1 }, () => 'y'.repeat(1_999)),
    wanted: ['x'.repeat(1_999)],
    want: { kind: 'scored', score: 0 },
  },
  {
    name: 'more characters than are compared',
    output: Array.from({ length: 10 }, () => 'y'.repeat(1_900)),
    wanted: Array.from({ length: 10 }, () => 'x'.repeat(1_900)),
    want: { kind: 'skipped', reason: 'too_large' },
  },
  {
    name: 'more pairs of leaves than are compared',
    output: Array.from({ length: 501 }, () => 1),
    wanted: Array.from({ length: 501 }, () => 1),
    options: { list_match: 'best' },
    want: { kind: 'skipped', reason: 'too_large' },
  },
];
for (const { name, output, wanted, options, want } of rows) {
  test(`json_similarity: ${name}`, () => {
    expect(score({ entry: entry(wanted, options), trace: agentTrace({ finalResponse: output }) })).toMatchObject(want);
  });
}

test('json_similarity: without an expectation it is skipped, and what the run expects is enough', () => {
  const trace = agentTrace({ finalResponse: 'x' });
  expect(score({ entry: { use: 'json_similarity' }, trace })).toMatchObject({ kind: 'skipped', reason: 'no_expectation' });
  expect(score({ entry: { use: 'json_similarity' }, trace, expected: { output: 'x' } })).toMatchObject({
    kind: 'scored',
    score: 1,
    passed: null,
  });
  // In the configuration such an expectation is refused: output-key.test.ts.
  expect(
    score({
      entry: { use: 'json_similarity', options: { target_output_key: 'a' } },
      trace: agentTrace({ finalResponse: { a: 1 } }),
      expected: { output: { b: 1 } },
    }),
  ).toMatchObject({ kind: 'skipped', reason: 'no_expectation' });
});

test('json_similarity: the outputs of a tool can be compared', () => {
  const toolCalls = [call({ name: 'get', result: { a: 1 } }), call({ name: 'get', result: { a: 2 } })];
  expect(score({ entry: entry({ a: 1 }, { on: { tool: 'get' } }), trace: agentTrace({ toolCalls }) })).toMatchObject({
    score: 0.5,
    parts: [{ score: 1 }, { score: 0 }],
  });
});
