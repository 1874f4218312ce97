/** Runs × probability × tokens × price, from the runs of the last days in a store. */
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { priceOf } from '../../../evaluators/pricing/prices.ts';
import type { ConfiguredEvaluator } from '../../../evaluators/configuration/configured.ts';
import type { Config, EvaluatorConfig } from '../../config/config.ts';
import type { Run } from '../../model/agent-trace.ts';
import type { TokenPrice } from '../../judges/budget/budgets.ts';
import type { BudgetLimits } from '../../model/budget.ts';
import { promptBounds, promptOf } from '../../judges/client/prompt.ts';
import { isJsonObject } from '../../model/json.ts';
import { isOfSession } from '../../pipeline/evaluation/evaluate.ts';
import { panelModel, slotsOf, type Panel } from '../../pipeline/jury/jury-panel.ts';
import { rateByScores } from '../../pipeline/evaluation/sampling.ts';
import type { RunPlace, RunRow, Store } from '../../model/store/store.ts';
import type { Micros } from '../../model/timestamp.ts';
import { givenTraces } from '../eval/json-input-traces.ts';

export interface Traffic {
  /** Newest first, at most `runsMax`. */
  readonly runs: readonly RunRow[];
  /** That these are of. */
  readonly days: number;
  /** Runs with their content. */
  readonly whole: readonly Run[];
  readonly sampled: number;
}

export interface Forecast {
  readonly name: string;
  /** Of each vote, a day. */
  readonly bills: readonly ({ readonly judge: string } & Use)[];
  readonly model: string;
  /** Verdicts a day. */
  readonly asked: number;
  /** Of the runs. */
  readonly share: number;
  /** That are asked for one verdict. */
  readonly votes: number;
  /** Of one verdict, all its votes together. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Where the tokens come from: the command line, stored verdicts of the same evaluator, version and model, or the first question. */
  readonly basis: 'given' | 'stored' | 'estimated';
  /** Of stored verdicts, how many. */
  readonly verdicts: number;
  /** A day; undefined: the model has no price. */
  readonly usd: number | undefined;
  /** Its own budget, where that is less than it would use: the scarcest limit. */
  readonly limit: ScarceLimit | undefined;
  /** If every verdict were passed on to another judge; undefined: none is, or that judge has no price. */
  readonly usdEscalated: number | undefined;
}

/** A limit of a day that holds rates down. */
export interface ScarceLimit {
  /** Its key. */
  readonly key: string;
  readonly most: number;
  /** Of the rates, 0..1. */
  readonly left: number;
}

/** What a day would use, of each limit that bounds it. */
export interface Use {
  /** US dollars; undefined when a price is unknown. */
  readonly usd: number | undefined;
  readonly requests: number;
  readonly tokens: number;
}

/** Undefined: the budget leaves room for all of it. */
export function scarcest(budget: BudgetLimits | undefined, { usd, requests, tokens }: Use): ScarceLimit | undefined {
  const limits = [
    ['usd_per_day', budget?.usdPerDay, usd],
    ['requests_per_day', budget?.requestsPerDay, requests],
    ['tokens_per_day', budget?.tokensPerDay, tokens],
  ] as const;
  const short = limits.flatMap(([key, most, used]): readonly ScarceLimit[] =>
    most === undefined || used === undefined || used <= most ? [] : [{ key, most, left: most / used }],
  );
  return short.sort((one, other) => one.left - other.left)[0];
}

export interface ForecastWith {
  readonly config: Pick<Config, 'judges' | 'prices'>;
  /** Of one vote. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

const runsMax = 20_000;
const pageRuns = 200;
/** Runs whose content is read for the estimate. */
const wholeMax = 300;
const dayMicros = 86_400_000_000;
/** A new store says little about a day; less than an hour counts as one. */
const hourMicros = 3_600_000_000;
const charsPerToken = 4;
const outputTokensUsual = 200;
/** Fewer stored verdicts say less than the questions themselves. */
const usedMin = 10;
/** As long as that of a judge. */
const nonce = 'x'.repeat(24);

export async function storedTraffic(
  store: Pick<Store, 'runs' | 'run'>,
  { from, to }: { readonly from: Micros; readonly to: Micros },
): Promise<Traffic> {
  const runs: RunRow[] = [];
  for (let after: RunPlace | undefined; runs.length < runsMax;) {
    const page = await store.runs({ from, to, limit: pageRuns, ...(after === undefined ? {} : { after }) });
    runs.push(...page.runs);
    if (page.next === undefined) break;
    after = page.next;
  }
  const oldest = runs.at(-1)?.startedAt ?? to;
  const whole: Run[] = [];
  // Spread over all of them: traffic of the day is not that of the night.
  const step = Math.max(1, Math.floor(runs.length / wholeMax));
  for (let at = 0; at < runs.length && whole.length < wholeMax; at += step) {
    const row = runs[at];
    const run = row === undefined ? undefined : await wholeRun(store, row);
    if (run !== undefined) whole.push(run);
  }
  return { runs, days: Math.max(hourMicros, to - oldest) / dayMicros, whole, sampled: whole.length };
}

/** Undefined: its content is not kept, or cannot be read. */
async function wholeRun(store: Pick<Store, 'run'>, row: RunRow): Promise<Run | undefined> {
  const content = (await store.run(row))?.content;
  if (content === undefined) return undefined;
  try {
    const [given] = givenTraces('a stored run', content);
    if (given === undefined) return undefined;
    const { tenant, traceId, spanId, agent, model, service, version } = row;
    return {
      tenant,
      traceId,
      spanId,
      trace: {
        ...given.trace,
        status: row.status === 'error' ? 'error' : 'ok',
        ...(agent === undefined ? {} : { agent }),
        ...(model === undefined ? {} : { model }),
      },
      dialects: [],
      ...(service === undefined ? {} : { service }),
      ...(version === undefined ? {} : { serviceVersion: version }),
      resourceAttributes: {},
      traceState: '',
      startUnixNano: BigInt(row.startedAt) * 1_000n,
      endUnixNano: BigInt(row.endedAt) * 1_000n,
      completeness: row.completeness as Run['completeness'],
      revision: row.revision,
      contentHash: '',
    };
  } catch {
    return undefined;
  }
}

export function forecastOf(planned: EvaluatorConfig, traffic: Traffic, { config, inputTokens, outputTokens }: ForecastWith): Forecast {
  const { configured, sampleRate, raise, when, judge = '' } = planned;
  const { days, whole } = traffic;
  const runs = isOfSession(configured) ? firstTurns(traffic.runs) : traffic.runs;
  const panel: Panel = planned.panel ?? { judges: [judge], votes: 1 };
  const judges = slotsOf(panel).map((seat) => seat.judge);
  const meant = when === undefined ? whole : whole.filter(when);
  const questions = meant.flatMap((run) => firstQuestion(configured, run) ?? []);
  // Of the runs with content; where there are none, every run counts.
  const applies = whole.length === 0 ? 1 : questions.length / whole.length;
  const share = (applies * runs.reduce((sum, run) => sum + probability(run, sampleRate, raise), 0)) / traffic.runs.length;
  const asked = (share * traffic.runs.length) / days;
  const model = panelModel(panel, (name) => modelOf(config, name));
  // Stored verdicts hold the cost of all votes, not of each.
  const stored = planned.panel === undefined ? usedTokens(traffic.runs, { configured, model, sampleRate, raise }) : undefined;
  const measured = {
    input: questions.length === 0 ? 0 : questions.reduce((sum, chars) => sum + chars, 0) / questions.length / charsPerToken,
    output: outputTokensUsual,
    ...stored?.tokens,
  };
  const [input, output] = [inputTokens ?? measured.input, outputTokens ?? measured.output];
  const basis = inputTokens !== undefined ? 'given' : stored === undefined ? 'estimated' : 'stored';
  const usdOf = (names: readonly string[]): number | undefined => {
    const prices = names.flatMap((name) => priceOfJudge(config, name) ?? []);
    return prices.length < names.length
      ? undefined
      : (asked * prices.reduce((sum, price) => sum + input * price.inputPerMillion + output * price.outputPerMillion, 0)) / 1_000_000;
  };
  const use = (names: readonly string[]): Use => ({
    usd: usdOf(names),
    requests: asked * names.length,
    tokens: asked * names.length * (input + output),
  });
  return {
    name: configured.name,
    model,
    asked,
    share,
    votes: judges.length,
    inputTokens: input * judges.length,
    outputTokens: output * judges.length,
    basis,
    verdicts: basis === 'stored' ? (stored?.verdicts ?? 0) : 0,
    bills: judges.map((name) => ({ judge: name, ...use([name]) })),
    limit: scarcest(planned.budget, use(judges)),
    usd: usdOf(judges),
    usdEscalated: panel.escalate === undefined ? undefined : usdOf([...judges, panel.escalate.to]),
  };
}

/** One run for each session; `runs` are newest first. Only stored verdicts know the length of the other turns. */
function firstTurns(runs: readonly RunRow[]): readonly RunRow[] {
  const first = new Map(
    runs.flatMap((run) => (run.sessionId === undefined ? [] : [[JSON.stringify([run.tenant, run.sessionId]), run] as const])),
  );
  return [...first.values()];
}

function modelOf({ judges }: Pick<Config, 'judges'>, judge: string): string {
  return judges.find(({ name }) => name === judge)?.model ?? judge;
}

/** Its own comes first. */
function priceOfJudge(config: ForecastWith['config'], judge: string): TokenPrice | undefined {
  return config.judges.find(({ name }) => name === judge)?.price ?? priceOf(modelOf(config, judge), config.prices);
}

/**
 * What stored verdicts of the same evaluator, version and model have cost. A verdict stands for as many runs as it was chosen from, and counts by how likely such a run would be chosen now. Those
 * for which an answer from before was found cost less than others will.
 */
function usedTokens(
  runs: readonly RunRow[],
  { configured, model, sampleRate, raise }: Pick<EvaluatorConfig, 'configured' | 'sampleRate' | 'raise'> & { readonly model: string },
): { readonly tokens: { readonly input: number; readonly output: number }; readonly verdicts: number } | undefined {
  const { id, version } = configured.evaluator;
  const used = runs.flatMap((run) => {
    const verdict = run.verdicts.find(
      (one) =>
        one.name === configured.name &&
        one.evaluator === id &&
        one.version === version &&
        one.details['model'] === model &&
        one.details['cached'] === undefined,
    );
    const tokens = verdict?.details['judge_tokens'];
    const [input, output] = isJsonObject(tokens) ? [tokens['input'], tokens['output']] : [];
    if (verdict === undefined || typeof input !== 'number' || typeof output !== 'number' || !(verdict.sampleProbability > 0)) return [];
    return [{ input, output, weight: probability(run, sampleRate, raise) / verdict.sampleProbability }];
  });
  const weight = used.reduce((sum, one) => sum + one.weight, 0);
  if (used.length < usedMin || weight === 0) return undefined;
  const mean = (of: 'input' | 'output'): number => used.reduce((sum, one) => sum + one[of] * one.weight, 0) / weight;
  return { tokens: { input: mean('input'), output: mean('output') }, verdicts: used.length };
}

/** With which a run would be chosen. */
function probability({ verdicts }: RunRow, rate: number, raise: EvaluatorConfig['raise']): number {
  return rateByScores(rate, raise, (evaluator) => verdicts.find(({ name }) => name === evaluator)?.score);
}

/** Characters of the first question; undefined when the evaluator asks nothing about this run. */
function firstQuestion(configured: ConfiguredEvaluator, run: Run): number | undefined {
  if (configured.kind === 'rule') return undefined;
  const asking = configured.judge(run.trace, {}, evaluationContext(), run);
  try {
    const step = asking.next();
    if (step.done === true || step.value.kind === 'call') return undefined;
    if (step.value.kind === 'embed') return step.value.texts.join('').length;
    const { system, user } = promptOf(step.value, { nonce, ...promptBounds });
    return system.length + user.length;
  } catch {
    return undefined;
  }
}
