/** What the model calls of the run cost, by a table of prices, kept within a budget. */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import type { JsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { budgetShare, callCosts, hasTokens, priceTableSchema, type CallCost, type PriceTable } from './pricing/prices.ts';
import { skipped } from './evidence/calls.ts';
import { listPrices } from './pricing/list-prices.ts';
import { numberOf, rational, sum } from './matching/rational.ts';
import { count, listed, listedMax, quoted } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';
import { option, optional } from './configuration/option-table.ts';

export const cost = rule({
  id: 'cost',
  version: 4,
  summary: 'The model calls of the run cost no more than the budget.',
  needs: ['tokens'],
  defaultThreshold: 1,
  options: {
    prices: option<PriceTable>(
      {
        ...priceTableSchema,
        'x-from': 'prices',
        description:
          'By name of the model: `input_per_million`, `output_per_million` and, where cached input costs less, `cached_per_million`, all in one currency. Left out or empty: `prices` of the configuration, with the list prices of vendors behind them. A price also holds for the name with a provider before it, and with a date or revision behind it. A name that ends in `*` stands for every model that begins with it.',
      },
      {},
    ),
    budget: optional<number>({
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 1_000_000_000,
      description:
        'What a run may cost, in the currency of the prices. Up to here the score is 1; beyond it budget / cost. Without a budget it is skipped, and the details tell the cost.',
    }),
  },
  source: 'prices by model, with exact decimals',
  evaluate({ trace }, { prices, budget }) {
    const calls = callCosts(trace, Object.keys(prices).length === 0 ? listPrices : prices);
    const priced = calls.filter((one) => one.kind === 'priced');
    const reported = reportedCost(trace);
    if (priced.length === 0 && !calls.some(({ call }) => hasTokens(call)))
      return skipped('no_tokens', 'The spans of this agent carry no numbers of tokens.', reported);
    if (priced.length < calls.length) return partly(calls, priced, reported);
    const total = sum(priced.map(({ amount }) => amount));
    const spent = numberOf(total);
    const details = { cost: spent, ...byModel(priced), ...reported };
    if (budget === undefined)
      return skipped('no_expectation', `The model calls cost ${rounded(spent)}; set a budget to score it.`, details);
    const score = budgetShare(budget, total);
    const dearest = priced.reduce<Priced | undefined>(
      (most, one) => (most === undefined || numberOf(one.amount) > numberOf(most.amount) ? one : most),
      undefined,
    );
    return {
      kind: 'scored',
      score,
      explanation:
        score === 1
          ? `The model calls cost ${rounded(spent)}, within the budget of ${budget}.`
          : `The model calls cost ${rounded(spent)}, more than the budget of ${budget}; the dearest, of ${dearest?.model ?? ''}, cost ${rounded(dearest === undefined ? 0 : numberOf(dearest.amount))}.`,
      evidence: score === 1 || dearest?.call.spanId === undefined ? [] : [dearest.call.spanId],
      details: { ...details, budget },
    };
  },
});

/** Models that the details name, the dearest ones. */
const modelsNamed = 100;

type Priced = Extract<CallCost, { kind: 'priced' }>;

/** The cost of some calls is unknown. The details have the cost of the others under a name of its own, because it is no cost of the run. */
function partly(calls: readonly CallCost[], priced: readonly Priced[], reported: JsonObject): Outcome {
  const known = numberOf(sum(priced.map(({ amount }) => amount)));
  const unpriced = [...new Set(calls.filter(({ kind }) => kind === 'no_price').map(({ model }) => model))];
  const silent = calls.filter(({ kind }) => kind === 'no_tokens').length;
  const rest = priced.length === 0 ? '' : ` The other ${priced.length === 1 ? 'call' : `${priced.length} calls`} cost ${rounded(known)}.`;
  const details = {
    model_calls: calls.length,
    ...(unpriced.length === 0 ? {} : { models: unpriced.slice(0, 20) }),
    ...(silent === 0 ? {} : { calls_without_tokens: silent }),
    ...(priced.length === 0 ? {} : { known_cost: known, known_calls: priced.length }),
    ...reported,
  };
  if (unpriced.length > 0)
    return skipped(
      'no_price',
      `No price is given for ${listed(
        unpriced.slice(0, listedMax).map((model) => (model === '' ? 'a model without a name' : quoted(model))),
        ', ',
        unpriced.length,
      )}.${rest}`,
      details,
    );
  return skipped(
    'no_tokens',
    `${silent} of ${count(calls.length, 'model call')} ${silent === 1 ? 'lacks' : 'lack'} a number of tokens.${rest}`,
    details,
  );
}

/** The cost that the spans report, beside the computed one. */
function reportedCost({ modelCalls }: AgentTrace): JsonObject {
  const amounts = modelCalls.flatMap(({ toldCost: amount }) =>
    amount === undefined || !Number.isFinite(amount) ? [] : [rational(amount)],
  );
  return amounts.length === 0 ? {} : { told_cost: numberOf(sum(amounts)), calls_with_told_cost: amounts.length };
}

function byModel(priced: readonly Priced[]): JsonObject {
  const amounts = [...Map.groupBy(priced, ({ model }) => model)].map(
    ([model, calls]) => [model, numberOf(sum(calls.map(({ amount }) => amount)))] as const,
  );
  if (amounts.length <= modelsNamed) return { by_model: Object.fromEntries(amounts) };
  return {
    by_model: Object.fromEntries(amounts.toSorted(([, one], [, other]) => other - one).slice(0, modelsNamed)),
    models_left_out: amounts.length - modelsNamed,
  };
}

function rounded(amount: number): string {
  return amount === 0 ? '0' : String(Number(amount.toPrecision(4)));
}
