import { expect, test } from 'vitest';
import { replayPace } from '../../../src/cli/replay/pace.ts';
import { manualClock } from '../../../src/model/clock.ts';

function paced(rate?: number) {
  const clock = manualClock(0);
  const slept: number[] = [];
  const sleep = async (ms: number): Promise<void> => {
    slept.push(ms);
    clock.advance(ms);
  };
  return { clock, slept, pace: replayPace({ rate, clock, sleep }) };
}

test('pace: takes no more runs a second than it may, however fast they are done', async () => {
  const { clock, pace } = paced(50);
  for (let run = 0; run < 200; run++) {
    await pace.runs(1);
    clock.advance(1);
  }
  expect(clock.nowMs()).toBeGreaterThan(3_950);
  expect(clock.nowMs()).toBeLessThan(4_050);
});

test('pace: never waits without a rate, or when the runs are slower than it', async () => {
  const free = paced();
  await free.pace.runs(1_000);
  const slow = paced(100);
  for (let run = 0; run < 20; run++) {
    await slow.pace.runs(1);
    slow.clock.advance(20);
  }
  expect([free.slept, slow.slept]).toEqual([[], []]);
});

test('pace: rests after a write for as long as it took, and longer each time while the file is contended', async () => {
  const { clock, slept, pace } = paced();
  const write = (ms: number): Promise<string> =>
    pace.write(async () => {
      clock.advance(ms);
      return 'done';
    });
  expect(await write(20)).toBe('done');
  for (let time = 0; time < 8; time++) await write(150);
  await write(30);
  expect(slept).toEqual([20, 150, 300, 600, 1_200, 2_400, 4_800, 5_000, 5_000, 30]);
});
