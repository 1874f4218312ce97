import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const rows: readonly { readonly response: JsonValue; readonly wanted: JsonValue; readonly options?: JsonObject; readonly want: 0 | 1 }[] = [
  { response: 'Paris', wanted: 'Paris', want: 1 },
  { response: 'paris', wanted: 'Paris', want: 0 },
  { response: 'paris', wanted: 'Paris', options: { ignore_case: true }, want: 1 },
  { response: ' New  York\n', wanted: 'New York', want: 0 },
  { response: ' New  York\n', wanted: 'New York', options: { ignore_white_space: true }, want: 1 },
  { response: 'Yes!', wanted: 'Yes', options: { ignore_punctuation: true }, want: 1 },
  { response: 'Yes!', wanted: 'Yes', want: 0 },
  { response: 'two', wanted: ['2', 'two'], want: 1 },
  { response: 2, wanted: '2', want: 1 },
];
for (const { response, wanted, options = {}, want } of rows) {
  test(`direct_match: ${JSON.stringify(response)} against ${JSON.stringify(wanted)} with ${JSON.stringify(options)} gets ${want}`, () => {
    expect(
      score({ entry: { use: 'direct_match', expect: { output: wanted }, options }, trace: agentTrace({ finalResponse: response }) }),
    ).toMatchObject({ kind: 'scored', score: want, passed: want === 1 });
  });
}

test('direct_match: the sentence names the actual value', () => {
  const verdict = (wanted: JsonValue) =>
    score({ entry: { use: 'direct_match', expect: { output: wanted } }, trace: agentTrace({ finalResponse: 'Rome' }) }).explanation;
  expect([verdict('Paris'), verdict(['a', 'b']), verdict('Rome')]).toEqual([
    'The final response is "Rome" instead of "Paris".',
    'The final response is "Rome" instead of one of "a", "b".',
    'The final response is "Rome" as expected.',
  ]);
});

test('direct_match: without an expectation it is skipped', () => {
  expect(score({ entry: { use: 'direct_match' }, trace: agentTrace({ finalResponse: 'x' }) })).toMatchObject({
    kind: 'skipped',
    reason: 'no_expectation',
  });
});
