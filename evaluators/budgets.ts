/** Budgets of a run: time, steps, tokens or money. The score is 1 within the budget, and budget / actual beyond it. */
import { requestCount, type AgentTrace } from '../src/model/agent-trace.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { budgetShare, hasTokens, callCosts, priceTableSchema, type CallCost, type PriceTable } from './pricing/prices.ts';
import { callDetails, evidenceOf, executedCalls, notCarried, noToolCalls, skipped, type PlacedCall } from './evidence/calls.ts';
import { callName, count, listed, quoted, listedOf } from './explain/explanation.ts';
import { rule, choice, optional, required, option } from './configuration/define.ts';
import type { JsonObject } from '../src/model/json.ts';
import type { SpanId } from '../src/model/ids.ts';
import { listPrices } from './pricing/list-prices.ts';
import { numberOf, rational, sum } from './matching/rational.ts';

/** The run, or its slowest tool call, stays within a time budget. */
export const latency = rule({
  id: 'latency',
  summary: 'The run, or its slowest tool call, kept within the budget of time.',
  needs: ['times'],
  defaultThreshold: 1,
  options: {
    of: choice(['run', 'slowest_tool_call'], 'The measured time.'),
    budget_seconds: optional<number>({
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 31_536_000,
      description: 'Up to here the score is 1; beyond it budget / actual. Without a budget it is skipped, and the details have the time.',
    }),
  },
  source: 'latency objectives, as a share of a budget',
  evaluate({ trace }, options) {
    const measured = options.of === 'run' ? ofRun(trace) : ofCalls(trace);
    if ('kind' in measured) return measured;
    const { nanos, slowest } = measured;
    const seconds = Number(nanos) / 1e9;
    const what = slowest === undefined ? 'The run' : `The slowest tool call, ${callName(slowest)},`;
    const details = { of: options.of, seconds, ...(slowest === undefined ? {} : { slowest: callDetails(slowest) }) };
    if (options.budgetSeconds === undefined)
      return skipped('no_expectation', `${what} took ${rounded(seconds)} s; set budget_seconds to score it.`, details);
    const score = budgetShare(options.budgetSeconds, seconds);
    return {
      kind: 'scored',
      score,
      explanation: `${what} took ${rounded(seconds)} s, ${score === 1 ? 'within' : 'more than'} the budget of ${rounded(options.budgetSeconds)} s.`,
      evidence: score === 1 || slowest === undefined ? [] : evidenceOf([slowest]),
      details: { ...details, budget_seconds: options.budgetSeconds },
    };
  },
});

interface Measured {
  readonly nanos: bigint;
  readonly slowest?: PlacedCall;
}

function ofRun({ startUnixNano, endUnixNano }: AgentTrace): Measured | Outcome {
  if (startUnixNano === undefined || endUnixNano === undefined || endUnixNano < startUnixNano)
    return skipped('no_times', 'The spans have no times of the run.');
  return { nanos: endUnixNano - startUnixNano };
}

function ofCalls(trace: AgentTrace): Measured | Outcome {
  const stop = notCarried(trace);
  if (stop !== undefined) return stop;
  const calls = executedCalls(trace);
  if (calls.length === 0) return noToolCalls(trace);
  const timed = calls.flatMap((placed) => {
    const { startUnixNano, endUnixNano } = placed.call;
    return startUnixNano === undefined || endUnixNano === undefined || endUnixNano < startUnixNano
      ? []
      : [{ slowest: placed, nanos: endUnixNano - startUnixNano }];
  });
  const [first, ...more] = timed;
  if (first === undefined) return skipped('no_times', 'The tool calls of this run have no times; switch on tool spans.');
  return more.reduce((slow, one) => (one.nanos > slow.nanos ? one : slow), first);
}

function rounded(seconds: number): number {
  return Math.round(seconds * 1_000) / 1_000;
}

/** The run stays within a budget of steps. Steps are the tool calls that ran and, optionally, the requests to models. */
export const stepCount = rule({
  id: 'step_count',
  summary: 'The run kept to its budget of steps.',
  needs: ['tool_calls'],
  defaultThreshold: 1,
  options: {
    max: required(
      {
        type: 'integer',
        minimum: 1,
        maximum: 1_000_000,
        description: 'The budget. A run within it scores 1, a longer one the budget over its steps. Required.',
      },
      1,
    ),
    steps: choice(['tool_calls', 'tool_and_model_calls'], 'The calls that count as steps.'),
  },
  source: 'the step budget of convergence, for a single run',
  evaluate({ trace }, { max, steps: kind }) {
    const stop = notCarried(trace);
    if (stop !== undefined) return stop;
    const calls = executedCalls(trace);
    const models = kind === 'tool_and_model_calls' ? requestCount(trace.modelCalls) : 0;
    const steps = calls.length + models;
    const beyond = kind === 'tool_calls' ? calls.slice(max) : [];
    const [first] = beyond;
    return {
      kind: 'scored',
      score: steps <= max ? 1 : max / steps,
      explanation:
        steps <= max
          ? `The run took ${count(steps, 'step')} of at most ${max}.`
          : `The run took ${count(steps, 'step')}, ${steps - max} more than the ${max} of its budget${first === undefined ? '' : `; ${callName(first)} is the first beyond it`}.`,
      evidence: evidenceOf(beyond),
      details: { steps, max, tool_calls: calls.length, ...(kind === 'tool_calls' ? {} : { model_calls: models }) },
    };
  },
});

const budget = (description: string): JsonObject => ({ type: 'integer', minimum: 1, maximum: 1_000_000_000_000, description });

/** The model calls of the run stay within token budgets. */
export const tokenUsage = rule({
  id: 'token_usage',
  version: 2,
  summary: 'The run kept within its budget of tokens.',
  needs: ['tokens'],
  defaultThreshold: 1,
  options: {
    input_budget: optional<number>(budget('Input tokens of all model calls of the run, cached ones among them.')),
    output_budget: optional<number>(budget('Output tokens of all model calls of the run.')),
    total_budget: optional<number>(
      budget(
        'Both together. Each budget scores 1 up to the budget and budget / actual beyond it. The least score counts. Without any budget the run is skipped, and the details have the tokens. Where a call has no number, the known ones can show that a budget is exceeded, never that it is kept.',
      ),
    ),
  },
  source: 'token objectives, as a share of a budget',
  evaluate({ trace }, options) {
    const { input, output } = trace.tokens ?? {};
    if (input === undefined && output === undefined) return skipped('no_tokens', 'The spans of this agent carry no numbers of tokens.');
    const total = input === undefined || output === undefined ? undefined : input + output;
    const tokens = {
      ...(input === undefined ? {} : { input_tokens: input }),
      ...(output === undefined ? {} : { output_tokens: output }),
      ...(total === undefined ? {} : { total_tokens: total }),
    };
    const wanted = [
      { what: 'input', budget: options.inputBudget, tokens: input },
      { what: 'output', budget: options.outputBudget, tokens: output },
      { what: 'total', budget: options.totalBudget, tokens: total },
    ] as const;
    if (wanted.every((one) => one.budget === undefined))
      return skipped('no_expectation', `The run took ${inWords(tokens)}; set a budget to score it.`, tokens);
    const spent = wanted.flatMap(({ what, budget: most, tokens: actual }): readonly Spent[] =>
      most === undefined || actual === undefined
        ? []
        : [{ what, budget: most, tokens: actual, share: budgetShare(most, actual), silent: silentCalls(trace, what) }],
    );
    if (spent.length === 0)
      return skipped('no_tokens', 'The spans of this agent do not carry the numbers of tokens that have a budget.', tokens);
    const silent = Math.max(...spent.map((one) => one.silent));
    const details = silent === 0 ? tokens : { ...tokens, calls_without_tokens: silent };
    if (silent > 0 && spent.every(({ share }) => share === 1))
      return skipped(
        'no_tokens',
        `${silent} of ${count(trace.modelCalls.length, 'model call')} ${silent === 1 ? 'lacks' : 'lack'} a number of tokens that has a budget. The others took ${inWords(tokens)}.`,
        details,
      );
    return verdict(trace, spent, { tokens, details });
  },
});

interface Spent {
  readonly what: 'input' | 'output' | 'total';
  readonly budget: number;
  readonly tokens: number;
  readonly share: number;
  /** Calls without a token count, so the sum is a lower bound. */
  readonly silent: number;
}

/** A failed request without token counts used none. */
function silentCalls({ modelCalls }: AgentTrace, what: Spent['what']): number {
  return modelCalls.filter((call) => {
    const { inputTokens: input, outputTokens: output } = call;
    if (call.failed === true && !hasTokens(call)) return false;
    return (what !== 'output' && input === undefined) || (what !== 'input' && output === undefined);
  }).length;
}

function verdict(
  trace: AgentTrace,
  spent: readonly Spent[],
  { tokens, details }: { readonly tokens: JsonObject; readonly details: JsonObject },
): Outcome {
  const over = spent.filter(({ share }) => share < 1);
  return {
    kind: 'scored',
    score: Math.min(...spent.map(({ share }) => share)),
    explanation:
      over.length === 0
        ? `The run took ${inWords(tokens)}, within its budget.`
        : `The run took more tokens than its budget: ${listed(over.map((one) => `${one.silent > 0 ? 'at least ' : ''}${one.tokens} of ${one.budget} ${one.what} tokens`))}.`,
    evidence: over.length === 0 ? [] : largest(trace, over),
    details: { ...details, ...Object.fromEntries(spent.map((one) => [`${one.what}_budget`, one.budget])) },
  };
}

/** The model call with the largest share of the exceeded budget. */
function largest({ modelCalls }: AgentTrace, over: readonly Spent[]): readonly SpanId[] {
  const counted = over.map(({ what }) => what);
  const tokensOf = ({ inputTokens = 0, outputTokens = 0 }: AgentTrace['modelCalls'][number]): number =>
    counted.includes('output') && counted.length === 1
      ? outputTokens
      : counted.includes('total')
        ? inputTokens + outputTokens
        : inputTokens;
  const [first, ...more] = modelCalls;
  if (first === undefined) return [];
  const { spanId } = more.reduce((most, one) => (tokensOf(one) > tokensOf(most) ? one : most), first);
  return spanId === undefined ? [] : [spanId];
}

function inWords(tokens: JsonObject): string {
  return (
    Object.entries(tokens)
      .map(([name, number]) => `${String(number)} ${name.replace('_tokens', '')}`)
      .join(', ') + ' tokens'
  );
}

/** The cost of the run's model calls, by a price table, stays within a budget. */
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
          'By name of the model: `input_per_million`, `output_per_million` and, where cached input costs less, `cached_per_million`, all in one currency. Left out or empty: `prices` of the configuration, with the list prices of vendors behind them. A price also holds for the name with a provider before it, and with a date or revision behind it. A name that ends in `*` matches every model that begins with it.',
      },
      {},
    ),
    budget: optional<number>({
      type: 'number',
      exclusiveMinimum: 0,
      maximum: 1_000_000_000,
      description:
        'The cost that a run may have, in the currency of the prices. Up to here the score is 1; beyond it budget / cost. Without a budget it is skipped, and the details have the cost.',
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
      return skipped('no_expectation', `The model calls cost ${roundedAmount(spent)}; set a budget to score it.`, details);
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
          ? `The model calls cost ${roundedAmount(spent)}, within the budget of ${budget}.`
          : `The model calls cost ${roundedAmount(spent)}, more than the budget of ${budget}; the dearest, of ${dearest?.model ?? ''}, cost ${roundedAmount(dearest === undefined ? 0 : numberOf(dearest.amount))}.`,
      evidence: score === 1 || dearest?.call.spanId === undefined ? [] : [dearest.call.spanId],
      details: { ...details, budget },
    };
  },
});

/** Limit of models in the details; the most expensive come first. */
const modelsNamed = 100;

type Priced = Extract<CallCost, { kind: 'priced' }>;

/** The cost of some calls is unknown. The details report the cost of the others under a separate name, because it is less than the cost of the run. */
function partly(calls: readonly CallCost[], priced: readonly Priced[], reported: JsonObject): Outcome {
  const known = numberOf(sum(priced.map(({ amount }) => amount)));
  const unpriced = [...new Set(calls.filter(({ kind }) => kind === 'no_price').map(({ model }) => model))];
  const silent = calls.filter(({ kind }) => kind === 'no_tokens').length;
  const rest =
    priced.length === 0 ? '' : ` The other ${priced.length === 1 ? 'call' : `${priced.length} calls`} cost ${roundedAmount(known)}.`;
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
      `No price is given for ${listedOf(unpriced, (model) => (model === '' ? 'a model without a name' : quoted(model)), ', ')}.${rest}`,
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

function roundedAmount(amount: number): string {
  return amount === 0 ? '0' : String(Number(amount.toPrecision(4)));
}
