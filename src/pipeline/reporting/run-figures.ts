/** The figures of a run that comparisons of versions need beside its verdicts: its prompt, task, tokens and cost. */
import { hash } from 'node:crypto';
import { numberOf } from '../../../evaluators/matching/rational.ts';
import { type CallCost, costing, type PriceTable } from '../../../evaluators/pricing/prices.ts';
import { requestCount, type AgentTrace, type ModelCall, type Run } from '../../model/agent-trace.ts';
import { tookNano } from '../../model/error-signs.ts';
import type { ModelCounts, RunFigures } from '../../model/scored-run.ts';

interface RunFigureOptions {
  readonly prices: PriceTable;
  readonly taskOf: (run: Run) => string | undefined;
}

/** Digits of the hash of a prompt: enough to distinguish the prompts of an agent. */
const promptDigits = 12;

/** The hash of the system prompt. */
export function promptOf({ systemPrompt }: AgentTrace): string | undefined {
  return systemPrompt === undefined ? undefined : hash('sha256', systemPrompt, 'hex').slice(0, promptDigits);
}

export function runFigures({ prices, taskOf }: RunFigureOptions): (run: Run) => RunFigures {
  const { callCosts } = costing(prices);
  return (run) => {
    const costs = callCosts(run.trace);
    return {
      ...known('prompt', promptOf(run.trace)),
      ...known('task', taskOf(run)),
      ...known('inputTokens', tokenCount(tokensOf(run.trace, 'inputTokens', 'input'))),
      ...known('outputTokens', tokenCount(tokensOf(run.trace, 'outputTokens', 'output'))),
      ...known('costUsd', costs.length === 0 ? undefined : amount(sumOf(costs.map(costOf)))),
      ...known('models', modelCounts(run.trace, costs)),
    };
  };
}

/** The cost by the table of prices, else as the spans report it. */
function costOf(cost: CallCost): number | undefined {
  return cost.kind === 'priced' ? numberOf(cost.amount) : cost.call.toldCost;
}

/** Models of one run; calls of further ones count together. */
const modelsMax = 20;
const modelCharsMax = 200;
const otherModels = 'other';
/** Times of the calls of one model in one run. */
const timesMax = 500;

function modelCounts({ model: usual = '', modelCalls }: AgentTrace, costs: readonly CallCost[]): readonly ModelCounts[] | undefined {
  if (modelCalls.length === 0) return undefined;
  const costOfCall = new Map(costs.map((cost) => [cost.call, costOf(cost)]));
  const byModel = new Map<string, ModelCall[]>();
  for (const call of modelCalls) {
    const name = (call.model ?? usual).slice(0, modelCharsMax);
    const key = byModel.has(name) || byModel.size < modelsMax ? name : otherModels;
    const calls = byModel.get(key);
    if (calls === undefined) byModel.set(key, [call]);
    else calls.push(call);
  }
  return [...byModel].map(([model, calls]) => {
    const asked = calls.filter((call) => costOfCall.has(call));
    return {
      model,
      calls: requestCount(calls),
      errors: calls.filter(({ failed }) => failed === true).length,
      ...known('inputTokens', tokenCount(toldOf(calls, 'inputTokens'))),
      ...known('outputTokens', tokenCount(toldOf(calls, 'outputTokens'))),
      ...known('costUsd', asked.length === 0 ? undefined : amount(sumOf(asked.map((call) => costOfCall.get(call))))),
      took: calls
        .slice(0, timesMax)
        .map(tookNano)
        .flatMap((took) => (took === undefined ? [] : [Number(took / 1_000n)])),
    };
  });
}

function toldOf(calls: readonly ModelCall[], key: 'inputTokens' | 'outputTokens'): number | undefined {
  const told = calls.flatMap((call) => call[key] ?? []);
  return told.length === 0 ? undefined : told.reduce((sum, one) => sum + one, 0);
}

/** Tokens of the model calls, else the sum on the agent's span. */
function tokensOf({ modelCalls, tokens }: AgentTrace, key: 'inputTokens' | 'outputTokens', whole: 'input' | 'output'): number | undefined {
  return toldOf(modelCalls, key) ?? tokens?.[whole];
}

/** `undefined` when a part is unknown: a sum without it would look like a cheap run. */
function sumOf(parts: readonly (number | undefined)[]): number | undefined {
  return parts.reduce((sum, part) => (sum === undefined || part === undefined ? undefined : sum + part), 0);
}

/** Limit of one run. A sum of such figures stays finite for any number of runs. */
const figureMax = 1e15;

/** Spans may report any number. */
function amount(value: number | undefined): number | undefined {
  return value !== undefined && value >= 0 && value <= figureMax ? value : undefined;
}

/** Whole tokens: the store has integers for them. */
function tokenCount(value: number | undefined): number | undefined {
  const told = amount(value);
  return told === undefined ? undefined : Math.round(told);
}

function known<Key extends string, Value>(key: Key, value: Value | undefined): { readonly [K in Key]?: Value } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [K in Key]: Value });
}
