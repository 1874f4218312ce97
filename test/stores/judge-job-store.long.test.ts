/** Questions that wait for judges, in every store. */
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RunDecision } from '../../src/model/scored-run.ts';
import type { Run } from '../../src/model/agent-trace.ts';
import { parseTraceId, tenant } from '../../src/model/ids.ts';
import type { NewJudgeJob } from '../../src/model/judge-work.ts';
import type { Decision } from '../../src/model/verdict.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import type { Store, StoreItem } from '../../src/model/store/store.ts';
import { agentTrace, call, spanId } from '../builders/agent-trace.ts';
import { retention } from '../builders/retention.ts';
import { evaluation, run, scored } from '../builders/scored-run.ts';
import { closedLater, folder, members, open } from './members.ts';

/** The run of that number. */
function nth(number: number, given: Partial<Run> = {}): Run {
  const traceId = parseTraceId((number + 1).toString(16).padStart(32, '0'));
  if (traceId === undefined) throw new Error('no trace id');
  return run({ traceId, ...given });
}

const chosen = (given: Partial<NewJudgeJob> = {}): NewJudgeJob => ({
  name: 'j',
  evaluator: 'task_completion',
  evaluatorKind: 'judge',
  queueKey: 'main',
  optionsHash: 'o',
  probability: 0.25,
  offeredAt: 1_000,
  ...given,
});
const said = (decision: Decision, name = 'j'): RunDecision => ({ name, evaluator: 'task_completion', evaluatorKind: 'judge', decision });
const asks = (of: Run, ...jobs: readonly NewJudgeJob[]): StoreItem => ({
  run: of,
  evaluations: [],
  decisions: [],
  asked: true,
  jobs: jobs.length === 0 ? [chosen()] : jobs,
});
const unasked = (of: Run, decision: Decision): StoreItem => ({ run: of, evaluations: [], decisions: [said(decision)] });
const answers = (of: Run, name = 'j'): StoreItem => ({
  run: of,
  evaluations: [evaluation(name, scored(1), of, { evaluatorKind: 'judge' })],
  decisions: [said('scored', name)],
  answered: true,
});

const all = { limit: 100, except: [] } as const;

async function waiting({ judgeJobs }: Store): Promise<readonly string[]> {
  return (await judgeJobs.due(all)).map(
    ({ run: of, name }) => `${Number.parseInt(of?.traceId ?? '', 16) - 1} ${name} ${of?.revision ?? 0}`,
  );
}

async function decided(store: Store, of: Run): Promise<readonly string[]> {
  return (await store.decisions(of.traceId)).map(({ name, decision, revision }) => `${name} ${decision} ${revision}`);
}

describe.each(members)('%s', (member) => {
  test('stores: a waiting job has the whole unchanged run, and the sample that chose it', async () => {
    const store = await open(member);
    const of = nth(1, {
      tenant: tenant('team'),
      spanTraceId: nth(2).traceId,
      parent: nth(3),
      serviceVersion: '2',
      endUnixNano: 1_700_000_001_123_456_789n,
      resourceAttributes: { 'service.name': 'travel', big: 1234567890123456789n, list: ['a', 'b'], nested: { a: null } },
      expected: { output: 'there' },
      trace: agentTrace({
        agent: 'ü "x"',
        input: 'where?',
        finalResponse: { text: 'there' },
        toolCalls: [call({ name: 'find', arguments: { id: 1234567890123456789n, none: null }, result: null, spanId: spanId(9) })],
      }),
    });
    const job = chosen({ raisedBy: 4, upstream: 0.5 });
    await store.write([asks(of, job)]);
    const [waits] = await store.judgeJobs.due(all);
    expect(waits).toEqual({ id: waits?.id, ...job, run: of });
  });

  test('stores: what is answered waits no more, in the transaction that writes the verdict', async () => {
    const store = await open(member);
    await store.write([asks(nth(0), chosen(), chosen({ name: 'k' })), asks(nth(1))]);
    await store.write([answers(nth(0))]);
    expect(await waiting(store)).toEqual(['0 k 1', '1 j 1']);
    expect(await decided(store, nth(0))).toEqual(['j scored 1']);
  });

  test('stores: a run that is written again, as after a crash, is not asked about again, whether it waits or is answered', async () => {
    const store = await open(member);
    await store.write([asks(nth(0)), asks(nth(1))]);
    await store.write([answers(nth(0))]);
    const [before] = await store.judgeJobs.due(all);
    await store.write([asks(nth(0)), asks(nth(1))]);
    expect(await store.judgeJobs.due(all)).toEqual([before]);
  });

  test('stores: a run that is chosen otherwise when it is read again keeps what was written first', async () => {
    const store = await open(member);
    await store.write([asks(nth(0)), asks(nth(1)), unasked(nth(2), 'sampled_out')]);
    await store.write([answers(nth(0))]);
    await store.write([unasked(nth(0), 'over_budget'), unasked(nth(1), 'sampled_out'), asks(nth(2))]);
    expect(await waiting(store)).toEqual(['1 j 1']);
    expect([await decided(store, nth(0)), await decided(store, nth(1)), await decided(store, nth(2))]).toEqual([
      ['j scored 1'],
      [],
      ['j sampled_out 1'],
    ]);
  });

  test('stores: a newer revision takes the place of an older one that waits, and the answer to the older one does not end it', async () => {
    const store = await open(member);
    const [first, second] = [nth(0), nth(0, { revision: 2 })];
    await store.write([asks(first)]);
    await store.write([asks(second)]);
    expect(await waiting(store)).toEqual(['0 j 2']);
    await store.write([answers(first)]);
    expect(await waiting(store)).toEqual(['0 j 2']);
    await store.write([answers(second)]);
    expect([await waiting(store), await decided(store, first)]).toEqual([[], ['j scored 2']]);
  });

  test('stores: a newer revision that is not asked about ends what waits', async () => {
    const store = await open(member);
    await store.write([asks(nth(0))]);
    await store.write([unasked(nth(0, { revision: 2 }), 'sampled_out')]);
    expect([await waiting(store), await decided(store, nth(0))]).toEqual([[], ['j sampled_out 2']]);
  });

  test('stores: what ends without an answer is decided too', async () => {
    const store = await open(member);
    await store.write([asks(nth(0))]);
    await store.write([{ ...unasked(nth(0), 'filtered'), answered: true }]);
    expect([await waiting(store), await decided(store, nth(0))]).toEqual([[], ['j filtered 1']]);
  });

  test('stores: a run that turns out to be part of another one is not asked about', async () => {
    const store = await open(member);
    await store.write([asks(nth(0))]);
    await store.write([{ run: nth(0, { revision: 2, partOf: nth(9) }), evaluations: [], decisions: [said('skipped')] }]);
    expect(await waiting(store)).toEqual([]);
  });

  test('stores: they are counted by party, by age, and without those that are named', async () => {
    const store = await open(member);
    await store.write(
      Array.from({ length: 6 }, (_, number) =>
        asks(nth(number), chosen({ queueKey: number % 2 === 0 ? 'main' : 'http:x', offeredAt: number * 10 + 1 })),
      ),
    );
    expect(await store.judgeJobs.counts()).toEqual([
      { queueKey: 'http:x', waiting: 3, oldestAt: 11 },
      { queueKey: 'main', waiting: 3, oldestAt: 1 },
    ]);
    const main = await store.judgeJobs.due({ ...all, queueKey: 'main' });
    expect(main.map(({ offeredAt }) => offeredAt)).toEqual([1, 21, 41]);
    expect(
      (await store.judgeJobs.due({ queueKey: 'main', limit: 1, except: [main[0]?.id ?? 0] })).map(({ offeredAt }) => offeredAt),
    ).toEqual([21]);
    expect((await store.judgeJobs.due({ ...all, before: 21 })).map(({ offeredAt }) => offeredAt)).toEqual([1, 11]);
    await store.judgeJobs.drop(main.map(({ id }) => id));
    expect(await store.judgeJobs.counts()).toEqual([{ queueKey: 'http:x', waiting: 3, oldestAt: 11 }]);
  });

  test('stores: only its owner gets a taken job again while its lease lasts, renewed or not', async () => {
    const store = await open(member);
    await store.write([0, 1, 2].map((number) => asks(nth(number))));
    const taken = async (owner: string, now: number, until: number, limit = 10): Promise<readonly number[]> =>
      (await store.judgeJobs.take({ queueKey: 'main', limit, except: [] }, { owner, now, until })).map(
        ({ run: of }) => Number.parseInt(of?.traceId ?? '', 16) - 1,
      );
    expect(await taken('one', 0, 100, 2)).toEqual([0, 1]);
    expect(await taken('other', 50, 150)).toEqual([2]);
    expect(await taken('one', 60, 100)).toEqual([0, 1]);
    // It was heard of, and then no more.
    await store.judgeJobs.renew({ owner: 'one', now: 60, until: 200 });
    expect([await taken('other', 199, 300), await taken('third', 199, 300)]).toEqual([[2], []]);
    expect(await taken('other', 200, 300)).toEqual([0, 1, 2]);
    expect(await taken('one', 210, 300)).toEqual([]);
    const [first] = await store.judgeJobs.due(all);
    await store.judgeJobs.release('one', [first?.id ?? 0]);
    expect(await taken('one', 210, 300)).toEqual([]);
    await store.judgeJobs.release('other', [first?.id ?? 0]);
    expect(await taken('one', 210, 300)).toEqual([0]);
  });

  test('stores: a job that replaces a taken one is free, and bounds of a query hold for taken jobs', async () => {
    const store = await open(member);
    const lease = { owner: 'one', now: 0, until: 100 };
    await store.write([asks(nth(0)), asks(nth(1), chosen({ offeredAt: 5_000 })), asks(nth(2), chosen({ queueKey: 'http:x' }))]);
    expect(await store.judgeJobs.take({ before: 5_000, queueKey: 'main', limit: 10, except: [] }, lease)).toHaveLength(1);
    const [first] = await store.judgeJobs.due(all);
    expect(await store.judgeJobs.take({ limit: 10, except: [first?.id ?? 0] }, lease)).toHaveLength(2);
    await store.write([asks(nth(0, { revision: 2 }))]);
    expect(
      (await store.judgeJobs.take({ limit: 10, except: [] }, { ...lease, owner: 'other' })).map(({ run: of }) => of?.revision),
    ).toEqual([2]);
  });

  test('stores: what waits keeps its run from going by age until it is answered, or waits for too long', async () => {
    const store = await open(member);
    await store.write([
      asks(nth(0), chosen({ offeredAt: 1_000 }), chosen({ name: 'k', offeredAt: 2_000 })),
      asks(nth(1)),
      asks(nth(2)),
      unasked(nth(3), 'sampled_out'),
    ]);
    await store.write([answers(nth(1))]);
    const limits = retention({ runsBefore: 1e17, jobsBefore: 1_000, stepRuns: 2 });
    const left = async (): Promise<readonly string[]> => (await store.runs({ limit: 10 })).runs.map(({ traceId }) => traceId).sort();
    // Those that must stay were written before the others, and no step stops at them.
    expect(await store.prune(limits)).toMatchObject({ runs: 2, jobs: 0 });
    expect([await left(), await waiting(store)]).toEqual([
      [nth(0).traceId, nth(2).traceId],
      ['0 j 1', '0 k 1', '2 j 1'],
    ]);
    expect(await store.prune({ ...limits, jobsBefore: 1_001 })).toMatchObject({ runs: 1, jobs: 1 });
    expect(await waiting(store)).toEqual(['0 j 1', '0 k 1']);
    expect(await store.prune({ ...limits, jobsBefore: 2_001 })).toMatchObject({ runs: 1, jobs: 2 });
    expect([await left(), await waiting(store)]).toEqual([[], []]);
    expect(await store.prune(limits)).toMatchObject({ runs: 0, jobs: 0 });
  });

  test('stores: in any order and batch of writes, a pair of the newest revision waits or is decided, once', async () => {
    const step = fc.record({
      number: fc.nat(2),
      revision: fc.integer({ min: 1, max: 3 }),
      what: fc.constantFrom('asks', 'answers', 'sampled_out', 'over_budget'),
    });
    const store = await open(member);
    /** Each trial has separate runs. */
    let first = -3;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { maxLength: 6 }), async (trial) => {
        first += 3;
        const batches = trial.map((batch) => batch.map((one) => ({ ...one, number: first + one.number })));
        const itemOf = ({ number, revision, what }: (typeof batches)[number][number]): StoreItem => {
          const of = nth(number, { revision });
          return what === 'asks' ? asks(of) : what === 'answers' ? answers(of) : unasked(of, what);
        };
        for (const batch of batches) await store.write(batch.map(itemOf));
        const left = await waiting(store);
        for (let number = first; number < first + 3; number++) {
          const revisions = batches
            .flat()
            .filter((one) => one.number === number)
            .map(({ revision }) => revision);
          if (revisions.length === 0) continue;
          const newest = Math.max(...revisions);
          const jobs = left.filter((one) => one.startsWith(`${number} `));
          const ends = (await decided(store, nth(number))).map((one) => Number(one.split(' ')[2]));
          expect(jobs.length).toBeLessThanOrEqual(1);
          expect(ends.length).toBeLessThanOrEqual(1);
          expect([...jobs.map((one) => Number(one.split(' ')[2])), ...ends].filter((one) => one === newest)).toHaveLength(1);
        }
      }),
      { numRuns: 60 },
    );
  });
});

test('stores: what waits is there when the file is opened again', async () => {
  const file = join(folder(), 'tracejury.db');
  const first = await sqliteStore(file);
  await first.write([asks(nth(0))]);
  await first.stop();
  const second = closedLater(await sqliteStore(file));
  expect(await waiting(second)).toEqual(['0 j 1']);
});
