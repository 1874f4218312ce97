import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { configSchema, schemaInUse } from '../../src/config/schema.ts';

const whole = configSchema(evaluators);

test('config schema: it is a JSON Schema, with the options and expectations of every evaluator', () => {
  const ajv = new Ajv2020({ strict: false });
  expect([ajv.validateSchema(whole), ajv.errors]).toEqual([true, null]);
});

test.each([
  { name: 'nothing', value: {}, want: [] },
  { name: 'a list of names', value: { evaluators: ['tool_error'] }, want: [] },
  {
    name: 'entries with options',
    value: { evaluators: [{ use: 'step_count', options: {} }, 'tool_error', { use: 'latency' }] },
    want: ['step_count', 'latency'],
  },
  { name: 'an evaluator that does not exist', value: { evaluators: [{ use: 'latencies' }] }, want: [] },
  { name: 'no list at all', value: { evaluators: { use: 'latency' } }, want: [] },
])('config schema: of evaluators only those in use stay: $name', ({ value, want }) => {
  const left = JSON.stringify(schemaInUse(whole, value));
  const named = [...left.matchAll(/"use":\{"const":"(\w+)"\}/g)].map(([, id]) => id);
  expect(new Set(named)).toEqual(new Set(want));
});

test('config schema: written sections stay unchanged, and the others keep their names', () => {
  const left = schemaInUse(whole, { store: { url: 'memory:' }, limits: {}, nonsense: 1 });
  expect(Object.keys(left)).toEqual(Object.keys(whole));
  const [all, used] = [whole, left].map(({ properties }) => properties as { readonly [name: string]: unknown });
  expect(used).toEqual(
    Object.fromEntries(Object.entries(all ?? {}).map(([name, section]) => [name, ['store', 'limits'].includes(name) ? section : true])),
  );
});
