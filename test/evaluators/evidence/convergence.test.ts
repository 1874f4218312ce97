import fc from 'fast-check';
import { expect, test } from 'vitest';
import { convergence } from '../../../evaluators/evidence/convergence.ts';

const steps = (...all: readonly number[]) => all.map((one) => ({ steps: one }));

test('convergence: runs of two and four steps converge to three quarters', () => {
  expect(convergence(steps(2, 4))).toEqual({
    kind: 'scored',
    score: 0.75,
    explanation: '1 of 2 runs took the shortest way of 2 steps or fewer.',
    details: { runs: 2, succeeded: 2, optimal_steps: 2, share_on_optimal_path: 0.5 },
  });
});

test('convergence: a run that failed counts, and never sets the optimum', () => {
  expect(convergence([{ steps: 1, success: false }, ...steps(3, 3, 0)])).toMatchObject({
    score: 0.5,
    explanation: '2 of 4 runs took the shortest way of 3 steps or fewer, 2 failed or took no step.',
    details: { optimal_steps: 3 },
  });
});

test('convergence: no run is nothing to score, no success is 0', () => {
  expect(convergence([])).toMatchObject({ kind: 'skipped', reason: 'no_runs', details: { runs: 0 } });
  expect(convergence([{ steps: 3, success: false }])).toMatchObject({
    kind: 'scored',
    score: 0,
    explanation: 'None of 1 run succeeded with a step.',
  });
});

test('convergence: steps that are not a number do not count', () => {
  expect(convergence(steps(Number.NaN, Infinity, -1, 2))).toMatchObject({ score: 0.25, details: { succeeded: 1, optimal_steps: 2 } });
});

test('convergence: more runs than are compared are too large', () => {
  const many = Array.from({ length: 100_001 }, () => ({ steps: 1 }));
  expect([convergence(many).kind, convergence(many.slice(1)).kind]).toEqual(['skipped', 'scored']);
});

test('convergence: it is from 0 to 1, does not depend on the order, and is 1 when all runs are equally long', () => {
  const runs = fc.array(fc.record({ steps: fc.integer({ min: 0, max: 30 }), success: fc.boolean() }), { minLength: 1, maxLength: 30 });
  fc.assert(
    fc.property(runs, fc.option(fc.integer({ min: 1, max: 40 }), { nil: undefined }), (group, optimalSteps) => {
      const options = optimalSteps === undefined ? {} : { optimalSteps };
      const [forth, back] = [convergence(group, options), convergence(group.toReversed(), options)];
      return forth.kind === 'scored' && back.kind === 'scored' && forth.score === back.score && forth.score >= 0 && forth.score <= 1;
    }),
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.integer({ min: 1, max: 50 }), (length, times) => {
      const outcome = convergence(Array.from({ length: times }, () => ({ steps: length })));
      return outcome.kind === 'scored' && outcome.score === 1;
    }),
  );
});
