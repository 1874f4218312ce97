/** What judges have cost, in a store that ends with the process. */
import { enteredSpend, noSpending, type DaySpend, type JudgeSpendStore } from '../model/judge-store.ts';

const nothing: DaySpend = { ...noSpending, reservedNanoUsd: 0 };

export function memorySpend(): JudgeSpendStore {
  const days = new Map<string, DaySpend>();
  const keyOf = (judge: string, day: string): string => `${day} ${judge}`;
  return {
    async enter({ judge, day, ...entry }) {
      const entered = enteredSpend(days.get(keyOf(judge, day)) ?? nothing, entry);
      days.set(keyOf(judge, day), entered.spend);
      return entered;
    },
    of: async (judge, day) => days.get(keyOf(judge, day)) ?? nothing,
    async adopt(forget) {
      for (const [key, { reservedNanoUsd, nanoUsd, ...rest }] of days) {
        if (key < forget) days.delete(key);
        else days.set(key, { ...rest, nanoUsd: nanoUsd + reservedNanoUsd, reservedNanoUsd: 0 });
      }
    },
  };
}
