/** What each judge would cost beside what it may cost, and what it has cost. */
import type { JudgeConfig } from '../../config/config.ts';
import { usdOf } from '../../judges/money.ts';
import type { Store } from '../../stores/store.ts';
import type { Forecast } from './forecast-reckoning.ts';

export interface JudgeBill {
  readonly judge: string;
  /** Of all its evaluators that have a price, US dollars a day; undefined: none has. */
  readonly usd: number | undefined;
  readonly budget: number | undefined;
  /** US dollars a day, of the days with any; undefined: nothing is booked, as of a judge without a budget. */
  readonly spent: number | undefined;
  readonly days: number;
}

const dayMs = 86_400_000;
/** Whole days before this one. */
const daysMax = 7;

export async function judgeBills(store: Pick<Store, 'judgeSpend'>, { forecasts, judges, nowMs }: { readonly forecasts: readonly Forecast[]; readonly judges: readonly JudgeConfig[]; readonly nowMs: number }): Promise<readonly JudgeBill[]> {
  const bills: JudgeBill[] = [];
  const votes = forecasts.flatMap((one) => one.bills);
  for (const judge of new Set(votes.map((one) => one.judge))) {
    const priced = votes.flatMap((one) => (one.judge === judge && one.usd !== undefined ? [one.usd] : []));
    const booked: number[] = [];
    for (let back = 1; back <= daysMax; back++) {
      const spent = (await store.judgeSpend.on(new Date(nowMs - back * dayMs).toISOString().slice(0, 10))).get(judge);
      if (spent !== undefined && spent.requests > 0) booked.push(usdOf(spent.nanoUsd));
    }
    bills.push({
      judge,
      usd: priced.length === 0 ? undefined : sum(priced),
      budget: judges.find(({ name }) => name === judge)?.budget?.usdPerDay,
      spent: booked.length === 0 ? undefined : sum(booked) / booked.length,
      days: booked.length,
    });
  }
  return bills;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}
