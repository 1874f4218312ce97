/** What each judge would cost beside what it may cost, and what it has cost. */
import type { JudgeConfig } from '../../config/config.ts';
import { usdOf } from '../../judges/budget/token-cost.ts';
import type { Store } from '../../model/store/store.ts';
import { scarcest, type Forecast, type ScarceLimit } from './cost-model.ts';

export interface JudgeBill {
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
/** Whole days before this one. */
const daysMax = 7;

export async function judgeBills(
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
