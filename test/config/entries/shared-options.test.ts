import { expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { evaluators } from '../../../evaluators/index.ts';
import { listPrices } from '../../../evaluators/pricing/list-prices.ts';
import type { PriceTable } from '../../../evaluators/pricing/prices.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { ConfigError } from '../../../src/config/diagnostic.ts';
import { loadConfig, type LoadedConfig } from '../../../src/config/load.ts';
import { agentTrace } from '../../builders/agent-trace.ts';
import { validators } from '../../builders/validators.ts';

function load(text: string): LoadedConfig {
  return loadConfig({ validators, file: 'a.yaml', text, env: {}, evaluators });
}

const prices = 'prices: { m: { input_per_million: 1, output_per_million: 2 } }\n';
const trace = agentTrace({ modelCalls: [{ model: 'maker/m', inputTokens: 1_000_000, outputTokens: 0 }] });

const rows: readonly (readonly [name: string, text: string, want: object])[] = [
  [
    'an entry in its short form takes the table',
    `${prices}evaluators: [ cost ]`,
    { kind: 'skipped', reason: 'no_expectation', details: { cost: 1 } },
  ],
  [
    'an entry with other options takes it too',
    `${prices}evaluators: [ { use: cost, options: { budget: 2 } } ]`,
    { kind: 'scored', score: 1, details: { cost: 1 } },
  ],
  [
    'a separate table is used instead of it, as a whole',
    `${prices}evaluators: [ { use: cost, options: { prices: { n: { input_per_million: 1, output_per_million: 1 } } } } ]`,
    { kind: 'skipped', reason: 'no_price' },
  ],
  [
    'without any table no model has a price',
    'evaluators: [ cost ]',
    { kind: 'skipped', reason: 'no_price', explanation: 'No price is given for "maker/m".' },
  ],
];
for (const [name, text, want] of rows) {
  test(`shared options: ${name}`, () => {
    const [entry] = load(text).config.evaluators;
    expect(entry?.configured.kind === 'rule' ? entry.configured.evaluate(trace, {}, evaluationContext()) : undefined).toMatchObject(want);
  });
}

test('shared options: what is printed is a configuration with the same effect', () => {
  const { printed, config } = load(`${prices}evaluators: [ tool_error, { use: cost, when: { agent: a }, options: { budget: 2 } } ]`);
  expect(parse(stringify(printed)) as unknown).toMatchObject({
    evaluators: [
      { use: 'tool_error' },
      { use: 'cost', when: { agent: 'a' }, options: { budget: 2, prices: { m: { input_per_million: 1 } } } },
    ],
  });
  expect(load(stringify(printed)).config.evaluators[1]?.configured.optionsHash).toBe(config.evaluators[1]?.configured.optionsHash);
});

test('shared options: other prices are another setting of the evaluator', () => {
  const hashes = [prices, prices.replace('2', '3')].map(
    (text) => load(`${text}evaluators: [ cost ]`).config.evaluators[0]?.configured.optionsHash,
  );
  expect(new Set(hashes).size).toBe(2);
});

const faulty: readonly (readonly [text: string, fault: string])[] = [
  ['prices: { m: { input_per_million: 1 } }\nevaluators: [ cost ]', 'prices.m lacks output_per_million'],
  ['prices: { m: { input_per_million: -1, output_per_million: 1 } }', 'prices.m.input_per_million -1 is out of range'],
  [
    'prices: { m: { input_per_million: 1, output_per_million: 1, reasoning_per_million: 1 } }',
    'prices.m.reasoning_per_million is not a known key here',
  ],
];
for (const [text, fault] of faulty) {
  test(`shared options: ${fault}, reported once and at the table`, () => {
    try {
      load(text);
      expect.unreachable();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      expect(error.faults.map(({ key, problem }) => `${key} ${problem}`)).toEqual([fault]);
    }
  });
}

test('shared options: a model of any name is an ordinary key', () => {
  const table: PriceTable = load('prices: { constructor: { input_per_million: 1, output_per_million: 2, cached_per_million: 0 } }').config
    .prices;
  expect(table).toEqual({ ...listPrices, constructor: { inputPerMillion: 1, outputPerMillion: 2, cachedPerMillion: 0 } });
});

const listed: readonly (readonly [name: string, text: string, call: object, cost: number])[] = [
  [
    'a model that no entry is for has its list price',
    'evaluators: [ cost ]',
    { model: 'openai/gpt-5-mini-2025-08-07', inputTokens: 1_000_000, outputTokens: 0 },
    0.25,
  ],
  [
    'a price of the configuration comes first',
    'prices: { gpt-5-mini: { input_per_million: 9, output_per_million: 9 } }\nevaluators: [ cost ]',
    { model: 'gpt-5-mini-2025-08-07', inputTokens: 1_000_000, outputTokens: 0 },
    9,
  ],
  [
    'so does one with a star',
    'prices: { "gpt-5*": { input_per_million: 8, output_per_million: 9 } }\nevaluators: [ cost ]',
    { model: 'gpt-5-mini', inputTokens: 1_000_000, outputTokens: 0 },
    8,
  ],
  [
    'one without its date stands before a listed name with a date',
    'prices: { gpt-4o: { input_per_million: 7, output_per_million: 9 } }\nevaluators: [ cost ]',
    { model: 'gpt-4o-2024-05-13', inputTokens: 1_000_000, outputTokens: 0 },
    7,
  ],
  [
    'a long input has the price of long inputs',
    'prices: { m: { input_per_million: 1, output_per_million: 1, long_context: { over_input_tokens: 1000, input_per_million: 2, output_per_million: 3 } } }\nevaluators: [ cost ]',
    { model: 'm', inputTokens: 1_001, outputTokens: 1_000 },
    0.005002,
  ],
  [
    'an input as long as the bound is not longer',
    'prices: { m: { input_per_million: 1, output_per_million: 1, long_context: { over_input_tokens: 1000, input_per_million: 2, output_per_million: 3 } } }\nevaluators: [ cost ]',
    { model: 'm', inputTokens: 1_000, outputTokens: 1_000 },
    0.002,
  ],
];
for (const [name, text, call, cost] of listed) {
  test(`prices: ${name}`, () => {
    const [entry] = load(text).config.evaluators;
    expect(
      entry?.configured.kind === 'rule'
        ? entry.configured.evaluate(agentTrace({ modelCalls: [call] }), {}, evaluationContext())
        : undefined,
    ).toMatchObject({ details: { cost } });
  });
}

test('prices: the printed table is the one in the file', () => {
  expect(load(prices).printed).toMatchObject({ prices: { m: { input_per_million: 1, output_per_million: 2 } } });
  expect(Object.keys((load(prices).printed as { readonly prices: object }).prices)).toEqual(['m']);
});
