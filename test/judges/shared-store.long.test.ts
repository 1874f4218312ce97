/** Several processes over one SQLite file, each with a separate connection and desk: no job is asked twice while its owner lives. */
import { expect, test } from 'vitest';
import { join } from 'node:path';
import { jobWorker, type JobWorkerOptions } from '../../src/judges/queue/job-worker.ts';
import { noItems } from '../../src/model/watermark.ts';
import { manualClock } from '../../src/model/clock.ts';
import { parseTraceId } from '../../src/model/ids.ts';
import { sqliteStore } from '../../src/stores/sqlite/sqlite-store.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import { run } from '../builders/scored-run.ts';
import { manualSleep } from '../builders/manual-sleep.ts';
import { eventually } from '../service/running.ts';
import { closedLater, folder } from '../stores/members.ts';

const jobs = 40;

/** Processes that share nothing but the file and the time. */
async function processes(names: readonly string[]) {
  const file = join(folder(), 'tracejury.db');
  const clock = manualClock();
  const asked: string[] = [];
  const first = closedLater(await sqliteStore(file));
  await first.write(
    Array.from({ length: jobs }, (_, at) => ({
      run: run({ traceId: parseTraceId((at + 1).toString(16).padStart(32, '0')) ?? run().traceId }),
      evaluations: [],
      decisions: [],
      jobs: [
        { name: `job ${at}`, evaluator: 'e', evaluatorKind: 'judge', queueKey: 'main', optionsHash: 'o', probability: 1, offeredAt: 1 },
      ],
    })),
  );
  const all = await Promise.all(
    names.map(async (owner) => {
      const store = closedLater(await sqliteStore(file));
      const sleep = manualSleep();
      const held: { readonly name: string; readonly done: (ended: boolean) => void }[] = [];
      const resume: JobWorkerOptions['resume'] = ({ name }, done) => {
        asked.push(`${owner} ${name}`);
        held.push({ name, done });
      };
      const own = jobWorker({
        store: store.judgeJobs,
        owner,
        keep: { rows: 1_000, ageMs: 1e15 },
        places: () => 5,
        resume,
        watermarks: { delivered: () => noItems, stored: () => noItems },
        telemetry: noTelemetry,
        clock,
        sleep: sleep.sleep,
        onFault: (error) => {
          throw error;
        },
      });
      return {
        own,
        held,
        sleep,
        /** Another look, with any finding. */
        async look() {
          const before = sleep.slept.length;
          await sleep.wakeAll();
          await eventually(() => (sleep.slept.length > before ? true : undefined), 'a look');
        },
      };
    }),
  );
  for (const { own, sleep } of all) {
    own.start();
    await eventually(() => (sleep.slept.length > 0 ? true : undefined), 'the first look');
  }
  return { all, asked, clock, store: first, names: () => asked.map((one) => one.replace(/^\w+ /, '')) };
}

test('shared store: processes take different jobs, and what one has under way stays its own for as long as it lives', async () => {
  const { all, asked, clock, names } = await processes(['one', 'two', 'three']);
  for (let looks = 0; looks < 10; looks++) {
    await Promise.all(all.map(({ look }) => look()));
    clock.advance(9_000);
  }
  // Ten for each: five places, and as many held so that none stands empty.
  expect(asked).toHaveLength(30);
  expect(new Set(names()).size).toBe(30);
  expect(new Set(asked.map((one) => one.split(' ')[0]))).toEqual(new Set(['one', 'two', 'three']));
  await Promise.all(all.map(({ own }) => own.stop()));
});

test('shared store: what a process had that is gone is taken by others when its lease is over, and not before', async () => {
  const {
    all: [gone, left],
    asked,
    clock,
    store,
  } = await processes(['gone', 'left']);
  if (gone === undefined || left === undefined) throw new Error('two processes');
  await gone.own.stop();
  const had = gone.held.map(({ name }) => name);
  expect(had).toHaveLength(10);
  // It ends what it has, and takes the rest.
  const finish = async (): Promise<void> => {
    const ended = left.held.splice(0);
    const rows = await store.judgeJobs.due({ limit: jobs, except: [] });
    await store.judgeJobs.drop(rows.filter(({ name }) => ended.some((one) => one.name === name)).map(({ id }) => id));
    for (const { done } of ended) done(true);
    await left.look();
  };
  for (let turns = 0; turns < 5; turns++) await finish();
  expect(asked.filter((one) => one.startsWith('left'))).toHaveLength(30);
  clock.advance(29_000);
  await finish();
  expect(asked.filter((one) => one.startsWith('left'))).toHaveLength(30);
  clock.advance(2_000);
  await finish();
  expect(asked.slice(-10).toSorted()).toEqual(had.map((name) => `left ${name}`).toSorted());
  await left.own.stop();
});

test('shared store: the next process of the same name goes on at once, and what found no room is anybody’s', async () => {
  const {
    all: [first],
    asked,
    store,
  } = await processes(['same']);
  if (first === undefined) throw new Error('a process');
  await first.own.stop();
  expect((await store.judgeJobs.take({ limit: 100, except: [] }, { owner: 'same', now: 0, until: 1 })).length).toBe(jobs);
  const {
    all: [one, two],
    asked: again,
  } = await processes(['one', 'two']);
  if (one === undefined || two === undefined) throw new Error('two processes');
  const back = one.held[0];
  back?.done(false);
  await two.own.stop();
  await one.look();
  expect(again.filter((name) => name === `one ${back?.name ?? ''}`)).toHaveLength(2);
  await one.own.stop();
  expect(asked).toHaveLength(10);
});
