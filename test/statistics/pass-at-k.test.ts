/** Against the definition: every choice of k runs, counted. */
import { expect, test } from 'vitest';
import { passAtK, passHatK } from '../../src/statistics/pass-at-k.ts';

function choices(of: number, k: number): readonly (readonly number[])[] {
  if (k === 0) return [[]];
  return Array.from({ length: of }, (_, last) => choices(last, k - 1).map((before) => [...before, last])).flat();
}

test('pass@k and pass^k: the shares of all choices of k runs in which one passes, and in which all do', () => {
  for (let runs = 1; runs <= 8; runs++)
    for (let passed = 0; passed <= runs; passed++)
      for (let k = 1; k <= runs; k++) {
        const all = choices(runs, k);
        const some = all.filter((choice) => choice.some((run) => run < passed)).length;
        const every = all.filter((choice) => choice.every((run) => run < passed)).length;
        expect({ runs, passed, k, at: passAtK({ runs, passed }, k), hat: passHatK({ runs, passed }, k) }).toEqual({
          runs,
          passed,
          k,
          at: expect.closeTo(some / all.length, 12),
          hat: expect.closeTo(every / all.length, 12),
        });
      }
});

test('pass@k: 5 of 10 with k 3 is 1 − 10 / 120', () => {
  expect(passAtK({ runs: 10, passed: 5 }, 3)).toBeCloseTo(1 - 10 / 120, 12);
});

const without = [
  { name: 'fewer runs than k', runs: 3, passed: 3, k: 4 },
  { name: 'no run', runs: 0, passed: 0, k: 1 },
  { name: 'k 0', runs: 3, passed: 3, k: 0 },
  { name: 'k between whole numbers', runs: 3, passed: 3, k: 1.5 },
] as const;

for (const { name, k, ...runs } of without) {
  test(`pass@k and pass^k: ${name} gives no figure`, () => {
    expect(passAtK(runs, k)).toBeUndefined();
    expect(passHatK(runs, k)).toBeUndefined();
  });
}

test('pass^k: a hundred thousand runs need no large number', () => {
  expect(passHatK({ runs: 100_000, passed: 90_000 }, 10)).toBeCloseTo(0.9 ** 10, 3);
});
