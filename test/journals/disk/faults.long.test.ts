/** The n-th operation of a scripted session fails, for every n. */
import { describe, expect, test } from 'vitest';
import { seeded } from '../../builders/seeded.ts';
import { check, ledger, session } from '../session.ts';
import { simulatedDisk, type Fault } from '../simulated-disk.ts';

const faults: readonly { readonly name: string; readonly fault: Fault; readonly lasting: boolean }[] = [
  { name: 'no space', fault: { kind: 'error', code: 'ENOSPC' }, lasting: false },
  { name: 'an error of the disk', fault: { kind: 'error', code: 'EIO' }, lasting: false },
  { name: 'an error although it was done', fault: { kind: 'late', code: 'EIO' }, lasting: false },
  { name: 'half of the bytes are written', fault: { kind: 'short' }, lasting: false },
  { name: 'no space from there on', fault: { kind: 'error', code: 'ENOSPC' }, lasting: true },
  { name: 'the power is gone', fault: { kind: 'off' }, lasting: true },
];
const script = { bursts: 14, stops: true };
/** Operations of the sound session; beyond it nothing is left to fail. */
const operationsMax = 1000;

describe('journal disk, faults', () => {
  for (const { name, fault, lasting } of faults) {
    test(`journal disk: acknowledged records are there although ${name}, at every operation`, async () => {
      let hit = true;
      for (let at = 0; hit; at++) {
        expect(at).toBeLessThan(operationsMax);
        for (const end of ['death', 'power'] as const) {
          const book = ledger();
          const disk = simulatedDisk((_, number) => (number === at || (lasting && number > at) ? fault : undefined));
          await session(disk, book, seeded(11), script);
          hit = disk.operations() > at;
          await check(end === 'death' ? disk.afterDeath() : disk.afterPowerLoss(seeded(at)), book);
        }
      }
      expect(hit).toBe(false);
    });
  }
});
