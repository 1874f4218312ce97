/** What the model calls of the run cost, by prices that the configuration gives, kept within a budget. */
import type { AgentTrace, ModelCall } from '../src/model/agent-trace.ts';
import type { JsonObject } from '../src/model/json.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { budgetShare } from './budget.ts';
import { skipped } from './calls.ts';
import type { Skipped } from './calls.ts';
import type { RuleEvaluator, Subject } from './evaluator.ts';
import { numberOf, product, quotient, rational, sum } from './rational.ts';
import type { Rational } from './rational.ts';
import { listed, quoted } from './wording.ts';

export interface Price {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  /** Undefined: as other input. */
  readonly cachedPerMillion?: number;
}

export interface CostOptions {
  readonly prices: { readonly [model: string]: Price };
  readonly budget: number | undefined;
}

const price = { type: 'number', minimum: 0, maximum: 1_000_000 } as const;

export const cost = {
  kind: 'rule',
  id: 'cost',
  version: 1,
  summary: 'The model calls of the run cost no more than the budget.',
  needs: ['tokens'],
  onByDefault: false,
  defaultThreshold: 1,
  defaults: { prices: {}, budget: undefined },
  optionsSchema: {
    type: 'object',
    additionalProperties: false,
    required: ['prices'],
    properties: {
      prices: {
        type: 'object',
        minProperties: 1,
        maxProperties: 500,
        description: 'By name of the model as the spans have it: `input_per_million`, `output_per_million` and, where cached input costs less, `cached_per_million`, all in one currency. A name that ends in `*` stands for every model that begins so; the longest that fits counts. Required.',
        additionalProperties: { type: 'object', additionalProperties: false, required: ['input_per_million', 'output_per_million'], properties: { input_per_million: price, output_per_million: price, cached_per_million: price } },
      },
      budget: { type: 'number', exclusiveMinimum: 0, maximum: 1_000_000_000, description: 'What a run may cost, in the currency of the prices. Up to here the score is 1; beyond it budget / cost. Without a budget it is skipped, and the details tell the cost.' },
    },
  },
  source: 'prices by model, with exact decimals',
  evaluate,
} as const satisfies RuleEvaluator<CostOptions>;

/** Model calls of one run. */
const modelCallsMax = 20_000;
const million = 1_000_000;

interface Priced {
  readonly call: ModelCall;
  readonly model: string;
  readonly amount: Rational;
}

function evaluate({ trace }: Subject, options: CostOptions): Outcome {
  if (trace.modelCalls.length > modelCallsMax) return skipped('too_large', `${trace.modelCalls.length} model calls are more than the ${modelCallsMax} that are counted.`);
  const priced = pricedCalls(trace, options);
  if ('kind' in priced) return priced;
  const total = sum(priced.map(({ amount }) => amount));
  const spent = numberOf(total);
  const details = { cost: spent, by_model: byModel(priced) };
  if (options.budget === undefined) return skipped('no_expectation', `The model calls cost ${shown(spent)}; set a budget to score it.`, details);
  const score = budgetShare(options.budget, total);
  const dearest = priced.reduce<Priced | undefined>((most, one) => (most === undefined || numberOf(one.amount) > numberOf(most.amount) ? one : most), undefined);
  return {
    kind: 'scored',
    score,
    explanation: score === 1 ? `The model calls cost ${shown(spent)}, within the budget of ${options.budget}.` : `The model calls cost ${shown(spent)}, more than the budget of ${options.budget}; the dearest, of ${dearest?.model ?? ''}, cost ${shown(dearest === undefined ? 0 : numberOf(dearest.amount))}.`,
    evidence: score === 1 || dearest?.call.spanId === undefined ? [] : [dearest.call.spanId],
    details: { ...details, budget: options.budget },
  };
}

function pricedCalls({ modelCalls, model: ofRun }: AgentTrace, { prices }: CostOptions): readonly Priced[] | Skipped {
  const counted = modelCalls.filter(({ inputTokens, outputTokens }) => inputTokens !== undefined || outputTokens !== undefined);
  if (counted.length === 0) return skipped('no_tokens', 'The spans of this agent carry no numbers of tokens.');
  const known = counted.map((call) => ({ call, model: call.model ?? ofRun ?? '', price: priceOf(call.model ?? ofRun ?? '', prices) }));
  const unknown = [...new Set(known.filter((one) => one.price === undefined).map(({ model }) => model))];
  if (unknown.length > 0) return skipped('no_price', `No price is given for ${listed(unknown.map((model) => (model === '' ? 'a model without a name' : quoted(model))))}.`, { models: unknown.slice(0, 20) });
  return known.flatMap(({ call, model, price: found }) => (found === undefined ? [] : [{ call, model, amount: amountOf(call, found) }]));
}

/** Cached tokens are among the input tokens. */
function amountOf({ inputTokens = 0, outputTokens = 0, cachedInputTokens = 0 }: ModelCall, { inputPerMillion, outputPerMillion, cachedPerMillion = inputPerMillion }: Price): Rational {
  const cached = Math.min(cachedInputTokens, inputTokens);
  const lines = [[inputTokens - cached, inputPerMillion], [cached, cachedPerMillion], [outputTokens, outputPerMillion]] as const;
  return quotient(sum(lines.map(([tokens, perMillion]) => product(rational(tokens), rational(perMillion)))), rational(million));
}

function priceOf(model: string, prices: CostOptions['prices']): Price | undefined {
  if (Object.hasOwn(prices, model)) return prices[model];
  const fitting = Object.keys(prices).filter((name) => name.endsWith('*') && model.startsWith(name.slice(0, -1)));
  const longest = fitting.toSorted((a, b) => b.length - a.length)[0];
  return longest === undefined ? undefined : prices[longest];
}

function byModel(priced: readonly Priced[]): JsonObject {
  return Object.fromEntries([...Map.groupBy(priced, ({ model }) => model)].map(([model, calls]) => [model, numberOf(sum(calls.map(({ amount }) => amount)))]));
}

function shown(amount: number): string {
  return amount === 0 ? '0' : String(Number(amount.toPrecision(4)));
}
