import { expect, test } from 'vitest';
import { processDrift } from '../../src/analytics/process-drift.ts';
import { seeded } from '../builders/seeded.ts';
import { processOf, runOf } from '../builders/process-runs.ts';

const refund = runOf(['lookup', 'refund']);
const ticket = runOf(['lookup', 'ticket']);

test('a version whose steps have other shares differs, and the steps say how', () => {
  const drift = processDrift(
    processOf([
      [refund, 400],
      [ticket, 100],
    ]),
    processOf([
      [refund, 200],
      [ticket, 300],
    ]),
  );
  expect(drift.test?.degrees).toBe(1);
  expect(drift.test?.p).toBeLessThan(1e-20);
  expect(drift.steps.map(({ from, to, before, now }) => [from, to, before.times / before.of, now.times / now.of])).toEqual([
    ['lookup', 'ticket', 0.2, 0.6],
    ['lookup', 'refund', 0.8, 0.4],
  ]);
  expect([drift.newTools, drift.goneTools]).toEqual([[], []]);
});

test('tools that only one version calls are named', () => {
  const drift = processDrift(processOf([[refund, 100]]), processOf([[runOf(['lookup', 'approve', 'refund']), 100]]));
  expect([drift.newTools, drift.goneTools]).toEqual([['approve'], []]);
  expect(drift.test?.p).toBeLessThan(1e-20);
});

test('the same process does not differ, and one without a choice cannot be tested', () => {
  const same = processOf([
    [refund, 80],
    [ticket, 20],
  ]);
  expect(processDrift(same, same)).toMatchObject({ test: { g: 0, p: 1 }, steps: [] });
  expect(processDrift(processOf([[refund, 50]]), processOf([[refund, 90]])).test).toBeUndefined();
});

test('two samples of one process differ as often as the level demands', () => {
  const { share } = seeded(11);
  const sampled = (runs: number) => {
    let refunds = 0;
    for (let at = 0; at < runs; at++) if (share() < 0.7) refunds++;
    return processOf([
      [refund, refunds],
      [ticket, runs - refunds],
    ]);
  };
  const trials = 400;
  let rejected = 0;
  for (let at = 0; at < trials; at++) if ((processDrift(sampled(100), sampled(100)).test?.p ?? 1) < 0.05) rejected++;
  // 5 % give or take three standard errors.
  expect(rejected / trials).toBeGreaterThan(0.017);
  expect(rejected / trials).toBeLessThan(0.083);
});
