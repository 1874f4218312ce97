/** The power goes at any operation, of several processes one after another; what was not synced comes back in any state. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { seeded } from '../../builders/seeded.ts';
import { check, ledger, session } from '../session.ts';
import { simulatedDisk, type Faults } from '../simulated-disk.ts';

const generation = fc.record({
  bursts: fc.integer({ min: 0, max: 12 }),
  stops: fc.boolean(),
  /** The operation at which it ends; later than the last: after it. */
  endsAt: fc.integer({ min: 0, max: 160 }),
  /** An operation that fails before. */
  failsAt: fc.option(fc.integer({ min: 0, max: 160 }), { nil: undefined }),
  end: fc.constantFrom('power' as const, 'death' as const),
});
type Life = typeof generation extends fc.Arbitrary<infer L> ? L : never;

test('journal disk: after any number of power losses what was acknowledged is there once and in order', async () => {
  let acknowledged = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(generation, { minLength: 1, maxLength: 4 }), fc.integer(), async (lives, seed) => {
      const chance = seeded(seed);
      const book = ledger();
      let disk = simulatedDisk(faultsOf(lives[0]));
      for (const [at, one] of lives.entries()) {
        await session(disk, book, chance, one);
        const next = faultsOf(lives[at + 1]);
        disk = one.end === 'power' ? disk.afterPowerLoss(chance, next) : disk.afterDeath(next);
      }
      await check(disk, book);
      acknowledged += book.acknowledged.size;
    }),
    { numRuns: 800 },
  );
  // The property proves little where nothing was taken.
  expect(acknowledged).toBeGreaterThan(5_000);
});

function faultsOf(one: Life | undefined): Faults {
  return (_, number) => {
    if (one === undefined) return undefined;
    if (number >= one.endsAt) return { kind: 'off' };
    return number === one.failsAt ? { kind: 'error', code: 'EIO' } : undefined;
  };
}
