import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const both = ['red', 'blue'];
const rows: readonly {
  readonly name: string;
  readonly output: JsonValue;
  readonly search: JsonValue;
  readonly options?: { readonly [key: string]: JsonValue };
  readonly want: object;
}[] = [
  { name: 'objects are searched in JSON notation', output: { a: [1, true] }, search: '"a":[1,true]', want: { score: 1 } },
  {
    name: 'of all texts the share that is found counts',
    output: 'a red hat',
    search: both,
    want: { score: 0.5, explanation: 'The final response lacks "blue".', details: { found: ['red'], absent: ['blue'] } },
  },
  { name: 'any text is enough', output: 'a red hat', search: both, options: { match: 'any' }, want: { score: 1 } },
  {
    name: 'any of none',
    output: 'a hat',
    search: both,
    options: { match: 'any' },
    want: { score: 0, explanation: 'The final response contains none of "red", "blue".' },
  },
  {
    name: 'none may be found',
    output: 'a red hat',
    search: both,
    options: { match: 'none' },
    want: { score: 0.5, explanation: 'The final response contains "red", which it must not.' },
  },
  {
    name: 'negated turns the share round',
    output: 'a red hat',
    search: ['red', 'a', 'blue'],
    options: { negated: true },
    want: { score: 1 / 3 },
  },
  { name: 'case counts on demand', output: 'RED', search: 'red', options: { case_sensitive: true }, want: { score: 0 } },
  {
    name: 'lines that are not as wanted are named',
    output: 'ok\nno\nok',
    search: 'ok',
    options: { line_by_line: true },
    want: { score: 2 / 3, explanation: 'The final response is not as wanted in 1 of 3 lines: line 2.' },
  },
  {
    name: 'a missing path contains nothing',
    output: {},
    search: 'a',
    options: { target_output_key: 'a' },
    want: { score: 0, details: { missing_paths: ['a'] } },
  },
  {
    name: 'a missing path does not lack what it must not have',
    output: {},
    search: 'a',
    options: { target_output_key: 'a', negated: true },
    want: { score: 0, details: { missing_paths: ['a'] } },
  },
];
for (const { name, output, search, options = {}, want } of rows) {
  test(`contains: ${name}`, () => {
    expect(
      score({ entry: { use: 'contains', expect: { search_text: search }, options }, trace: agentTrace({ finalResponse: output }) }),
    ).toMatchObject({ kind: 'scored', passed: null, ...want });
  });
}

test('contains: the run itself can say what to search for, and without anything it is skipped', () => {
  const trace = agentTrace({ finalResponse: 'a red hat' });
  expect(score({ entry: { use: 'contains' }, trace, expected: { searchText: both } })).toMatchObject({ score: 0.5 });
  expect(score({ entry: { use: 'contains' }, trace })).toMatchObject({ kind: 'skipped', reason: 'no_expectation' });
});

for (const search of [[], [1], 1, null]) {
  test(`contains: ${JSON.stringify(search)} is nothing to search for`, () => {
    expect(() => score({ entry: { use: 'contains', expect: { search_text: search } }, trace: agentTrace() })).toThrow(
      /^expect\.search_text/,
    );
  });
}
