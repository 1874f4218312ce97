/** `tracejury judge forecast`: what a configuration's judges would cost a day on the traffic that is stored. */
import { existsSync } from 'node:fs';
import { evaluators } from '../../../evaluators/index.ts';
import type { Config, JudgeConfig } from '../../config/config.ts';
import { readConfig } from '../../config/load.ts';
import { jsonText } from '../../model/json.ts';
import { openStore } from '../../stores/index.ts';
import type { Store } from '../../model/store/store.ts';
import { UsageError, type CommandInput, type ExitCode } from '../command.ts';
import { forecastOf, storedTraffic, type Forecast, type ScarceLimit, type Traffic, scarcest } from './cost-model.ts';
import { usdOf } from '../../judges/budget/budgets.ts';

interface ForecastSettings {
  readonly config: string;
  readonly format: 'text' | 'json';
  readonly inputTokens: number | undefined;
  readonly outputTokens: number | undefined;
}

const dayMicros = 86_400_000_000;
/** Whole days before this one. */
const daysMax = 7;

export async function forecastCost(
  { config: file, format, ...tokens }: ForecastSettings,
  { env, say, complain }: CommandInput,
): Promise<ExitCode> {
  const { config } = await readConfig({ file, env, evaluators });
  const asking = config.evaluators.filter(({ configured }) => configured.kind === 'judge');
  if (asking.length === 0) throw new UsageError(`${file} has no evaluator that asks a judge.`);
  const store = await opened(config);
  try {
    const to = Date.now() * 1_000;
    const traffic = await storedTraffic(store, { from: to - daysMax * dayMicros, to });
    if (traffic.runs.length === 0) {
      complain(`The store holds no run of the last ${daysMax} days.`);
      return 1;
    }
    const forecasts = asking.map((planned) => forecastOf(planned, traffic, { config, ...tokens }));
    const bills = await judgeBills(store, { forecasts, judges: config.judges, nowMs: Date.now() });
    say(format === 'json' ? forecastJson(traffic, forecasts, bills) : forecastText(traffic, forecasts, bills));
    return 0;
  } finally {
    await store.stop();
  }
}

/** A file that is not there is not made. */
async function opened({ store: { address } }: Config): Promise<Store> {
  if (address.scheme === 'memory') throw new UsageError('store.url is memory, which only its own process can read.');
  if (!existsSync(address.rest))
    throw new UsageError(`There is no store at ${address.rest}; store.url names it, from the folder in which this is run.`);
  return await openStore(address);
}

function forecastText({ runs, days, sampled }: Traffic, forecasts: readonly Forecast[], bills: readonly JudgeBill[]): string {
  const perDay = runs.length / days;
  return [
    `${Math.round(perDay)} runs a day, by ${runs.length} stored runs of ${days.toFixed(1)} days`,
    ...forecasts.flatMap((one) => ['', ...forecastLines(one)]),
    '',
    `Total: ${totalText(forecasts)}`,
    ...bills.flatMap(billLines),
    ...(forecasts.some(({ basis }) => basis === 'estimated')
      ? [
          `Where no tokens of stored verdicts are named, those taken in are estimated from the first question on ${sampled} stored runs with content, four characters a token; an evaluator that asks several questions costs more.`,
        ]
      : []),
  ].join('\n');
}

function forecastLines(forecast: Forecast): readonly string[] {
  const { name, model, asked, share, votes, inputTokens, outputTokens, basis, verdicts, limit } = forecast;
  return [
    `${name} (${model})`,
    `  ${asked.toFixed(1)} verdicts a day, ${(share * 100).toFixed(1)} % of the runs${votes === 1 ? '' : `, ${votes} votes each`}`,
    `  ${Math.round(inputTokens)} input and ${Math.round(outputTokens)} output tokens a verdict${basis === 'stored' ? `, by ${verdicts} stored verdicts` : ''}`,
    `  ${costText(forecast)}`,
    ...(limit === undefined ? [] : [`  ${limitText(limit)}, so its rate would sink to about ${Math.round(limit.left * 100)} % of itself`]),
  ];
}

function costText({ model, votes, usd, usdEscalated }: Forecast): string {
  if (usd === undefined)
    return votes === 1
      ? `no price: give the judge one, or name ${model} under prices`
      : 'no price: give each of its judges one, or name their models under prices';
  return `${usd.toFixed(2)} USD a day${usdEscalated === undefined ? '' : `, ${usdEscalated.toFixed(2)} if every verdict were passed on`}`;
}

/** Prints the booked costs beside the forecast, and for a budget that is too small the rates that it leaves. */
function billLines({ judge, limit, spent, days }: JudgeBill): readonly string[] {
  return [
    ...(limit === undefined
      ? []
      : [`${judge}: ${limitText(limit)}, so its rates would sink to about ${Math.round(limit.left * 100)} % of themselves`]),
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

/** Each within its own budget. */
function totalText(forecasts: readonly Forecast[]): string {
  const unpriced = forecasts.filter(({ usd }) => usd === undefined).length;
  const sum = forecasts.reduce((all, { usd = 0, limit }) => all + usd * (limit?.left ?? 1), 0);
  return `${sum.toFixed(2)} USD a day${unpriced === 0 ? '' : `, without ${unpriced} that ${unpriced === 1 ? 'has' : 'have'} no price`}`;
}

function forecastJson({ runs, days, sampled }: Traffic, forecasts: readonly Forecast[], bills: readonly JudgeBill[]): string {
  return jsonText({
    runs: runs.length,
    days,
    runs_with_content: sampled,
    evaluators: forecasts.map(
      ({ name, model, asked, share, votes, inputTokens, outputTokens, basis, verdicts, usd, usdEscalated, limit }) => ({
        name,
        model,
        verdicts_per_day: asked,
        share,
        votes,
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
  });
}

// What each judge would cost beside what it may cost, and what it has cost.

interface JudgeBill {
  readonly judge: string;
  /** Of all its evaluators that have a price, each within its own budget, US dollars a day; undefined: none has. */
  readonly usd: number | undefined;
  readonly budget: number | undefined;
  /** Undefined: its budget leaves room for all of them. */
  readonly limit: ScarceLimit | undefined;
  /** US dollars a day, of the days with any; undefined: nothing is booked, as of a judge without a budget. */
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
