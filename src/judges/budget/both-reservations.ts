/** A request that two budgets pay for: it goes only when both have room. */
import type { BudgetReservation } from '../../model/budget.ts';

/** Takes from the first budget, then from the second; a refusal of the second returns what the first gave. */
export function bothReservations(
  first: BudgetReservation | undefined,
  second: BudgetReservation | undefined,
): BudgetReservation | undefined {
  if (first === undefined || second === undefined) return first ?? second;
  return {
    async take(most, signal) {
      const settleFirst = await first.take(most, signal);
      if (typeof settleFirst !== 'function') return settleFirst;
      try {
        const settleSecond = await second.take(most, signal);
        if (typeof settleSecond !== 'function') {
          settleFirst('unsent');
          return settleSecond;
        }
        return (used) => {
          settleFirst(used);
          settleSecond(used);
        };
      } catch (error) {
        settleFirst('unsent');
        throw error;
      }
    },
  };
}
