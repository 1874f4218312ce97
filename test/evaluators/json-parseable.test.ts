import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const schema = { type: 'object', required: ['user_id'], properties: { user_id: { type: 'integer' } } };
const rows: readonly { readonly name: string; readonly response: JsonValue; readonly options?: JsonObject; readonly want: object }[] = [
  { name: 'a JSON text', response: '{"a": [1]}', want: { score: 1, explanation: 'The final response is JSON.' } },
  { name: 'a value that is not a text any more', response: { a: 1 }, want: { score: 1 } },
  { name: 'JSON in a fence', response: '```json\n[1]\n```', want: { score: 1 } },
  { name: 'JSON in a fence where fences do not count', response: '```json\n[1]\n```', options: { allow_fence: false }, want: { score: 0 } },
  {
    name: 'prose',
    response: 'Here: {"a": 1}',
    want: { score: 0, passed: false, explanation: 'The final response is not JSON.', details: { parsed: false } },
  },
  { name: 'a trailing comma', response: '{"a": 1,}', want: { score: 0 } },
  {
    name: 'a lone number',
    response: '42',
    want: { score: 0, explanation: 'The final response is JSON but neither an object nor a list.' },
  },
  { name: 'a lone number where it counts', response: '42', options: { containers_only: false }, want: { score: 1 } },
  {
    name: 'a value of the schema',
    response: '{"user_id": 7}',
    options: { schema },
    want: { score: 1, explanation: 'The final response satisfies the schema.' },
  },
  {
    name: 'a value that breaks the schema',
    response: '{"user_id": "x"}',
    options: { schema },
    want: { score: 0, details: { problems: [{ path: 'user_id', keyword: 'type' }] } },
  },
];
for (const { name, response, options = {}, want } of rows) {
  test(`json_parseable: ${name} gets ${JSON.stringify((want as { readonly score: number }).score)}`, () => {
    expect(score({ entry: { use: 'json_parseable', options }, trace: agentTrace({ finalResponse: response }) })).toMatchObject({
      kind: 'scored',
      ...want,
    });
  });
}

test('json_parseable: the sentence names the part that breaks the schema', () => {
  expect(score({ entry: { use: 'json_parseable', options: { schema } }, trace: agentTrace({ finalResponse: '{}' }) }).explanation).toMatch(
    /^The final response breaks the schema: .*user_id/,
  );
});

test('json_parseable: a schema beyond the limits fails for every run', () => {
  const large = { type: 'object', description: 'x'.repeat(70_000) };
  expect(score({ entry: { use: 'json_parseable', options: { schema: large } }, trace: agentTrace({ finalResponse: '{}' }) })).toMatchObject(
    { kind: 'failed', error: 'schema_unusable' },
  );
});

const unchecked = [
  {
    name: 'a part of the schema elsewhere',
    schema: { properties: { a: { $ref: 'https://example.org/a.json' } } },
    response: '{"a": 1}',
    want: { kind: 'skipped', reason: 'schema_not_applied' },
  },
  {
    name: 'a fault beside a part elsewhere',
    schema: { properties: { a: { $ref: 'https://example.org/a.json' }, b: { type: 'string' } } },
    response: '{"a": 1, "b": 2}',
    want: { kind: 'scored', score: 0 },
  },
  {
    name: 'a pattern that is none',
    schema: { properties: { a: { pattern: '(?=x)' } } },
    response: '{"a": "x"}',
    want: { kind: 'skipped', reason: 'schema_not_applied' },
  },
  {
    name: 'bulk',
    schema: { properties: { a: { items: { type: 'number' } } } },
    response: JSON.stringify({ a: Array(50_000).fill(1) }),
    want: { kind: 'skipped', reason: 'too_large' },
  },
  {
    name: 'a fault beside bulk',
    schema: { properties: { a: { items: { type: 'number' } }, b: { type: 'string' } } },
    response: JSON.stringify({ a: Array(50_000).fill(1), b: 2 }),
    want: { kind: 'scored', score: 0 },
  },
];
for (const { name, schema: own, response, want } of unchecked) {
  test(`json_parseable: ${name} is ${want.kind}`, () => {
    expect(
      score({ entry: { use: 'json_parseable', options: { schema: own } }, trace: agentTrace({ finalResponse: response }) }),
    ).toMatchObject(want);
  });
}
