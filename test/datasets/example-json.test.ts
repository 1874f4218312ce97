import { expect, test } from 'vitest';
import { exampleJson, readExample } from '../../src/datasets/example-json.ts';
import type { DatasetExample } from '../../src/model/example.ts';
import { parseSpanId, parseTraceId } from '../../src/model/ids.ts';
import type { JsonValue } from '../../src/model/json.ts';

const [traceId, spanId] = [parseTraceId('a'.repeat(32)), parseSpanId('b'.repeat(16))];
if (traceId === undefined || spanId === undefined) throw new Error('no ids');

test.each<{ readonly name: string; readonly example: DatasetExample }>([
  { name: 'only a text', example: { id: 'a', input: 'x' } },
  { name: 'no input', example: { id: 'a', input: null } },
  {
    name: 'all members',
    example: {
      id: 'a',
      input: [{ role: 'user', content: 'x' }],
      expect: { output: 'y' },
      tasks: ['t'],
      constraints: 'c',
      tools: [{ name: 't' }],
      tags: ['g'],
      split: 'test',
      evaluators: ['tool_error', { use: 'latency' }],
      timeoutSeconds: 0.5,
      metadata: [1, null],
      origin: { traceId, spanId, by: 'ann', rule: 'failures', file: 'a.csv', at: 1_700_000_000_123_456 },
      review: 'draft',
    },
  },
])('example JSON: $name is read as written', ({ example }) => {
  expect(readExample(exampleJson(example), '')).toEqual({ example, faults: [] });
});

test.each<{ readonly name: string; readonly value: JsonValue; readonly faults: readonly string[] }>([
  { name: 'no object', value: 7, faults: [''] },
  { name: 'an unknown member', value: { id: 'a', colour: 1 }, faults: ['colour'] },
  { name: 'a wrong expectation', value: { expect: { tool_call: [] } }, faults: ['expect.tool_call'] },
  { name: 'a wrong time', value: { origin: { at: 'yesterday' } }, faults: ['origin.at'] },
  { name: 'a wrong review', value: { review: 'maybe' }, faults: ['review'] },
  { name: 'no limit of time', value: { timeout_seconds: 0 }, faults: ['timeout_seconds'] },
])('example JSON: $name is a fault with its place', ({ value, faults }) => {
  expect(readExample(value, 'x').faults.map(({ path }) => path.join('.'))).toEqual(faults);
});

test('example JSON: without an id the example gets one, and a number is a text', () => {
  expect(readExample({ input: 'x' }, '7').example.id).toBe('7');
  expect(readExample({ id: 7 }, 'x').example.id).toBe('7');
});
