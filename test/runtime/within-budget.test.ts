import { expect, test } from 'vitest';
import { withinBudget } from '../../src/runtime/within-budget.ts';

/** Each item reserves `most` while it is worked on, and costs `cost`. */
function account(room: number, most: number, cost: number) {
  let [taken, spent, busiest, working] = [0, 0, 0, 0];
  const work = async (item: number): Promise<string | undefined> => {
    if (taken + most > room) return undefined;
    taken += most;
    busiest = Math.max(busiest, ++working);
    await Promise.resolve();
    working--;
    taken += cost - most;
    spent += cost;
    return `done ${item}`;
  };
  return { work, figures: () => ({ spent, busiest }) };
}

const items = [1, 2, 3, 4, 5, 6, 7, 8];
for (const { name, room, places, done, busiest } of [
  { name: 'room for all', room: 100, places: 3, done: 8, busiest: 3 },
  { name: 'room for two at a time, and at last for one', room: 20, places: 4, done: 8, busiest: 2 },
  { name: 'room for some', room: 13, places: 4, done: 4, busiest: 1 },
  { name: 'no room', room: 9, places: 4, done: 0, busiest: 0 },
])
  test(`withinBudget: ${name}`, async () => {
    const { work, figures } = account(room, 10, 1);
    const ends = await withinBudget(items, places, work);
    expect([...ends.values()].sort()).toEqual(items.slice(0, done).map((item) => `done ${item}`));
    expect(figures()).toEqual({ spent: done, busiest });
  });
