import { expect, test } from 'vitest';
import { parseJson } from '../../src/model/json.ts';
import type { JsonValue } from '../../src/model/json.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const rows: readonly {
  readonly name: string;
  readonly response: JsonValue;
  readonly value: JsonValue;
  readonly options?: object;
  readonly equal: boolean;
}[] = [
  { name: 'texts in another case', response: 'paris', value: 'Paris', equal: false },
  {
    name: 'texts in another case where it does not count',
    response: 'paris',
    value: 'Paris',
    options: { case_sensitive: false },
    equal: true,
  },
  { name: 'a JSON text and an object', response: '{"b": [1.0], "a": 2}', value: { a: 2, b: [1] }, equal: true },
  { name: 'a number and its text', response: '42', value: 42, equal: false },
  {
    name: 'long whole numbers that differ in the last digit',
    response: parseJson('1234567890123456789') ?? null,
    value: parseJson('1234567890123456788') ?? null,
    equal: false,
  },
  { name: 'true and 1', response: true, value: 1, equal: false },
];
for (const { name, response, value, options = {}, equal } of rows) {
  test(`output_equals: ${name} are ${equal ? 'equal' : 'different'}`, () => {
    expect(
      score({ entry: { use: 'output_equals', options: { value, ...options } }, trace: agentTrace({ finalResponse: response }) }),
    ).toMatchObject({ kind: 'scored', score: equal ? 1 : 0, passed: equal });
  });
}

test('output_equals: the sentence names the actual value', () => {
  expect(
    score({ entry: { use: 'output_equals', options: { value: { a: 1 } } }, trace: agentTrace({ finalResponse: 'none' }) }),
  ).toMatchObject({ explanation: 'The final response is "none" instead of "{"a":1}".' });
});
