/** The trial of `npm run check -- budget`, small. */
import { expect, test } from 'vitest';
import { conditionsOf } from '../bench/judges/budget-conditions.ts';
import { budgetTrial } from '../bench/judges/budget-trial.ts';

test('budget: a service that is killed twice stays within it, asks nothing again whose verdict is stored, and decides each pair once', async () => {
  const account = await budgetTrial({ runs: 300, rate: 0.5, seed: 7, concurrency: 2 });
  expect(conditionsOf(account).filter(({ holds }) => !holds)).toEqual([]);
  expect([account.underWay > 0, account.askedAgain > 0, account.decisions.get('sampled_out') !== undefined]).toEqual([true, true, true]);
});
