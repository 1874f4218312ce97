import { expect, test } from 'vitest';
import { concurrencyLimiter } from '../../src/runtime/concurrency-limiter.ts';
import { manualClock } from '../../src/model/clock.ts';
import { manualSleep, settled } from '../builders/manual-sleep.ts';

function bench(options: { readonly concurrency?: number; readonly waitingMax?: number; readonly requestsPerMinute?: number } = {}) {
  const sleep = manualSleep();
  const clock = manualClock();
  const gate = concurrencyLimiter({ concurrency: 1, waitingMax: 1, clock, sleep: sleep.sleep, ...options });
  const inside: (() => void)[] = [];
  const ends: string[] = [];
  const enter = (name: string) => {
    void gate
      .through(() => new Promise<string>((resolve) => inside.push(() => resolve('in'))))
      .then((end) => ends.push(`${name}:${end ?? 'away'}`));
    return settled();
  };
  return { gate, sleep, clock, inside, ends, enter };
}

test('turnstile: one goes in, one waits, the next is turned away', async () => {
  const { inside, ends, enter } = bench();
  for (const name of ['a', 'b', 'c']) await enter(name);
  expect([inside.length, ends]).toEqual([1, ['c:away']]);
  for (let at = 0; at < 2; at++) {
    inside.shift()?.();
    await settled();
  }
  expect(ends).toEqual(['c:away', 'a:in', 'b:in']);
  await enter('d');
  expect(inside).toHaveLength(1);
});

test('turnstile: work that throws gives its place back', async () => {
  const { gate, inside, enter } = bench();
  await expect(gate.through(() => Promise.reject(new RangeError('x')))).rejects.toThrow('x');
  await enter('a');
  expect(inside).toHaveLength(1);
});

test('turnstile: closing turns away who waits and who comes, and ends a wait for the pace', async () => {
  const { gate, sleep, ends, enter } = bench({ requestsPerMinute: 60 });
  await enter('a');
  await enter('b');
  await gate.paced();
  const paced = gate.paced();
  gate.close();
  await paced;
  await enter('c');
  expect(ends).toEqual(['b:away', 'c:away']);
  expect(sleep.asleep()).toBe(0);
});

test('turnstile: the pace counts from the last request, and unused time is not saved up', async () => {
  const { gate, sleep, clock } = bench({ requestsPerMinute: 60 });
  await gate.paced();
  clock.advance(400);
  void gate.paced();
  expect(sleep.slept).toEqual([600]);
  clock.advance(60_000);
  await gate.paced();
  void gate.paced();
  expect(sleep.slept).toEqual([600, 1000]);
  await sleep.wakeAll();
});
