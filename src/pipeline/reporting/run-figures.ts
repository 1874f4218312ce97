/** What figures about versions need of a run beside its verdicts: its prompt, task, tokens and cost. */
import { hash } from 'node:crypto';
import { numberOf } from '../../../evaluators/matching/rational.ts';
import { costing, type PriceTable } from '../../../evaluators/pricing/prices.ts';
import type { AgentTrace, Run } from '../../model/agent-trace.ts';
import type { RunFigures } from '../../model/scored-run.ts';

interface RunFigureOptions {
  readonly prices: PriceTable;
  readonly taskOf: (run: Run) => string | undefined;
}

/** Digits of the hash of a prompt: enough to tell the prompts of an agent apart. */
const promptDigits = 12;

export function runFigures({ prices, taskOf }: RunFigureOptions): (run: Run) => RunFigures {
  const { callCosts } = costing(prices);

  /** By the table of prices, else as the spans tell it. */
  function costOf(trace: AgentTrace): number | undefined {
    const costs = callCosts(trace).map((cost) => (cost.kind === 'priced' ? numberOf(cost.amount) : cost.call.toldCost));
    return costs.length === 0 ? undefined : sumOf(costs);
  }

  return (run) => {
    const { systemPrompt } = run.trace;
    return {
      ...known('prompt', systemPrompt === undefined ? undefined : hash('sha256', systemPrompt, 'hex').slice(0, promptDigits)),
      ...known('task', taskOf(run)),
      ...known('inputTokens', amount(tokensOf(run.trace, 'inputTokens', 'input'))),
      ...known('outputTokens', amount(tokensOf(run.trace, 'outputTokens', 'output'))),
      ...known('costUsd', amount(costOf(run.trace))),
    };
  };
}

/** Of the model calls, else the sum on the agent's span. */
function tokensOf({ modelCalls, tokens }: AgentTrace, key: 'inputTokens' | 'outputTokens', whole: 'input' | 'output'): number | undefined {
  const told = modelCalls.flatMap((call) => call[key] ?? []);
  return told.length === 0 ? tokens?.[whole] : told.reduce((sum, one) => sum + one, 0);
}

/** `undefined` when a part is unknown: a sum without it would look like a cheap run. */
function sumOf(parts: readonly (number | undefined)[]): number | undefined {
  return parts.reduce((sum, part) => (sum === undefined || part === undefined ? undefined : sum + part), 0);
}

/** Spans may tell any number. */
function amount(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) && value >= 0 ? value : undefined;
}

function known<Key extends string, Value>(key: Key, value: Value | undefined): { readonly [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]: Value });
}
