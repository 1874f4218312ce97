import { expect, test } from 'vitest';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const rows: readonly {
  readonly name: string;
  readonly output: JsonValue;
  readonly wanted: JsonValue;
  readonly options?: { readonly [key: string]: JsonValue };
  readonly want: object;
}[] = [
  {
    name: 'texts are equal without case',
    output: 'Paris',
    wanted: 'PARIS',
    want: { score: 1, explanation: 'The final response equals "PARIS".' },
  },
  {
    name: 'the sentence names both sides',
    output: 'Rome',
    wanted: 'Paris',
    want: { score: 0, explanation: 'The final response is "Rome" and differs from "Paris".' },
  },
  { name: 'case counts inside objects', output: { a: 'X' }, wanted: { a: 'x' }, want: { score: 0 } },
  {
    name: 'case can be left out inside objects',
    output: { a: 'X' },
    wanted: { a: 'x' },
    options: { ignore_case_inside: true },
    want: { score: 1 },
  },
  {
    name: 'case_sensitive counts everywhere',
    output: { a: 'X' },
    wanted: { a: 'x' },
    options: { ignore_case_inside: true, case_sensitive: true },
    want: { score: 0 },
  },
  { name: 'a fenced JSON text is a value beside an object', output: '```json\n{"a": 1}\n```', wanted: { a: 1 }, want: { score: 1 } },
  { name: 'a text that is not JSON differs from an object', output: 'a: 1', wanted: { a: 1 }, want: { score: 0 } },
  { name: 'a number and its text are equal', output: '42', wanted: 42, want: { score: 1 } },
  { name: 'a boolean and another text differ', output: 'yes', wanted: true, want: { score: 0 } },
  { name: 'null is not the text null', output: 'null', wanted: null, want: { score: 0 } },
  {
    name: 'a forbidden match is reported',
    output: 'a',
    wanted: 'a',
    options: { negated: true },
    want: { score: 0, explanation: 'The final response equals "a", which it must not.' },
  },
  {
    name: 'a missing path is not equal',
    output: { b: 1 },
    wanted: { a: 1 },
    options: { target_output_key: 'a' },
    want: { score: 0, explanation: 'The final response has nothing at "a".' },
  },
  {
    name: 'a missing path is not the wanted difference',
    output: { b: 1 },
    wanted: { a: 1 },
    options: { target_output_key: 'a', negated: true },
    want: { score: 0, details: { missing_paths: ['a'] } },
  },
  {
    name: 'two texts without a line are equal line by line',
    output: '\n',
    wanted: '',
    options: { line_by_line: true },
    want: { score: 1, details: { line_scores: [], total_lines_actual: 0, total_lines_expected: 0 } },
  },
  {
    name: 'and do not differ',
    output: '\n',
    wanted: '',
    options: { line_by_line: true, negated: true },
    want: { score: 0, explanation: 'The final response has no line, and none is expected.' },
  },
  {
    name: 'lines that differ are named',
    output: 'a\nb\nc',
    wanted: 'a\nx\ny',
    options: { line_by_line: true },
    want: { score: 1 / 3, explanation: 'The final response differs from what is expected in 2 of 3 lines: line 2, line 3.' },
  },
  {
    name: 'lines may be separated otherwise, and each can be negated',
    output: 'a;b',
    wanted: 'a;x',
    options: { line_by_line: true, line_delimiter: ';', negated: true },
    want: { score: 0.5, details: { line_scores: [0, 1] } },
  },
  {
    name: 'as many lines as are compared',
    output: 'a\n'.repeat(2_000),
    wanted: 'a',
    options: { line_by_line: true },
    want: { kind: 'scored', score: 1 / 2_000 },
  },
  {
    name: 'more lines than are compared',
    output: 'a\n'.repeat(2_001),
    wanted: 'a',
    options: { line_by_line: true },
    want: { kind: 'skipped', reason: 'too_large' },
  },
];
for (const { name, output, wanted, options = {}, want } of rows) {
  test(`exact_match: ${name}`, () => {
    expect(
      score({ entry: { use: 'exact_match', expect: { output: wanted }, options }, trace: agentTrace({ finalResponse: output }) }),
    ).toMatchObject(want);
  });
}

test('exact_match: without an expectation, or without a final response, it is skipped', () => {
  expect(score({ entry: { use: 'exact_match' }, trace: agentTrace({ finalResponse: 'x' }) })).toMatchObject({
    kind: 'skipped',
    reason: 'no_expectation',
  });
  expect(score({ entry: { use: 'exact_match', expect: { output: 'x' } }, trace: agentTrace() })).toMatchObject({
    kind: 'skipped',
    reason: 'no_final_response',
  });
});
