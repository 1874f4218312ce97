/** The model calls of the run kept within their budgets of tokens. */
import type { AgentTrace } from '../src/model/agent-trace.ts';
import type { JsonObject } from '../src/model/json.ts';
import type { SpanId } from '../src/model/ids.ts';
import type { Outcome } from '../src/model/verdict.ts';
import { budgetShare, hasTokens } from './pricing/prices.ts';
import { skipped } from './evidence/calls.ts';
import { count, listed } from './explain/explanation.ts';
import { rule } from './configuration/define.ts';
import { optional } from './configuration/option-table.ts';

const budget = (description: string): JsonObject => ({ type: 'integer', minimum: 1, maximum: 1_000_000_000_000, description });

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
        'Both together. Each budget scores 1 up to the budget and budget / actual beyond it. The least score counts. Without any budget the run is skipped, and the details have the tokens. Where a call tells no number, the known ones can show that a budget is exceeded, never that it is kept.',
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
  /** Calls without a number: the tokens are at least these. */
  readonly silent: number;
}

/** A failed request without numbers took no tokens. */
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

/** The model call that took most of what is over its budget. */
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
