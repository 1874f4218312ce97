import { expect, test } from 'vitest';
import type { JsonObject, JsonValue } from '../../src/model/json.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { score } from './score.ts';

const output = { status: 'ok', n: 3, none: null, list: [1, 'a'], empty: [], o: { k: 1 }, flag: true, id: 'A-17' };
const rows: readonly { readonly options: JsonObject; readonly passed: boolean }[] = [
  { options: { path: '$.status', operator: 'eq', value: 'ok' }, passed: true },
  { options: { path: 'n', operator: 'eq', value: 3.0 }, passed: true },
  { options: { path: '$.n', operator: 'ne', value: 3 }, passed: false },
  { options: { path: '$.n', operator: 'gt', value: 2 }, passed: true },
  { options: { path: '$.n', operator: 'gt', value: 3 }, passed: false },
  { options: { path: '$.n', operator: 'gte', value: 3 }, passed: true },
  { options: { path: '$.n', operator: 'lt', value: 3 }, passed: false },
  { options: { path: '$.n', operator: 'lte', value: 3 }, passed: true },
  { options: { path: '$.flag', operator: 'gt', value: 0 }, passed: false },
  { options: { path: '$.none', operator: 'eq', value: null }, passed: true },
  { options: { path: '$.status', operator: 'in', value: ['ok', 'done'] }, passed: true },
  { options: { path: '$.status', operator: 'not_in', value: 'ok' }, passed: false },
  { options: { path: '$.none', operator: 'exists' }, passed: true },
  { options: { path: '$.empty', operator: 'exists' }, passed: true },
  { options: { path: '$.ghost' }, passed: false },
  { options: { path: '$.ghost', operator: 'not_exists' }, passed: true },
  { options: { path: '$.list[?(@ == "z")]', operator: 'exists' }, passed: false },
  { options: { path: '$.list[?(@ == "z")]', operator: 'not_exists' }, passed: true },
  { options: { path: '$.ghost', operator: 'ne', value: 1 }, passed: false },
  { options: { path: '$.list', operator: 'contains', value: 1.0 }, passed: true },
  { options: { path: '$.o', operator: 'contains', value: 'k' }, passed: true },
  { options: { path: '$.o', operator: 'contains', value: 'constructor' }, passed: false },
  { options: { path: '$.id', operator: 'contains', value: '17' }, passed: true },
  { options: { path: '$.n', operator: 'contains', value: '3' }, passed: false },
  { options: { path: '$.id', operator: 'matches', value: '^[A-Z]-\\d+$' }, passed: true },
  { options: { path: '$.o', operator: 'matches', value: '.' }, passed: false },
  { options: { path: '$.list', operator: 'length_eq', value: 2 }, passed: true },
  { options: { path: '$.o', operator: 'length_gt', value: 1 }, passed: false },
  { options: { path: '$.id', operator: 'length_lte', value: 4 }, passed: true },
  { options: { path: '$.n', operator: 'length_ne', value: 0 }, passed: false },
];
for (const { options, passed } of rows) {
  test(`json_path: ${JSON.stringify(options)} ${passed ? 'holds' : 'does not hold'}`, () => {
    expect(score({ entry: { use: 'json_path', options }, trace: agentTrace({ finalResponse: JSON.stringify(output) }) })).toMatchObject({
      kind: 'scored',
      passed,
    });
  });
}

test('json_path: the sentence and the details show the found value', () => {
  const verdict = (options: JsonObject, finalResponse: JsonValue = output) =>
    score({ entry: { use: 'json_path', options }, trace: agentTrace({ finalResponse }) });
  expect(verdict({ path: '$.n', operator: 'gt', value: 5 })).toMatchObject({
    explanation: 'The final response has "3" at "$.n", which is not gt "5".',
    details: { found: true, actual: 3, operator: 'gt', value: 5 },
  });
  expect(verdict({ path: '$.ghost', operator: 'eq', value: 1 })).toMatchObject({
    explanation: 'The final response has nothing at "$.ghost".',
    details: { found: false },
  });
  expect(String(verdict({ path: '$' }, 'x'.repeat(2_000)).kind === 'scored')).toBe('true');
  const { details } = verdict({ path: '$.t' }, { t: 'x'.repeat(2_000) });
  expect(String((details as { readonly actual: string }).actual).length).toBeLessThan(600);
});

test('json_path: no output fails everything', () => {
  const toolCalls = [call({ name: 'get', result: null, spanId: spanId(1) })];
  for (const operator of ['exists', 'not_exists']) {
    expect(
      score({ entry: { use: 'json_path', options: { path: '$.a', operator, on: { tool: 'get' } } }, trace: agentTrace({ toolCalls }) }),
    ).toMatchObject({ score: 0, explanation: 'get (call 1) is null, so there is nothing to look into.' });
  }
});

test('json_path: a path that would look at too much is skipped', () => {
  const finalResponse = Array.from({ length: 30_000 }, (_, at) => ({ at }));
  expect(
    score({ entry: { use: 'json_path', options: { path: '$..[?(@.at > 1 && @.at < 5)]' } }, trace: agentTrace({ finalResponse }) }),
  ).toMatchObject({ kind: 'skipped', reason: 'too_large' });
});

const faulty: readonly { readonly options: JsonObject; readonly message: RegExp }[] = [
  { options: {}, message: /^options\.path is missing$/ },
  { options: { path: '$.a[' }, message: /^options\.path is not a JSONPath: at character 5 it lacks an index/ },
  { options: { path: '$.a', operator: 'eq' }, message: /^options\.value is missing$/ },
  { options: { path: '$.a', operator: 'matches', value: '(' }, message: /^options\.value is not a regular expression/ },
  { options: { path: '$.a', operator: '==', value: 1 }, message: /^options\.operator must be one of/ },
];
for (const { options, message } of faulty) {
  test(`json_path: ${JSON.stringify(options)} is refused`, () => {
    expect(() => score({ entry: { use: 'json_path', options }, trace: agentTrace() })).toThrow(message);
  });
}

test('json_path: what is longer or deeper than is read is too large, and passes nothing', () => {
  const skippedBy = (options: JsonObject, finalResponse: JsonValue) =>
    expect(score({ entry: { use: 'json_path', options }, trace: agentTrace({ finalResponse }) })).toMatchObject({
      kind: 'skipped',
      reason: 'too_large',
    });
  skippedBy({ path: '$.a', operator: 'matches', value: '^[a-z]*$' }, { a: `${'a'.repeat(100_000)}!` });
  skippedBy({ path: '$.error', operator: 'not_exists' }, `{"error": "x", "a": ${'['.repeat(200)}${']'.repeat(200)}}`);
});
