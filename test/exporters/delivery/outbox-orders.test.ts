/** Chance breaks everything that can break, and nothing is lost without a word. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ExportOutcome } from '../../../src/exporters/exporter.ts';
import type { ScoredRun } from '../../../src/model/scored-run.ts';
import { fine, item, later, never, rowsOf, shelf, started } from '../shelf.ts';
import { propertyRuns } from '../../builders/property-runs.ts';

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ offer: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 4, arbitrary: fc.record({ answer: fc.constantFrom(fine, later, later, never, { ...later, retryAfterMs: 5_000 }) }) },
  { weight: 3, arbitrary: fc.constant({ write: true } as const) },
  { weight: 2, arbitrary: fc.constant({ tick: true } as const) },
  { weight: 1, arbitrary: fc.record({ breaks: fc.boolean() }) },
  { weight: 1, arbitrary: fc.constant({ dies: true } as const) },
);

test('outbox: under all faults, every item is sent, a dead letter, counted, or outdone by a later revision of its run', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.constantFrom(4, 1_000),
      fc.constantFrom(0, 1_500),
      async (steps, itemsMax, rowAfterMs) => {
        const of = await shelf();
        const options = { itemsMax, sendingMax: 2, attemptsMax: 3, rowAfterMs };
        let own = await started(of, options);
        const delivered = new Map<string, string[]>();
        const offered = new Map<number, number>();
        let dropped = 0;
        /** The items that the journal would hold. */
        let journal: ScoredRun[] = [];
        const answer = async (outcome: ExportOutcome): Promise<void> => {
          if (own.sending() === 0) return;
          const oldest = own.sent.at(-own.sending()) ?? '';
          const [of_ = ''] = oldest.split('.');
          if (outcome.kind === 'sent') delivered.set(of_, [...(delivered.get(of_) ?? []), oldest]);
          await own.answer(outcome);
        };
        for (const one of steps) {
          if ('offer' in one) {
            const revision = (offered.get(one.offer) ?? 0) + 1;
            offered.set(one.offer, revision);
            const given = item(one.offer, revision);
            journal.push(given);
            own.offer(given);
          } else if ('answer' in one) await answer(one.answer);
          else if ('write' in one) await own.write();
          else if ('tick' in one) await own.tick();
          else if ('breaks' in one) of.breaks = one.breaks;
          else {
            of.breaks = false;
            dropped += own.count('dropped');
            journal = journal.slice(own.box.settled());
            own = await started(of, options);
            for (const again of journal) own.offer(again);
          }
          expect(own.sending()).toBeLessThanOrEqual(2);
        }
        of.breaks = false;
        for (let turn = 0; turn < 40; turn++) {
          await own.write();
          while (own.sending() > 0) await answer(fine);
          own.clock.advance(3_600_000);
          await own.tick();
        }
        expect(own.gauge('tracejury.exporter.queue') ?? 0).toBe(0);
        dropped += own.count('dropped');
        const dead = (await rowsOf(of)).map((row) => row.split(' ')[0] ?? '');
        const lost = [...offered].filter(
          ([run_, last]) => !(delivered.get(String(run_)) ?? []).includes(`${run_}.${last}`) && !dead.includes(`${run_}.${last}`),
        );
        expect(lost.length).toBeLessThanOrEqual(dropped);
        // No older item of a run comes after a newer one, but for repeats of a process that died.
        if (!steps.some((one) => 'dies' in one))
          for (const order of delivered.values())
            expect(order).toEqual([...new Set(order)].toSorted((one, other) => Number(one.split('.')[1]) - Number(other.split('.')[1])));
      },
    ),
    { numRuns: propertyRuns({ short: 15, long: 200 }) },
  );
});
