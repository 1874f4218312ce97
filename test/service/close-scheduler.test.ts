/** Closing between requests: in time it asks for little, behind it takes its share, however many requests there are. */
import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import { closeSchedulerOf } from '../../src/service/close-scheduler.ts';
import { eventually } from './running.ts';

/** A flow in which every step takes a millisecond, and requests that take `requestMs` of each turn of the event loop. */
async function shared({
  lateMs,
  requestMs,
  turns,
  isBurst = false,
}: {
  readonly lateMs: number;
  readonly requestMs: number;
  readonly turns: number;
  readonly isBurst?: boolean;
}) {
  const clock = manualClock();
  let closingMs = 0;
  const flow = {
    advance() {
      clock.advance(1);
      closingMs++;
    },
    nextDueMs: () => clock.nowMs() - lateMs,
  };
  const ticker = closeSchedulerOf({ flow, clock, isBurst: () => isBurst, onFault: () => undefined });
  ticker.wake();
  // The first tick has no turn before it.
  await turn();
  closingMs = 0;
  for (let at = 0; at < turns; at++) {
    clock.advance(requestMs);
    await turn();
  }
  ticker.stop();
  return closingMs / (closingMs + turns * requestMs);
}

const cases = [
  { name: 'in time it takes a millisecond a turn', lateMs: 0, requestMs: 15, least: 0.05, most: 0.07 },
  { name: 'in time, but not much longer, it takes up to five', lateMs: 99, requestMs: 15, least: 0.2, most: 0.3 },
  { name: 'a little behind it gets half', lateMs: 100, requestMs: 10, least: 0.45, most: 0.55 },
  { name: 'far behind it gets nine parts of ten', lateMs: 5_000, requestMs: 10, least: 0.85, most: 0.92 },
  { name: 'a second behind a burst it takes no more than in time', lateMs: 999, requestMs: 15, isBurst: true, least: 0.2, most: 0.3 },
  { name: 'far behind a burst it gets nine parts of ten', lateMs: 5_000, requestMs: 10, isBurst: true, least: 0.85, most: 0.92 },
  { name: 'one turn never takes more than a tenth of a second', lateMs: 5_000, requestMs: 100, least: 0.45, most: 0.55 },
] as const;

for (const { name, least, most, ...load } of cases) {
  test(`ticker: ${name}`, async () => {
    const share = await shared({ ...load, turns: 50 });
    expect(share).toBeGreaterThanOrEqual(least);
    expect(share).toBeLessThanOrEqual(most);
  });
}

test('ticker: runs that end close to one another close in one tick', async () => {
  const clock = manualClock();
  const dueMs = [10, 20].map((afterMs) => clock.nowMs() + afterMs);
  dueMs.unshift(clock.nowMs());
  const closed: number[] = [];
  const flow = {
    advance() {
      const due = dueMs.findIndex((one) => one > clock.nowMs());
      closed.push(dueMs.splice(0, due === -1 ? dueMs.length : due).length);
    },
    nextDueMs: () => dueMs[0],
  };
  const ticker = closeSchedulerOf({ flow, clock, onFault: () => undefined });
  ticker.wake();
  await turn();
  clock.advance(15);
  ticker.wake();
  await turn();
  expect(closed).toEqual([1]);
  clock.advance(15);
  await eventually(() => (closed.length > 1 ? true : undefined), 'the second tick');
  ticker.stop();
  expect(closed).toEqual([1, 2]);
});

test('ticker: a timer that fires early delays no run', async () => {
  const clock = manualClock();
  const order: string[] = [];
  let dueMs: number | undefined = clock.nowMs() + 1;
  let isOver = (): void => undefined;
  const over = new Promise<void>((resolve) => (isOver = resolve));
  const flow = {
    advance() {
      const isEarly = clock.nowMs() < (dueMs ?? 0);
      order.push(isEarly ? 'nothing is due' : 'closed');
      if (!isEarly) dueMs = undefined;
      else {
        queueMicrotask(() => clock.advance(1));
        setTimeout(() => isOver(), 25);
      }
    },
    nextDueMs: () => dueMs,
  };
  const ticker = closeSchedulerOf({ flow, clock, onFault: () => undefined });
  ticker.wake();
  await over;
  ticker.stop();
  expect(order).toEqual(['nothing is due', 'closed']);
});

test('ticker: a trace that cannot be closed is reported, and the others go on', async () => {
  const clock = manualClock();
  const faults: unknown[] = [];
  let left = 3;
  const flow = {
    advance() {
      if (--left === 1) throw new Error('broken');
    },
    nextDueMs: () => (left > 0 ? clock.nowMs() : undefined),
  };
  const ticker = closeSchedulerOf({ flow, clock, onFault: (error) => faults.push(error) });
  ticker.wake();
  for (let at = 0; at < 5; at++) await turn();
  ticker.stop();
  expect([left, faults.length]).toEqual([0, 1]);
});

test('ticker: nothing closes while the receiver of closed traces is behind, and all goes on when it has caught up', async () => {
  const clock = manualClock();
  let isBehind = true;
  let closed = 0;
  const flow = {
    advance() {
      closed++;
      // Three fill the queue again.
      if (closed === 3) isBehind = true;
    },
    nextDueMs: () => (closed < 5 ? clock.nowMs() - 1 : undefined),
  };
  const ticker = closeSchedulerOf({ flow, clock, mustWait: () => isBehind, onFault: () => undefined });
  ticker.wake();
  for (let at = 0; at < 5; at++) await turn();
  expect(closed).toBe(0);
  isBehind = false;
  await eventually(() => (closed === 3 ? true : undefined), 'three runs');
  for (let at = 0; at < 5; at++) {
    ticker.wake();
    await turn();
  }
  expect(closed).toBe(3);
  isBehind = false;
  await eventually(() => (closed === 5 ? true : undefined), 'the others');
  ticker.stop();
});
