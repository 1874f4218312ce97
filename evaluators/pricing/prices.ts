/**
 * The cost of model calls by a table of prices. Spans carry the name of an endpoint: the model's name after a provider and a region, and before a
 * date or revision (`us.anthropic.claude-sonnet-4-5-20250929-v1:0`).
 */
import type { AgentTrace, ModelCall } from '../../src/model/agent-trace.ts';
import type { JsonSchema } from '../evaluator.ts';
import { product, quotient, rational, sum, type Rational, isLess, numberOf } from '../matching/rational.ts';

/** Longer names are not shortened. */
const charsMax = 200;
/** Limit of parts removed from one end. */
const partsMax = 8;

/** A prefix up to a slash, or letters and dashes up to a dot or colon; keeps `gpt-4.1` and `llama3:8b`. */
const LEADING = /^(?:[^/]*\/|[A-Za-z-]+[.:])/;
/** A date, a numeric revision, or `latest`. Other suffixes (`-mini`, `:free`) name other models or prices. */
const TRAILING = /(?:-\d{4}-\d{2}-\d{2}|-(?:19|20)\d{6}|-0\d{2}|-v\d{1,3}:\d{1,3}|:\d{1,3}|@\d{1,8}|@default|[-:@]latest)$/;

/** The name and its shortened forms, longest first. */
export function modelNames(name: string): readonly string[] {
  if (name.length > charsMax) return [name];
  const names = shortened(name, LEADING).flatMap((inner) => shortened(inner, TRAILING));
  return [...new Set(names)].toSorted((a, b) => b.length - a.length);
}

/** The name and its forms after each cut; never empty. */
function shortened(name: string, part: RegExp): readonly string[] {
  const names = [name];
  for (let left = name.replace(part, ''); left !== '' && left !== names.at(-1) && names.length <= partsMax; left = left.replace(part, ''))
    names.push(left);
  return names;
}

/** Prices per million tokens. */
interface TokenPrices {
  readonly inputPerMillion: number;
  readonly outputPerMillion: number;
  /** Defaults to the price of other input. */
  readonly cachedPerMillion?: number;
}

export interface Price extends TokenPrices {
  /** Prices for the whole call when its input, cached tokens included, exceeds `overInputTokens`. */
  readonly longContext?: TokenPrices & { readonly overInputTokens: number };
}

/** Prices by model; a trailing `*` matches any ending. */
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
        description: 'Prices of a whole call with a long input, where the vendor charges more for one.',
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
 * The price of a model under the longest of its names that the table has, else under the longest beginning that fits one of them. A price is never
 * taken from a name that is more specific than the span's.
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
  /** `no_price`: the model has none; the name is empty for a call without a model. */
  | { readonly kind: 'no_price'; readonly call: ModelCall; readonly model: string }
  /** `no_tokens`: a charged token count is missing. */
  | { readonly kind: 'no_tokens'; readonly call: ModelCall; readonly model: string };

/** Costs of runs by a price table. Caches the looked-up models. */
export interface Costing {
  /**
   * Each model call of a run. A failed request without tokens was not charged, so it is left out. A trace that knows its tokens
   * only as a whole counts as one call.
   */
  callCosts(trace: AgentTrace): readonly CallCost[];
}

/** Limit of cached models, whose names come from spans; the cache restarts beyond it. */
const modelsMax = 1_000;

export function costing(prices: PriceTable): Costing {
  const known = new Map<string, PricedModel | undefined>();

  function priced(model: string): PricedModel | undefined {
    if (known.has(model)) return known.get(model);
    if (known.size >= modelsMax) known.clear();
    const price = priceOf(model, prices);
    const found = price === undefined ? undefined : pricedModel(price);
    known.set(model, found);
    return found;
  }

  return {
    callCosts: (trace) =>
      requestsOf(trace).map((call): CallCost => {
        const { model = trace.model ?? '' } = call;
        const found = priced(model);
        if (found === undefined) return { kind: hasTokens(call) ? 'no_price' : 'no_tokens', call, model };
        if (lacksTokens(call, found.price)) return { kind: 'no_tokens', call, model };
        return { kind: 'priced', call, model, amount: amountOf(call, found) };
      }),
  };
}

export function callCosts(trace: AgentTrace, prices: PriceTable): readonly CallCost[] {
  return costing(prices).callCosts(trace);
}

function requestsOf({ modelCalls, tokens }: AgentTrace): readonly ModelCall[] {
  if (modelCalls.length > 0) return modelCalls.filter((call) => call.failed !== true || hasTokens(call));
  if (tokens === undefined) return [];
  return [
    {
      ...(tokens.input === undefined ? {} : { inputTokens: tokens.input }),
      ...(tokens.output === undefined ? {} : { outputTokens: tokens.output }),
    },
  ];
}

export function hasTokens({ inputTokens, outputTokens }: ModelCall): boolean {
  return inputTokens !== undefined || outputTokens !== undefined;
}

/** Tokens that are free need no count, such as the output of embeddings. */
function lacksTokens({ inputTokens, outputTokens }: ModelCall, { inputPerMillion, outputPerMillion }: TokenPrices): boolean {
  return (inputTokens === undefined && inputPerMillion > 0) || (outputTokens === undefined && outputPerMillion > 0);
}

const million = 1_000_000;

/** Prices per token with a common denominator, so that the cost of a call is a whole number of parts. */
interface TokenParts {
  readonly input: bigint;
  readonly cached: bigint;
  readonly output: bigint;
  readonly denominator: bigint;
}

interface PricedModel {
  readonly price: Price;
  readonly parts: TokenParts;
  readonly longContextParts: TokenParts | undefined;
}

function pricedModel(price: Price): PricedModel {
  const { longContext } = price;
  return { price, parts: tokenParts(price), longContextParts: longContext === undefined ? undefined : tokenParts(longContext) };
}

function tokenParts({ inputPerMillion, outputPerMillion, cachedPerMillion = inputPerMillion }: TokenPrices): TokenParts {
  const [input, cached, output] = [rational(inputPerMillion), rational(cachedPerMillion), rational(outputPerMillion)];
  const denominator = input.denominator * cached.denominator * output.denominator;
  return {
    input: (input.numerator * denominator) / input.denominator,
    cached: (cached.numerator * denominator) / cached.denominator,
    output: (output.numerator * denominator) / output.denominator,
    denominator: denominator * BigInt(million),
  };
}

/** Cached tokens are part of the input tokens, unless they exceed them. */
function amountOf(
  { inputTokens = 0, outputTokens = 0, cachedInputTokens: cached = 0 }: ModelCall,
  { price: { longContext }, parts, longContextParts = parts }: PricedModel,
): Rational {
  const fresh = cached > inputTokens ? inputTokens : inputTokens - cached;
  const charged = longContext !== undefined && fresh + cached > longContext.overInputTokens ? longContextParts : parts;
  const { input, output, denominator } = charged;
  // A hand-made trace may have fractional tokens.
  if (!Number.isSafeInteger(fresh) || !Number.isSafeInteger(cached) || !Number.isSafeInteger(outputTokens))
    return sum([
      product(rational(fresh), { numerator: input, denominator }),
      product(rational(cached), { numerator: charged.cached, denominator }),
      product(rational(outputTokens), { numerator: output, denominator }),
    ]);
  const uncached = BigInt(fresh) * input + BigInt(outputTokens) * output;
  return { numerator: cached === 0 ? uncached : uncached + BigInt(cached) * charged.cached, denominator };
}

/** 1 within the budget, budget / spent beyond it. Both are not negative, and the budget is positive. */
export function budgetShare(budget: number, spent: number | Rational): number {
  const [most, actual] = [rational(budget), typeof spent === 'number' ? rational(spent) : spent];
  return isLess(most, actual) ? numberOf(quotient(most, actual)) : 1;
}
