/** The list prices against the library that they come from: it computes the same cost for the same call. */
import { readFileSync } from 'node:fs';
import { calcPrice } from '@pydantic/genai-prices';
import { expect, test } from 'vitest';
import { listPrices, listPricesDate } from '../../evaluators/pricing/list-prices.ts';
import { callCosts } from '../../evaluators/pricing/prices.ts';
import { numberOf } from '../../evaluators/matching/rational.ts';
import { agentTrace } from '../builders/agent-trace.ts';
import { listedModels, listPricesText } from './table.ts';

const file = new URL('../../evaluators/pricing/list-prices.ts', import.meta.url);
const usages = [
  { input: 1_000, output: 500, cached: 0 },
  { input: 100_000, output: 7, cached: 60_000 },
  { input: 300_000, output: 2_000, cached: 100_000 },
] as const;

test('list prices: the file is what its source gives for its day', () => {
  const text = readFileSync(file, 'utf8');
  expect(text).toBe(listPricesText(listPricesDate, /source: (genai-prices [\d.]+)/.exec(text)?.[1] ?? ''));
});

test('list prices: every name costs what the source computes, for short, cached and long inputs', () => {
  const timestamp = new Date(`${listPricesDate}T12:00:00Z`);
  let compared = 0;
  for (const { vendor, names } of listedModels(listPricesDate)) {
    for (const model of names) {
      for (const { input, output, cached } of usages) {
        const [ours] = callCosts(
          agentTrace({ modelCalls: [{ model, inputTokens: input, outputTokens: output, cachedInputTokens: cached }] }),
          listPrices,
        );
        const theirs = calcPrice({ input_tokens: input, output_tokens: output, cache_read_tokens: cached }, model, {
          providerId: vendor,
          timestamp,
        });
        // A model whose source has no price for cached input pays for it as for other input here.
        if (theirs === null || (cached > 0 && listPrices[model]?.cachedPerMillion === undefined)) continue;
        compared++;
        expect([model, ours?.kind === 'priced' ? numberOf(ours.amount) : ours?.kind]).toEqual([
          model,
          expect.closeTo(theirs.total_price, 9),
        ]);
      }
    }
  }
  expect(compared).toBeGreaterThan(500);
});

test('list prices: the price of a vendor is not that of another model with a longer name', () => {
  for (const model of ['gpt-5-mini-realtime', 'my-gpt-5-mini', 'gpt-5-minimal', 'claude-sonnet-4-5-turbo'])
    expect([model, callCosts(agentTrace({ modelCalls: [{ model, inputTokens: 1, outputTokens: 1 }] }), listPrices)[0]?.kind]).toEqual([
      model,
      'no_price',
    ]);
});
