import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { manualClock } from '../../src/model/clock.ts';
import { JuryError } from '../../src/model/errors.ts';
import type { TakeRequest } from '../../src/receivers/read-request.ts';
import { demoLoader } from '../../src/service/demo-loader.ts';

const taken: Awaited<ReturnType<TakeRequest>> = { items: 1, ignored: 0, rejections: [], isEmpty: false };

test('demo loader: one day at a time', async () => {
  let go: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (go = resolve));
  const load = demoLoader({
    clock: manualClock(1_000_000_000_000),
    randomBytes,
    take: async () => {
      await held;
      return taken;
    },
  });
  const first = load();
  expect(await load()).toBe('busy');
  go();
  expect(await first).toMatchObject({ runs: 120 });
  expect(await load()).toMatchObject({ runs: 120 });
});

test('demo loader: a service that takes no spans refuses, and the next attempt may succeed', async () => {
  let isFull = true;
  const load = demoLoader({
    clock: manualClock(1_000_000_000_000),
    randomBytes,
    take: async () => {
      if (isFull) throw new JuryError('OVERLOADED', 'planted');
      return taken;
    },
  });
  expect(await load()).toBe('refused');
  isFull = false;
  expect(await load()).toMatchObject({ runs: 120 });
});
