/**
 * The bounds of a minute: a request waits until the last sixty seconds leave room for it. What may be used is noted in the store, so that a restart does not begin anew
 * and several processes keep one bound; what was not needed is given back.
 */
import {
  eachMeasure,
  isNothing,
  leftOf,
  noAmount,
  sumOfAmounts,
  type Amount,
  type BudgetReservation,
  type Settle,
  type Tokens,
} from '../../model/budget.ts';
import type { Clock, Sleep } from '../../model/clock.ts';
import { minuteSeconds, type JudgeSpendStore } from '../../model/store/judge-store.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { accountOf, amountUsed, counted, limitsOfMinute, type Budget } from './budgets.ts';
import { memorySpend } from './memory-spend.ts';

export interface MinutesOptions {
  readonly store: () => JudgeSpendStore;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
}

export interface Minutes {
  /** Undefined: the signal came first. Rejects when the store cannot be written. */
  pass(budget: Budget, most: Tokens, signal: AbortSignal | undefined): Promise<Settle | undefined>;
}

/** The refusal of a request whose signal came first. */
export const stopped = { refused: 'judge_stopped: the service is stopping' } as const;

/** Between two attempts while there is no room. */
const attemptEveryMs = 250;

interface Line {
  /** By second: to be given back with the next entry. Of the last sixty seconds only. */
  readonly back: Map<number, Amount>;
  /** One after the other, in the order in which they came. */
  last: Promise<unknown>;
}

/** The limits of the minute alone, of a process that keeps no ledger. */
export function rateReservation(budget: Budget, options: Omit<MinutesOptions, 'store'>): BudgetReservation {
  const store = memorySpend();
  const rate = minutes({ ...options, store: () => store });
  return { take: async (most, signal) => (await rate.pass(budget, most, signal)) ?? stopped };
}

export function minutes({ store, telemetry, clock, sleep }: MinutesOptions): Minutes {
  /** As many as there are budgets. */
  const lines = new Map<string, Line>();

  async function waited(line: Line, budget: Budget, wanted: Amount, signal: AbortSignal | undefined): Promise<number | undefined> {
    for (let attempts = 0; signal?.aborted !== true; attempts++) {
      const at = Math.floor(clock.nowMs() * 1_000);
      const second = Math.floor(at / 1_000_000);
      const back = [...line.back].map(([of, amount]) => ({ second: of, amount }));
      line.back.clear();
      if (await store().pass({ account: accountOf(budget), at, wanted, limits: limitsOfMinute(budget), back })) return second;
      if (attempts === 0)
        telemetry.add('tracejury.judge.budget.waits', 1, {
          'tracejury.judge': budget.of === 'evaluator' ? '' : budget.name,
          'gen_ai.evaluation.name': budget.of === 'evaluator' ? budget.name : '',
        });
      await sleep(attemptEveryMs, signal);
    }
    return undefined;
  }

  function giveBack(line: Line, second: number, amount: Amount): void {
    for (const old of line.back.keys()) if (old <= clock.nowMs() / 1_000 - minuteSeconds) line.back.delete(old);
    if (!isNothing(amount)) line.back.set(second, sumOfAmounts(line.back.get(second) ?? noAmount, amount));
  }

  return {
    async pass(budget, most, signal) {
      const limits = limitsOfMinute(budget);
      const account = accountOf(budget);
      const line = lines.get(account) ?? { back: new Map<number, Amount>(), last: Promise.resolve() };
      lines.set(account, line);
      const wanted = counted(amountUsed(most, undefined), limits);
      const turn = line.last.catch(() => undefined).then(() => waited(line, budget, wanted, signal));
      line.last = turn;
      const second = await turn;
      if (second === undefined) return undefined;
      return (used) => {
        if (used === 'unknown') return;
        const kept =
          used === 'unsent'
            ? noAmount
            : used === 'nothing'
              ? eachMeasure((measure) => (measure === 'requests' ? 1 : 0))
              : amountUsed(used, undefined);
        giveBack(line, second, leftOf(wanted, kept));
      };
    },
  };
}
