/** What judges have cost, and what is reserved for calls in flight: the account of a process that has no store, or has not opened it yet. */
import { isNothing, noAmount, sumOfAmounts, leftOf, type Amount } from '../../model/budget.ts';
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
  /** By owner. */
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
      if (!fitsMinute([...seconds.values()].reduce(sumOfAmounts, noAmount), entry)) return false;
      seconds.set(now, sumOfAmounts(seconds.get(now) ?? noAmount, entry.wanted));
      return true;
    },
  };
}

function reservedBy(held: readonly Held[]): Amount {
  return held.map(({ amount }) => amount).reduce(sumOfAmounts, noAmount);
}
