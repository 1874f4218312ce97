/** Labels of runs that queues chose beside labels of runs that they drew: figures hold for all traffic, or there is none. */
import { expect, test } from 'vitest';
import { labelWorlds } from './label-worlds.ts';

const worlds = 2_000;

for (const { name, simulated } of labelWorlds)
  test(`labels: intervals hold the truth, or the figure is not estimable (${name})`, () => {
    const found = Object.entries(simulated({ worlds, seed: 2026 }));
    // Where hardly a world has a figure, it is one of the few with many labels of that kind.
    const told = found.filter(([, { notEstimable }]) => notEstimable < worlds / 2);
    expect(told.length).toBeGreaterThan(1);
    const least = name.startsWith('scarce') ? 0.92 : 0.93;
    expect(told.filter(([, { coverage }]) => coverage < least || coverage > 0.99)).toEqual([]);
    expect(told.filter(([, { bias, width }]) => Math.abs(bias) > width / 16)).toEqual([]);
  }, 120_000);
