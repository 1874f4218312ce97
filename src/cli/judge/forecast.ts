/** `tracejury judge forecast`: forecasts the daily cost of judges from the stored runs. */
import type { ConfiguredEvaluator } from '../../../evaluators/configuration/configured.ts';
import type { Answer } from '../../../evaluators/evaluator.ts';
import { evaluationContext } from '../../../evaluators/configuration/context.ts';
import { evaluators } from '../../../evaluators/index.ts';
import { priceOf } from '../../../evaluators/pricing/prices.ts';
import { type CommandInput, type ExitCode, UsageError } from '../command.ts';
import { givenTraces } from '../../library/given-traces.ts';
import type { Config, EvaluatorConfig, JudgeConfig } from '../../config/config.ts';
import { readConfig } from '../../config/load.ts';
import { type TokenPrice, usdOf } from '../../judges/budget/budgets.ts';
import { charsOf, charsPerToken, outputTokensUsual } from '../../judges/budget/question-cost.ts';
import type { Run, RunKey } from '../../model/agent-trace.ts';
import type { BudgetLimits } from '../../model/budget.ts';
import type { Expectation } from '../../model/expectation.ts';
import { isJsonObject, type JsonObject, jsonText } from '../../model/json.ts';
import type { RunPlace, RunRow, Store } from '../../model/store/store.ts';
import type { Micros } from '../../model/timestamp.ts';
import { isOfSession } from '../../pipeline/evaluation/evaluate.ts';
import { factsOfRow } from '../../pipeline/evaluation/run-facts.ts';
import { raisedRate } from '../../pipeline/evaluation/sampling.ts';
import { type Panel, panelModel, slotsOf } from '../../pipeline/jury/jury-panel.ts';
import { mayBeThere, openStore, storeName } from '../../stores/index.ts';
import type { ReplayableStore } from '../../model/store/replay-store.ts';

interface ForecastSettings {
  readonly config: string;
  readonly format: 'text' | 'json';
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

const dayMicros = 86_400_000_000;
/** Days before today. */
export const daysMax = 7;

export async function forecastCost(
  { config: file, format, ...tokens }: ForecastSettings,
  { env, say, complain }: CommandInput,
): Promise<ExitCode> {
  const { config } = await readConfig({ file, env, evaluators });
  if (askingOf(config).length === 0) throw new UsageError(`${file} has no evaluator with a judge.`);
  const store = await openedStore(config);
  try {
    const forecast = await costForecast(store, config, { nowMs: Date.now(), ...tokens });
    if (forecast === undefined) {
      complain(`The store has no run of the last ${daysMax} days.`);
      return 1;
    }
    say(format === 'json' ? jsonText(forecastJson(forecast)) : forecastText(forecast));
    return 0;
  } finally {
    await store.stop();
  }
}

function askingOf({ evaluators: plan }: Config): readonly EvaluatorConfig[] {
  return plan.filter(({ configured }) => configured.kind === 'judge');
}

export interface CostForecast {
  readonly traffic: Traffic;
  readonly forecasts: readonly Forecast[];
  readonly bills: readonly JudgeBill[];
}

/** Forecasts the daily cost of the configuration's judges; `undefined` without a run in the last days. */
export async function costForecast(
  store: Pick<Store, 'runs' | 'run' | 'judgeSpend'>,
  config: Config,
  {
    nowMs,
    inputTokens,
    outputTokens,
  }: { readonly nowMs: number } & { readonly [tokens in 'inputTokens' | 'outputTokens']?: number | undefined },
): Promise<CostForecast | undefined> {
  const to = nowMs * 1_000;
  const traffic = await storedTraffic(store, { from: to - daysMax * dayMicros, to });
  if (traffic.runs.length === 0) return undefined;
  const forecasts = askingOf(config).map((planned) => forecastOf(planned, traffic, { config, inputTokens, outputTokens }));
  return { traffic, forecasts, bills: await judgeBills(store, { forecasts, judges: config.judges, nowMs }) };
}

/** Never creates a store. */
export async function openedStore({ store: { address } }: Config): Promise<ReplayableStore> {
  if (address.scheme === 'memory') throw new UsageError('store.url is memory, which only its own process can read.');
  if (!mayBeThere(address))
    throw new UsageError(`There is no store at ${storeName(address)}; store.url names it, from the folder in which this is run.`);
  return await openStore(address);
}

export function forecastText({ traffic: { runs, days, sampled }, forecasts, bills }: CostForecast): string {
  const perDay = runs.length / days;
  return [
    `${Math.round(perDay)} runs a day, by ${runs.length} stored runs of ${days.toFixed(1)} days`,
    ...forecasts.flatMap((one) => ['', ...forecastLines(one)]),
    '',
    `Total: ${totalText(forecasts)}`,
    ...bills.flatMap(billLines),
    ...(forecasts.some(({ basis }) => basis === 'estimated')
      ? [
          `Without stored verdicts, input tokens are an estimate from the first question on ${sampled} stored runs with content, or the first on each part or piece of them, at four characters a token. An evaluator with several questions costs more.`,
        ]
      : []),
  ].join('\n');
}

function forecastLines(forecast: Forecast): readonly string[] {
  const { name, model, asked, share, votes, questions, inputTokens, outputTokens, basis, verdicts, limit } = forecast;
  return [
    `${name} (${model})`,
    `  ${asked.toFixed(1)} verdicts a day, ${(share * 100).toFixed(1)} % of the runs${votes === 1 ? '' : `, ${votes} votes each`}${questions === 1 ? '' : `, ${questions.toFixed(1)} questions ${votes === 1 ? 'each' : 'a vote'}`}`,
    `  ${Math.round(inputTokens)} input and ${Math.round(outputTokens)} output tokens a verdict${basis === 'stored' ? `, by ${verdicts} stored verdicts` : ''}`,
    `  ${costText(forecast)}`,
    ...(limit === undefined ? [] : [`  ${limitText(limit)}, so its rate would drop to about ${Math.round(limit.left * 100)} % of itself`]),
  ];
}

function costText({ model, votes, usd, usdEscalated }: Forecast): string {
  if (usd === undefined)
    return votes === 1
      ? `no price: add a price to the judge, or ${model} to prices`
      : 'no price: add a price to each judge, or their models to prices';
  return `${usd.toFixed(2)} USD a day${usdEscalated === undefined ? '' : `, ${usdEscalated.toFixed(2)} if every verdict escalates`}`;
}

/** Writes the real costs beside the forecast, and the rates that a too small budget allows. */
function billLines({ judge, limit, spent, days }: JudgeBill): readonly string[] {
  return [
    ...(limit === undefined
      ? []
      : [`${judge}: ${limitText(limit)}, so its rates would drop to about ${Math.round(limit.left * 100)} % of themselves`]),
    ...(spent === undefined
      ? []
      : [
          `${judge}: spent ${spent.toFixed(2)} USD a day so far, by its budget's book of the last ${days === 1 ? 'day' : `${days} days`} with any`,
        ]),
  ];
}

function limitText({ key, most }: ScarceLimit): string {
  return `its budget of ${key === 'usd_per_day' ? `${most.toFixed(2)} USD` : `${most} ${most === 1 ? key.replace('s_per_day', '') : key.replace('_per_day', '')}`} a day is less`;
}

/** The sum of all evaluators within their budgets. */
function totalText(forecasts: readonly Forecast[]): string {
  const unpriced = forecasts.filter(({ usd }) => usd === undefined).length;
  const sum = forecasts.reduce((all, { usd = 0, limit }) => all + usd * (limit?.left ?? 1), 0);
  return `${sum.toFixed(2)} USD a day${unpriced === 0 ? '' : `, without ${unpriced} that ${unpriced === 1 ? 'has' : 'have'} no price`}`;
}

export function forecastJson({ traffic: { runs, days, sampled }, forecasts, bills }: CostForecast): JsonObject {
  return {
    runs: runs.length,
    days,
    runs_with_content: sampled,
    evaluators: forecasts.map(
      ({ name, model, asked, share, votes, questions, inputTokens, outputTokens, basis, verdicts, usd, usdEscalated, limit }) => ({
        name,
        model,
        verdicts_per_day: asked,
        share,
        votes,
        questions,
        input_tokens: inputTokens,
        output_tokens: outputTokens,
        basis,
        stored_verdicts: verdicts,
        usd_per_day: usd ?? null,
        usd_per_day_escalated: usdEscalated ?? null,
        limit: limit?.key ?? null,
        rate_left: limit?.left ?? 1,
      }),
    ),
    judges: bills.map(({ judge, usd, budget, limit, spent, days: counted }) => ({
      name: judge,
      usd_per_day: usd ?? null,
      budget_usd_per_day: budget ?? null,
      limit: limit?.key ?? null,
      rate_left: limit?.left ?? 1,
      spent_usd_per_day: spent ?? null,
      spent_days: counted,
    })),
  };
}

/** The forecast, the budget and the real cost of a judge. */
interface JudgeBill {
  readonly judge: string;
  /** US dollars a day of its evaluators with a price, each within its own budget. */
  readonly usd: number | undefined;
  readonly budget: number | undefined;
  /** `undefined` when the budget suffices. */
  readonly limit: ScarceLimit | undefined;
  /** US dollars a day with any cost; `undefined` for a judge without recorded costs. */
  readonly spent: number | undefined;
  readonly days: number;
}

const dayMs = 86_400_000;

async function judgeBills(
  store: Pick<Store, 'judgeSpend'>,
  {
    forecasts,
    judges,
    nowMs,
  }: { readonly forecasts: readonly Forecast[]; readonly judges: readonly JudgeConfig[]; readonly nowMs: number },
): Promise<readonly JudgeBill[]> {
  const bills: JudgeBill[] = [];
  const votes = forecasts.flatMap(({ bills: own, limit: { left } = { left: 1 } }) =>
    own.map(({ judge, usd, requests, tokens }) => ({
      judge,
      usd: usd === undefined ? undefined : usd * left,
      requests: requests * left,
      tokens: tokens * left,
    })),
  );
  for (const judge of new Set(votes.map((one) => one.judge))) {
    const own = votes.filter((one) => one.judge === judge);
    const priced = own.flatMap(({ usd }) => usd ?? []);
    const budget = judges.find(({ name }) => name === judge)?.budget;
    const used = {
      usd: priced.length === 0 ? undefined : sum(priced),
      requests: sum(own.map(({ requests }) => requests)),
      tokens: sum(own.map(({ tokens }) => tokens)),
    };
    const booked: number[] = [];
    for (let back = 1; back <= daysMax; back++) {
      const spent = (await store.judgeSpend.on(new Date(nowMs - back * dayMs).toISOString().slice(0, 10))).get(judge);
      if (spent !== undefined && spent.requests > 0) booked.push(usdOf(spent.nanoUsd));
    }
    bills.push({
      judge,
      usd: used.usd,
      budget: budget?.usdPerDay,
      limit: scarcest(budget, used),
      spent: booked.length === 0 ? undefined : sum(booked) / booked.length,
      days: booked.length,
    });
  }
  return bills;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

interface Traffic {
  /** Newest first, at most `runsMax`. */
  readonly runs: readonly RunRow[];
  /** The period of `runs`. */
  readonly days: number;
  /** Runs with their content. */
  readonly whole: readonly Run[];
  readonly sampled: number;
}

/** Runs × probability × tokens × price. */
interface Forecast {
  readonly name: string;
  /** Use by vote, for a day. */
  readonly bills: readonly ({ readonly judge: string } & Use)[];
  readonly model: string;
  /** Verdicts a day. */
  readonly asked: number;
  /** Share of the runs. */
  readonly share: number;
  /** Votes of one verdict. */
  readonly votes: number;
  /** Mean questions of one vote: an evaluator asks one for each part or piece of a run. */
  readonly questions: number;
  /** Input tokens of all votes of one verdict. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Source of the tokens: the command line, stored verdicts of the same evaluator, version and model, or the first question. */
  readonly basis: 'given' | 'stored' | 'estimated';
  /** Number of stored verdicts. */
  readonly verdicts: number;
  /** A day; `undefined` when the model has no price. */
  readonly usd: number | undefined;
  /** The scarcest limit in the evaluator's budget, if that is too small. */
  readonly limit: ScarceLimit | undefined;
  /** The cost with escalation of every verdict; `undefined` without escalation or price. */
  readonly usdEscalated: number | undefined;
}

/** A limit per day that reduces rates. */
interface ScarceLimit {
  readonly key: string;
  readonly most: number;
  /** Factor on rates, 0..1. */
  readonly left: number;
}

/** The use of a day. */
interface Use {
  /** US dollars; undefined when a price is unknown. */
  readonly usd: number | undefined;
  readonly requests: number;
  readonly tokens: number;
}

/** `undefined` when the budget suffices. */
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

interface ForecastWith {
  readonly config: Pick<Config, 'judges' | 'prices'>;
  /** Input tokens of one vote. */
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

const runsMax = 20_000;
const pageRuns = 200;
/** Runs with content for the estimate. */
const wholeMax = 300;
/** A shorter period counts as an hour. */
const hourMicros = 3_600_000_000;
/** With fewer stored verdicts the questions give a better estimate. */
const usedMin = 10;

async function storedTraffic(
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
  // Spread over all runs: traffic differs by the time of day.
  const step = Math.max(1, Math.floor(runs.length / wholeMax));
  for (let at = 0; at < runs.length && whole.length < wholeMax; at += step) {
    const row = runs[at];
    const run = row === undefined ? undefined : await wholeRun(store, row);
    if (run !== undefined) whole.push(run);
  }
  return { runs, days: Math.max(hourMicros, to - oldest) / dayMicros, whole, sampled: whole.length };
}

/** `undefined` when the store has no readable content. */
export async function wholeRun(store: Pick<Store, 'run'>, key: RunKey): Promise<Run | undefined> {
  const row = await store.run(key);
  if (row?.content === undefined) return undefined;
  try {
    const [given] = givenTraces('a stored run', row.content);
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

function forecastOf(planned: EvaluatorConfig, traffic: Traffic, { config, inputTokens, outputTokens }: ForecastWith): Forecast {
  const { configured, sampleRate, raise, when, judge = '' } = planned;
  const { days, whole } = traffic;
  const runs = isOfSession(configured) ? firstTurns(traffic.runs) : traffic.runs;
  const panel: Panel = planned.panel ?? { judges: [judge], votes: 1 };
  const judges = slotsOf(panel).map((slot) => slot.judge);
  const meant = when === undefined ? whole : whole.filter(when);
  const questions = meant.flatMap((run) => questionsAbout(configured, run) ?? []);
  // Without runs with content, every run counts.
  const applies = whole.length === 0 ? 1 : questions.length / whole.length;
  const share = (applies * runs.reduce((sum, run) => sum + probability(run, sampleRate, raise), 0)) / traffic.runs.length;
  const asked = (share * traffic.runs.length) / days;
  const model = panelModel(panel, (name) => modelOf(config, name));
  // Stored verdicts have the tokens of all votes, not of each.
  const stored = planned.panel === undefined ? usedTokens(traffic.runs, { configured, model, sampleRate, raise }) : undefined;
  // Without runs with content, each has as many questions as it may.
  const each = questions.length === 0 ? (configured.kind === 'rule' ? 1 : (configured.parts?.partsMax ?? 1)) : mean(questions, 'count');
  const measured = {
    input: questions.length === 0 ? 0 : mean(questions, 'chars') / charsPerToken,
    output: outputTokensUsual * each,
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
    requests: asked * each * names.length,
    tokens: asked * names.length * (input + output),
  });
  return {
    name: configured.name,
    model,
    asked,
    share,
    votes: judges.length,
    questions: each,
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

/** The first run of each session; `runs` are newest first. */
function firstTurns(runs: readonly RunRow[]): readonly RunRow[] {
  const first = new Map(
    runs.flatMap((run) => (run.sessionId === undefined ? [] : [[JSON.stringify([run.tenant, run.sessionId]), run] as const])),
  );
  return [...first.values()];
}

function modelOf({ judges }: Pick<Config, 'judges'>, judge: string): string {
  return judges.find(({ name }) => name === judge)?.model ?? judge;
}

/** The price of the judge, else that of its model. */
export function priceOfJudge(config: ForecastWith['config'], judge: string): TokenPrice | undefined {
  return config.judges.find(({ name }) => name === judge)?.price ?? priceOf(modelOf(config, judge), config.prices);
}

/**
 * Mean tokens of stored verdicts of the same evaluator, version and model, without cached answers. The weight of a verdict is the probability
 * of its run now over the probability then.
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

/** The probability with which the sample chooses a run. */
function probability(run: RunRow, rate: number, raise: EvaluatorConfig['raise']): number {
  return raisedRate(rate, raise, () => factsOfRow(run));
}

/** The questions about one run. */
interface Questions {
  readonly count: number;
  /** Characters of all of them together. */
  readonly chars: number;
}

function mean(questions: readonly Questions[], of: keyof Questions): number {
  return questions.reduce((sum, one) => sum + one[of], 0) / questions.length;
}

/** The first question, or the first on each part or piece of the run; `undefined` when it asks none. */
export function questionsAbout(configured: ConfiguredEvaluator, run: Run, expected: Expectation = {}): Questions | undefined {
  if (configured.kind === 'rule') return undefined;
  const asking = configured.judge(run.trace, expected, evaluationContext(), run);
  let [count, chars] = [0, 0];
  try {
    let step = asking.next();
    while (step.done !== true && count < questionsMax) {
      const own = charsOf(step.value);
      if (own === undefined) break;
      count++;
      chars += own;
      const isNotes = 'notes' in step.value;
      // The evaluator goes on to the next part when it learns nothing of one, and to the next piece with no notes.
      if (configured.parts === undefined && !isNotes) break;
      step = asking.next(isNotes ? noNotes : unanswered);
    }
  } catch {
    return undefined;
  }
  return count === 0 ? undefined : { count, chars };
}

const unanswered: Answer = { kind: 'failed', error: 'not_asked' };
const noNotes: Answer = { kind: 'answered', value: { notes: [] }, truncated: false };
/** The service has the same limit. */
const questionsMax = 50;
