/**
 * A sum of money for one piece of work, however long it takes and however often it is interrupted. The store keeps what is spent and what
 * requests in progress may cost. Reservations of a killed process stay taken, so the sum is never exceeded.
 */
import { noAmount, type BudgetReservation, type Settle } from '../../model/budget.ts';
import type { Clock } from '../../model/clock.ts';
import { noSpending, type Day, type JudgeSpendStore } from '../../model/store/judge-store.ts';
import { amountUsed, costOf, limitsOfDay, overBudget, usdOf, type TokenPrice } from './budgets.ts';

interface FixedBudgetOptions {
  readonly store: JudgeSpendStore;
  readonly clock: Clock;
  readonly account: string;
  /** The day on which the work began; all of its spending is on this day. */
  readonly day: Day;
  /** Identifies this process. */
  readonly owner: string;
  readonly usd: number;
  /** The word of a refusal. */
  readonly reason: string;
}

export interface FixedBudget {
  /** Gives the reservation of requests at this price. */
  at(price: TokenPrice): BudgetReservation;
  /** US dollars of the whole work, with what requests of killed processes may have cost. */
  spentUsd(): Promise<number>;
  /** Resolves when all spending is in the store. */
  settled(): Promise<void>;
}

export function fixedBudget({ store, clock, account, day, owner, usd, reason }: FixedBudgetOptions): FixedBudget {
  const limits = limitsOfDay({ usdPerDay: usd });
  const settling = new Set<Promise<unknown>>();
  const entry = () => ({ account, day, owner, at: Math.floor(clock.nowMs() * 1_000), limits });

  function settle(
    nanoUsd: number,
    spent: Parameters<Settle>[0],
    price: TokenPrice,
    most: { readonly input: number; readonly output: number },
  ): void {
    const tokens = spent === 'unknown' ? most : spent === 'nothing' || spent === 'unsent' ? { input: 0, output: 0 } : spent;
    const done = store
      .enter({
        ...entry(),
        spent:
          spent === 'unsent'
            ? noSpending
            : { nanoUsd: costOf(tokens, price), requests: 1, inputTokens: Math.ceil(tokens.input), outputTokens: Math.ceil(tokens.output) },
        released: { ...noAmount, nanoUsd },
        wanted: noAmount,
      })
      // An amount that cannot be settled stays reserved.
      .catch(() => undefined)
      .finally(() => settling.delete(done));
    settling.add(done);
  }

  return {
    at: (price) => ({
      async take(most) {
        const { nanoUsd } = amountUsed(most, price);
        const { over } = await store.enter({ ...entry(), spent: noSpending, released: noAmount, wanted: { ...noAmount, nanoUsd } });
        return over === undefined ? (used) => settle(nanoUsd, used, price, most) : overBudget(reason);
      },
    }),
    async spentUsd() {
      const spend = (await store.on(day)).get(account);
      return spend === undefined ? 0 : usdOf(spend.nanoUsd + spend.reserved.nanoUsd);
    },
    async settled() {
      await Promise.all(settling);
    },
  };
}
