/** When sessions are handed on to the queue of judges, and when one more finds no room, on a clock that stands still. */
import { expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import type { RipeSession } from '../../src/model/store/session-store.ts';
import { activityWatch } from '../../src/runtime/activity.ts';
import { sessionWatch } from '../../src/service/judge-admission.ts';
import { metricRegistry } from '../../src/telemetry/registry.ts';
import { manualSleep, settled } from '../builders/manual-sleep.ts';
import { run } from '../builders/scored-run.ts';

const startMs = 1_700_000_000_000;

interface Watched {
  readonly isCalm?: () => boolean;
  readonly held?: number;
  readonly quietMs?: number;
}

function watched({ isCalm = () => true, held = 0, quietMs = 60_000 }: Watched = {}) {
  const [clock, sleep, telemetry] = [manualClock(startMs), manualSleep(), metricRegistry()];
  const activity = activityWatch({ clock, sleep: sleep.sleep });
  const queries: object[] = [];
  const faults: unknown[] = [];
  const state = { ripe: [] as RipeSession[], handedOn: [] as number[], forgotten: [] as number[], held, rows: 0, woken: 0, fails: false };
  const watch = sessionWatch({
    store: {
      judgeSessions: {
        async ripe(query) {
          queries.push(query);
          if (state.fails) throw new Error('no store');
          return state.ripe.splice(0, query.limit);
        },
        async handOn({ id }) {
          state.handedOn.push(id);
          return true;
        },
        counts: async () => ({
          held: state.held,
          rows: state.rows,
          waiting: state.ripe.length === 0 ? [] : [{ queueKey: 'main', sessions: state.ripe.length }],
        }),
        async forget(before) {
          state.forgotten.push(before);
          return 0;
        },
      },
    },
    settings: () => ({ quietMs, latestMs: 3_600_000, keepMs: 86_400_000, rows: 3 }),
    isCalm,
    onHandedOn: () => state.woken++,
    telemetry,
    clock,
    sleep: sleep.sleep,
    rest: activity.rest,
    onFault: (error) => faults.push(error),
  });
  const count = (name: string, label: string): number =>
    telemetry
      .snapshot()
      .find((family) => family.name === name)
      ?.points.reduce(
        (sum, point) => sum + (point.kind === 'number' && (label === '' || point.labels['tracejury.outcome'] === label) ? point.value : 0),
        0,
      ) ?? 0;
  return {
    watch,
    clock,
    sleep,
    activity,
    state,
    queries,
    faults,
    count,
    async look() {
      for (let turns = 0; turns < 20 && sleep.asleep() === 0; turns++) await settled();
      await sleep.wakeAll();
      for (let turns = 0; turns < 20; turns++) await settled();
    },
  };
}

const session = (id: number, more: Partial<RipeSession> = {}): RipeSession => ({
  id,
  revision: 1,
  times: 1,
  name: 'goal',
  queueKey: 'main',
  turns: [run()],
  leftOut: 0,
  ...more,
});

test('session watch: what has been quiet is handed on, all of it, by the times of the configuration', async () => {
  const to = watched();
  to.state.ripe = Array.from({ length: 23 }, (_, id) => session(id, id === 4 ? { leftOut: 7 } : id === 5 ? { turns: [] } : {}));
  await to.look();
  await to.look();
  expect(to.state.handedOn).toEqual(Array.from({ length: 23 }, (_, id) => id));
  expect(to.state.woken).toBeGreaterThan(0);
  const micros = startMs * 1_000;
  expect(to.queries[0]).toEqual({ quietBefore: micros - 60_000_000, changedBefore: micros - 3_600_000_000, limit: 3 });
  expect(to.state.forgotten[0]).toBe(micros - 86_400_000_000);
  expect([
    to.count('tracejury.judge.sessions', 'judged'),
    to.count('tracejury.judge.sessions', 'unreadable'),
    to.count('tracejury.judge.sessions.left_out', ''),
  ]).toEqual([22, 1, 7]);
  await to.watch.stop();
});

test('session watch: waiting sessions count for the budget that pays for them, and too many passed-over ones are forgotten early', async () => {
  const to = watched({ isCalm: () => false });
  to.state.ripe = [session(1), session(2)];
  await to.look();
  expect([to.watch.waiting((party) => (party === 'main' ? 3 : 0)), to.watch.waiting((party) => (party === 'other' ? 1 : 0))]).toEqual([
    6, 0,
  ]);
  to.state.rows = 1_000_001;
  await to.look();
  await to.look();
  expect(to.state.forgotten.at(-1)).toBe(startMs * 1_000);
  await to.watch.stop();
});

test('session watch: while the service is pressed nothing is handed on, and a store that fails is asked again', async () => {
  let calm = false;
  const to = watched({ isCalm: () => calm });
  to.state.ripe = [session(1)];
  await to.look();
  expect([to.state.handedOn, to.queries]).toEqual([[], []]);
  calm = true;
  to.state.fails = true;
  await to.look();
  expect([to.state.handedOn, to.faults.length > 0]).toEqual([[], true]);
  to.state.fails = false;
  await to.look();
  expect(to.state.handedOn).toEqual([1]);
  await to.watch.stop();
});

test('session watch: beyond the bound of the configuration a session that begins is refused, and counted', async () => {
  const to = watched({ held: 1 });
  await to.look();
  expect(Array.from({ length: 4 }, () => to.watch.refused())).toEqual([undefined, undefined, 'queue_full', 'queue_full']);
  expect(to.count('tracejury.judge.sessions', 'refused')).toBe(2);
  to.state.held = 2;
  await to.look();
  expect([to.watch.refused(), to.watch.refused()]).toEqual([undefined, 'queue_full']);
  await to.watch.stop();
});

test('session watch: while turns of known sessions come it counts once a second, and refuses none of them', async () => {
  const to = watched({ isCalm: () => false, held: 2, quietMs: 1_800_000 });
  to.state.ripe = [session(1), session(2)];
  for (let second = 0; second < 10; second++) {
    to.activity.noted();
    await to.sleep.wakeOf(1_000);
    for (let turns = 0; turns < 20; turns++) await settled();
    expect([second, to.watch.refused()]).toEqual([second, undefined]);
    to.clock.advance(1_000);
  }
  // Nothing comes: it looks sixty times within the quiet time, and once a minute when no session waits.
  to.clock.advance(5_000);
  await to.look();
  expect(to.sleep.slept.at(-1)).toBe(30_000);
  to.state.ripe = [];
  await to.look();
  expect(to.sleep.slept.at(-1)).toBe(60_000);
  await to.watch.stop();
});
