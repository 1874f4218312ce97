/** Several people over one store and two services: every response is taken once, or refused. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import type { Store } from '../../src/model/store/store.ts';
import { annotationQueues, type AnnotationQueues } from '../../src/queues/annotation-queues.ts';
import type { QueueSettings } from '../../src/queues/queue-settings.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import { openedInMemory } from '../builders/memory-store.ts';
import { propertyRuns } from '../builders/property-runs.ts';
import { run, scored, scoredRun } from '../builders/scored-run.ts';
import { traceId } from '../builders/spans.ts';
import { open } from '../stores/members.ts';

function settingsOf(given: Partial<QueueSettings> = {}): QueueSettings {
  return {
    name: 'refunds',
    whenText: undefined,
    sample: 1,
    max: 100,
    ask: [{ kind: 'evaluator', name: 'goal' }],
    people: 1,
    dueMs: undefined,
    order: 'oldest',
    random: 0,
    leaseMs: 60_000,
    blind: true,
    ...given,
  };
}

const keys = (runs: number) => Array.from({ length: runs }, (_, at) => run({ traceId: traceId(at + 1) }));

function queuesOver(store: Store, settings: QueueSettings, clock = manualClock()): AnnotationQueues {
  return annotationQueues({
    store,
    settings: () => [settings],
    thresholds: () => new Map([['goal', 0.5]]),
    redaction: () => ({ text: (text) => text.replaceAll(/\S+@\S+/g, '[email]') }),
    telemetry: noTelemetry,
    clock,
  });
}

test('queues: the most informative item comes first', async () => {
  const store = await open('sqlite in memory');
  const scores = [1, 0.5, 0.9];
  await store.write(keys(3).map((of, at) => scoredRun({ goal: scored(scores[at] ?? 0) }, of, { evaluatorKind: 'judge' })));
  const queues = queuesOver(store, settingsOf({ order: 'informative' }));
  await queues.add('refunds', { runs: keys(3), by: 'ann', why: '' });
  const found: unknown[] = [];
  for (const person of ['ann', 'bob', 'cid', 'dot']) found.push((await queues.next('refunds', { person }))?.found?.item.traceId);
  expect(found).toEqual([traceId(2), traceId(3), traceId(1), undefined]);
});

test('queues: texts and people are redacted before they are stored, in the answer as in its annotations', async () => {
  const store = await open('sqlite in memory');
  await store.write(keys(1).map((of) => scoredRun({}, of)));
  const ask = [
    { kind: 'evaluator', name: 'goal' },
    { kind: 'text', name: 'why' },
  ] as const;
  const queues = queuesOver(store, settingsOf({ ask }));
  const person = queues.person('ann@example.org');
  await queues.add('refunds', { runs: keys(1), by: person, why: 'for bob@example.org' });
  const item = (await queues.next('refunds', { person }))?.found?.item;
  const answers = [
    { name: 'goal', value: 'pass' },
    { name: 'why', value: 'Ask cid@example.org.' },
  ];
  const given = { person, item: item?.id ?? 0, lease: item?.lease?.id ?? 0 };
  expect(await queues.answer('refunds', { ...given, answers, comment: 'dot@example.org knows' })).toMatchObject({ kind: 'taken' });
  const stored = JSON.stringify([await store.queues.item('refunds', given.item), await store.run(keys(1)[0] ?? run())]);
  expect(stored).not.toContain('@example.org');
  expect((await store.run(keys(1)[0] ?? run()))?.annotations).toMatchObject([
    { name: 'goal', by: person, explanation: '[email] knows' },
    { name: 'why', by: person, label: 'text', explanation: 'Ask [email]' },
  ]);
});

test('queues: another queue, another question and a queue that is gone', async () => {
  const store = await open('sqlite in memory');
  await store.write(keys(1).map((of) => scoredRun({}, of)));
  const queues = queuesOver(store, settingsOf());
  await queues.add('refunds', { runs: keys(1), by: 'ann', why: '' });
  expect(await queues.next('other', { person: 'ann' })).toBeUndefined();
  expect(await queues.add('other', { runs: keys(1), by: 'ann', why: '' })).toBeUndefined();
  expect(await queues.answer('refunds', { person: 'ann', item: 1, lease: 1, answers: [], comment: '' })).toMatchObject({ kind: 'faulty' });
  expect(await queues.skip('refunds', { person: 'ann', item: 9, lease: 1, reason: 'x' })).toEqual({ kind: 'refused', reason: 'unknown' });
  const gone = queuesOver(store, settingsOf({ name: 'next' }));
  expect(await gone.list()).toMatchObject([
    { settings: { name: 'next' }, counts: { open: 0 } },
    { settings: undefined, counts: { queue: 'refunds', open: 1 } },
  ]);
  expect(await gone.next('refunds', { person: 'ann' })).toBeUndefined();
});

/** Faults of a store, before and after it has done its work: the caller does not know which. */
function faulty(store: Store, isFaulty: () => 'before' | 'after' | undefined): Store {
  const { queues } = store;
  const failing =
    <Given extends readonly unknown[], Result>(work: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      const fault = isFaulty();
      if (fault === 'before') throw new Error('the store failed');
      const result = await work(...given);
      if (fault === 'after') throw new Error('the connection broke');
      return result;
    };
  return {
    ...store,
    queues: { ...queues, lease: failing(queues.lease), respond: failing(queues.respond), release: failing(queues.release) },
  };
}

test('queues: two people beside each other, leases that end and a store that fails: each item has as many answers as asked', async () => {
  const faults = fc.array(fc.constantFrom(undefined, undefined, undefined, 'before' as const, 'after' as const), {
    minLength: 8,
    maxLength: 40,
  });
  const waits = fc.array(fc.nat(70_000), { minLength: 4, maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(faults, waits, fc.integer({ min: 1, max: 2 }), async (planned, rests, people) => {
      const store = await openedInMemory();
      const runs = 4;
      await store.write(keys(runs).map((of) => scoredRun({}, of)));
      const clock = manualClock();
      let at = 0;
      const settings = settingsOf({ people });
      const queues = queuesOver(
        faulty(store, () => planned[at++]),
        settings,
        clock,
      );
      await queues.add('refunds', { runs: keys(runs), by: 'ann', why: '' });

      /** A program that repeats what fails, as a console does, and forgets what it holds from time to time. */
      async function reviewer(person: string): Promise<void> {
        for (let round = 0; round < 200; round++) {
          const next = await retried(() => queues.next('refunds', { person }));
          const item = next?.found?.item;
          if (item === undefined) {
            if ((next?.counts.open ?? 0) === 0 || (await isThrough(person))) return;
            // The other one gets on with the work meanwhile.
            clock.advance(settings.leaseMs / 10);
            continue;
          }
          clock.advance(rests[round % rests.length] ?? 0);
          const given = { person, item: item.id, lease: item.lease?.id ?? 0, answers: [{ name: 'goal', value: 'pass' }], comment: person };
          await retried(() => queues.answer('refunds', given));
        }
        throw new Error('it never ends');
      }

      /** True when the person has no answer left to give. */
      async function isThrough(person: string): Promise<boolean> {
        const { items } = await store.queues.items({ queue: 'refunds', state: 'open', limit: 10 });
        return items.every(({ responses }) => responses.some((one) => one.person === person));
      }

      await Promise.all(['ann', 'bob'].map(reviewer));
      const { items } = await store.queues.items({ queue: 'refunds', limit: 10 });
      expect(items).toHaveLength(runs);
      for (const item of items) {
        expect(item.state).toBe('done');
        expect(item.responses).toHaveLength(people);
        expect(new Set(item.responses.map(({ person }) => person)).size).toBe(people);
        // The annotations are those of the answers, one of each.
        const annotations = (await store.run(item))?.annotations ?? [];
        expect(annotations.map(({ by }) => by).toSorted()).toEqual(item.responses.map(({ person }) => person).toSorted());
      }
      await store.stop();
    }),
    { numRuns: propertyRuns({ short: 10, long: 100 }) },
  );
});

async function retried<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 0; ; attempt++)
    try {
      return await work();
    } catch (error) {
      if (attempt > 50) throw error;
    }
}
