/** Every fault of several machines once, no longer than it needs to show; `npm run check -- replicas --trials N` tries them at length. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { manyFaults } from './faults.ts';
import { whyNoSmallDisk } from './machines.ts';
import { brokenPromises, trials, type Trials } from './trial.ts';

let own: Trials;
beforeAll(async () => {
  own = await trials({ isFull: false });
});
afterAll(() => own.stop());

test.for(manyFaults)('faults of replicas: $name breaks no promise', async (fault, { skip }) => {
  const lack = fault.diskBytes === undefined ? undefined : whyNoSmallDisk();
  if (lack !== undefined) skip(lack);
  const account = await own.account(fault, 1);
  expect({ ...account, broken: brokenPromises(fault, account) }).toMatchObject({ broken: [] });
});
