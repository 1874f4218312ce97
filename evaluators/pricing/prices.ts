/** What model calls cost by a table of prices. */
import type { AgentTrace, ModelCall } from '../../src/model/agent-trace.ts';
import type { JsonSchema } from '../evaluator.ts';
import { modelNames } from './model-names.ts';
import { product, quotient, rational, sum, type Rational, isLess, numberOf } from '../matching/rational.ts';

/** Of a million tokens. */
interface TokenPrices {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  /** Undefined: as other input. */
  readonly cachedPerMillion?: number;
}

export interface Price extends TokenPrices {
  /** What holds for the whole of a call with more input tokens than this, cached ones among them. */
  readonly longContext?: TokenPrices & { readonly overInputTokens: number };
}

/** By name of a model; a name that ends in `*` stands for every model that begins so. */
export interface PriceTable {
  readonly [model: string]: Price;
}

const perMillion = (description: string): JsonSchema => ({
  type: 'number',
  minimum: 0,
  maximum: 1_000_000,
  'x-unit': 'per million tokens',
  description,
});

const tokenPrices: JsonSchema = {
  input_per_million: perMillion('Input tokens.'),
  output_per_million: perMillion('Output tokens, those of reasoning among them.'),
  cached_per_million: perMillion('Input tokens read from a cache; left out: as other input.'),
};

export const priceTableSchema: JsonSchema = {
  type: 'object',
  maxProperties: 2000,
  additionalProperties: {
    type: 'object',
    additionalProperties: false,
    required: ['input_per_million', 'output_per_million'],
    properties: {
      ...tokenPrices,
      long_context: {
        type: 'object',
        description: 'What holds for the whole of a call with a long input, where the vendor charges more for one.',
        additionalProperties: false,
        required: ['over_input_tokens', 'input_per_million', 'output_per_million'],
        properties: {
          over_input_tokens: {
            type: 'integer',
            minimum: 1,
            maximum: 1_000_000_000,
            'x-unit': 'tokens',
            description: 'Input tokens, cached ones among them, beyond which it holds.',
          },
          ...tokenPrices,
        },
      },
    },
  },
};

/**
 * The price of a model under the longest of its names that the table has, else under the longest beginning that fits one of them. A price
 * is never taken from a name that says more than the span does.
 */
export function priceOf(model: string, prices: PriceTable): Price | undefined {
  const names = modelNames(model);
  const exact = names.find((name) => Object.hasOwn(prices, name));
  if (exact !== undefined) return prices[exact];
  const fitting = Object.keys(prices).filter((key) => key.endsWith('*') && names.some((name) => name.startsWith(key.slice(0, -1))));
  const [longest] = fitting.toSorted((a, b) => b.length - a.length);
  return longest === undefined ? undefined : prices[longest];
}

export type CallCost =
  | { readonly kind: 'priced'; readonly call: ModelCall; readonly model: string; readonly amount: Rational }
  /** The model has no price; a call without a model has the empty text. */
  | { readonly kind: 'no_price'; readonly call: ModelCall; readonly model: string }
  /** A number of tokens that costs something is missing. */
  | { readonly kind: 'no_tokens'; readonly call: ModelCall; readonly model: string };

/**
 * Each model call of a run. A failed request without tokens was not charged, so it is left out. A trace that knows its tokens
 * only as a whole counts as one call.
 */
export function callCosts({ modelCalls, model: ofRun = '', tokens }: AgentTrace, prices: PriceTable): readonly CallCost[] {
  const known = new Map<string, Price | undefined>();
  const price = (model: string): Price | undefined => {
    if (!known.has(model)) known.set(model, priceOf(model, prices));
    return known.get(model);
  };
  const whole: readonly ModelCall[] =
    tokens === undefined
      ? []
      : [
          {
            ...(tokens.input === undefined ? {} : { inputTokens: tokens.input }),
            ...(tokens.output === undefined ? {} : { outputTokens: tokens.output }),
          },
        ];
  return (modelCalls.length === 0 ? whole : modelCalls)
    .filter((call) => call.failed !== true || hasTokens(call))
    .map((call): CallCost => {
      const { model = ofRun } = call;
      const found = price(model);
      if (found === undefined) return { kind: hasTokens(call) ? 'no_price' : 'no_tokens', call, model };
      return lacksTokens(call, found) ? { kind: 'no_tokens', call, model } : { kind: 'priced', call, model, amount: amountOf(call, found) };
    });
}

export function hasTokens({ inputTokens, outputTokens }: ModelCall): boolean {
  return inputTokens !== undefined || outputTokens !== undefined;
}

/** What is free need not be counted: an embedding has no output tokens. */
function lacksTokens({ inputTokens, outputTokens }: ModelCall, { inputPerMillion, outputPerMillion }: TokenPrices): boolean {
  return (inputTokens === undefined && inputPerMillion > 0) || (outputTokens === undefined && outputPerMillion > 0);
}

const million = 1_000_000;

/** Cached tokens are among the input tokens, unless there are more of them: then the input does not include them. */
function amountOf({ inputTokens = 0, outputTokens = 0, cachedInputTokens: cached = 0 }: ModelCall, price: Price): Rational {
  const fresh = cached > inputTokens ? inputTokens : inputTokens - cached;
  const {
    inputPerMillion,
    outputPerMillion,
    cachedPerMillion = inputPerMillion,
  } = price.longContext !== undefined && fresh + cached > price.longContext.overInputTokens ? price.longContext : price;
  const lines = [
    [fresh, inputPerMillion],
    [cached, cachedPerMillion],
    [outputTokens, outputPerMillion],
  ] as const;
  return quotient(sum(lines.map(([tokens, perMillionTokens]) => product(rational(tokens), rational(perMillionTokens)))), rational(million));
}

/** 1 up to the budget, budget / spent beyond it. Both are 0 or more, the budget is greater than 0. */
export function budgetShare(budget: number, spent: number | Rational): number {
  const [most, actual] = [rational(budget), typeof spent === 'number' ? rational(spent) : spent];
  return isLess(most, actual) ? numberOf(quotient(most, actual)) : 1;
}
