/**
 * Limits per minute: a request waits until the last sixty seconds leave room for it. The store records what requests may use, so the limit
 * survives a restart and several processes share it. The window returns what was not used. A process without a store keeps the account in
 * memory.
 */
import {
  isNothing,
  noAmount,
  sumOfAmounts,
  leftOf,
  type Amount,
  eachMeasure,
  type BudgetReservation,
  type Settle,
  type Tokens,
} from '../../model/budget.ts';
import {
  adopted,
  fitsMinute,
  minuteSeconds,
  noSpending,
  reservedAfter,
  sumOfSpending,
  type Day,
  type JudgeSpendStore,
  type Spending,
} from '../../model/store/judge-store.ts';
import { trimOldest } from '../../runtime/lru.ts';
import type { Micros } from '../../model/timestamp.ts';
import type { Clock, Sleep } from '../../model/clock.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';
import { accountOf, amountUsed, counted, limitsOfMinute, type Budget } from './budgets.ts';

/** Days of accounts. */
const daysMax = 10_000;

interface Held {
  readonly amount: Amount;
  readonly renewedAt: Micros;
}

interface DayAccount {
  readonly account: string;
  readonly day: Day;
  spent: Spending;
  /** Reservations by owner. */
  readonly reserved: Map<string, Held>;
}

export function memorySpend(): JudgeSpendStore {
  const days = new Map<string, DayAccount>();
  /** By account, then by second. */
  const minutes = new Map<string, Map<number, Amount>>();

  function dayOf(account: string, day: Day): DayAccount {
    const key = `${day} ${account}`;
    const found = days.get(key) ?? { account, day, spent: noSpending, reserved: new Map<string, Held>() };
    days.set(key, found);
    trimOldest(days, daysMax);
    return found;
  }

  return {
    async enter({ account, day, owner, at, ...entry }) {
      const found = dayOf(account, day);
      found.spent = sumOfSpending(found.spent, entry.spent);
      const own = found.reserved.get(owner)?.amount ?? noAmount;
      const others = reservedBy([...found.reserved].filter(([other]) => other !== owner).map(([, held]) => held));
      const after = reservedAfter({ spent: found.spent, own, others }, entry);
      if (isNothing(after.own)) found.reserved.delete(owner);
      else found.reserved.set(owner, { amount: after.own, renewedAt: at });
      return { over: after.over, spend: after.spend };
    },
    on: async (day) =>
      new Map(
        [...days.values()]
          .filter((one) => one.day === day)
          .map(({ account, spent, reserved }) => [account, { ...spent, reserved: reservedBy([...reserved.values()]) }]),
      ),
    async renew(owner, at) {
      for (const { reserved } of days.values()) {
        const held = reserved.get(owner);
        if (held !== undefined) reserved.set(owner, { ...held, renewedAt: at });
      }
    },
    async adopt({ before, forget }) {
      for (const [key, one] of days) {
        if (one.day < forget) days.delete(key);
        for (const [owner, { amount, renewedAt }] of one.reserved) {
          if (renewedAt >= before) continue;
          one.reserved.delete(owner);
          one.spent = sumOfSpending(one.spent, adopted(amount));
        }
      }
    },
    async pass({ account, at, back, ...entry }) {
      const now = Math.floor(at / 1_000_000);
      const seconds = minutes.get(account) ?? new Map<number, Amount>();
      minutes.set(account, seconds);
      for (const second of seconds.keys()) if (second <= now - minuteSeconds) seconds.delete(second);
      for (const { second, amount } of back) if (seconds.has(second)) seconds.set(second, leftOf(seconds.get(second) ?? noAmount, amount));
      if (!fitsMinute([...seconds.values()].reduce(sumOfAmounts, noAmount), entry)) return undefined;
      seconds.set(now, sumOfAmounts(seconds.get(now) ?? noAmount, entry.wanted));
      return now;
    },
  };
}

function reservedBy(held: readonly Held[]): Amount {
  return held.map(({ amount }) => amount).reduce(sumOfAmounts, noAmount);
}

interface MinutesOptions {
  readonly store: () => JudgeSpendStore;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly sleep: Sleep;
}

interface Minutes {
  /** `undefined` when the signal aborts first. Rejects when the store cannot be written. */
  pass(budget: Budget, most: Tokens, signal: AbortSignal | undefined): Promise<Settle | undefined>;
}

/** The refusal of a request that was aborted while it waited. */
export const stopped = { refused: 'judge_stopped: the service is stopping' } as const;

/** Pause between two attempts. */
const attemptEveryMs = 250;

interface Line {
  /** Amounts by second, of the last sixty seconds, that the next entry returns to the store. */
  readonly back: Map<number, Amount>;
  /** The second of the last request, by the clock of the store. */
  newest: number;
  /** Serialises requests in the order of arrival. */
  last: Promise<unknown>;
}

/** The limits per minute of a process without a ledger. */
export function rateReservation(budget: Budget, options: Omit<MinutesOptions, 'store'>): BudgetReservation {
  const store = memorySpend();
  const rate = minutes({ ...options, store: () => store });
  return { take: async (most, signal) => (await rate.pass(budget, most, signal)) ?? stopped };
}

export function minutes({ store, telemetry, clock, sleep }: MinutesOptions): Minutes {
  /** Lines by account; bounded by the number of budgets. */
  const lines = new Map<string, Line>();

  async function waited(line: Line, budget: Budget, wanted: Amount, signal: AbortSignal | undefined): Promise<number | undefined> {
    for (let attempts = 0; signal?.aborted !== true; attempts++) {
      const at = Math.floor(clock.nowMs() * 1_000);
      const back = [...line.back].map(([of, amount]) => ({ second: of, amount }));
      line.back.clear();
      const second = await store().pass({ account: accountOf(budget), at, wanted, limits: limitsOfMinute(budget), back });
      if (second !== undefined) return (line.newest = second);
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
    for (const old of line.back.keys()) if (old <= line.newest - minuteSeconds) line.back.delete(old);
    if (!isNothing(amount)) line.back.set(second, sumOfAmounts(line.back.get(second) ?? noAmount, amount));
  }

  return {
    async pass(budget, most, signal) {
      const limits = limitsOfMinute(budget);
      const account = accountOf(budget);
      const line = lines.get(account) ?? { back: new Map<number, Amount>(), newest: 0, last: Promise.resolve() };
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
