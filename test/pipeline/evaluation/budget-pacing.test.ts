import fc from 'fast-check';
import { expect, test } from 'vitest';
import { pacedBy, pacedShare } from '../../../src/pipeline/evaluation/sampling.ts';

const cases = [
  { name: 'nothing is spent at midnight', dayShare: 0, spentShare: 0, want: 1 },
  { name: 'half of the head start is spent at midnight', dayShare: 0, spentShare: 0.1, want: 0.5 },
  { name: 'the head start is spent at midnight', dayShare: 0, spentShare: 0.2, want: 0 },
  { name: 'a spent budget at the end of the day', dayShare: 1, spentShare: 1, want: 0 },
  { name: 'what is spent beyond the budget', dayShare: 1, spentShare: 1.2, want: 0 },
  { name: 'four fifths of the budget at the end of the day', dayShare: 1, spentShare: 0.8, want: 1 },
  { name: 'a noon that is on the line', dayShare: 0.5, spentShare: 0.6, want: 0 },
  { name: 'a noon that is in its middle', dayShare: 0.5, spentShare: 0.5, want: 0.5 },
  { name: 'a noon that is a fiftieth of the head start below it', dayShare: 0.5, spentShare: 0.5959, want: 0.0205 },
  { name: 'a noon that is nearer to it', dayShare: 0.5, spentShare: 0.5961, want: 0 },
  { name: 'a noon that is a head start below it', dayShare: 0.5, spentShare: 0.4, want: 1 },
] as const;

for (const { name, want, ...shares } of cases) {
  test(`pacing: ${name}`, () => expect(pacedShare(shares)).toBeCloseTo(want, 12));
}

const share = fc.double({ min: 0, max: 1, noNaN: true });

test('pacing: it is a share, sinks with what is spent and rises with the day', () => {
  fc.assert(
    fc.property(share, share, share, share, (one, other, dayOne, dayOther) => {
      const [less, more] = [Math.min(one, other), Math.max(one, other)];
      const [early, late] = [Math.min(dayOne, dayOther), Math.max(dayOne, dayOther)];
      const at = pacedShare({ dayShare: early, spentShare: more });
      expect(at >= 0 && at <= 1).toBe(true);
      expect(pacedShare({ dayShare: early, spentShare: less })).toBeGreaterThanOrEqual(at);
      expect(pacedShare({ dayShare: late, spentShare: more })).toBeGreaterThanOrEqual(at);
    }),
  );
});

/** A day of even traffic that would cost `demand` budgets at the whole rate: what it spends, and the share that is in force at some hours. */
function day(demand: number): { readonly spent: number; readonly shares: readonly number[] } {
  const steps = 10_000;
  let spent = 0;
  const shares: number[] = [];
  for (let at = 0; at < steps; at++) {
    const now = pacedShare({ dayShare: at / steps, spentShare: spent });
    if (at % (steps / 8) === 0) shares.push(now);
    spent += (demand / steps) * now;
  }
  return { spent, shares };
}

test('pacing: traffic that costs less than its budget is not held back', () => {
  expect(day(0.75)).toEqual({ spent: expect.closeTo(0.75, 6) as number, shares: Array(8).fill(1) });
});

test('pacing: traffic that would cost five times its budget is asked about all day long, and ends within it', () => {
  const { spent, shares } = day(5);
  expect(spent).toBeGreaterThan(0.95);
  expect(spent).toBeLessThanOrEqual(1);
  for (const now of shares.slice(2)) expect(now).toBeCloseTo(0.8 / 5, 2);
});

const own = { left: 0.5, by: 'evaluator_usd_per_day' };
const together: readonly { readonly name: string; readonly judges: readonly number[]; readonly want: object }[] = [
  { name: 'one that asks no judge has only its own budget', judges: [], want: own },
  { name: 'its judge leaves less', judges: [0.2], want: { left: 0.2, by: 'of judge 0' } },
  { name: 'its judge leaves more', judges: [0.7], want: own },
  { name: 'most of its judges can do without the one that has spent its own', judges: [0, 0.7, 1], want: own },
  { name: 'most of its judges have spent theirs', judges: [0, 1, 0], want: { left: 0, by: 'of judge 0' } },
  { name: 'two judges are needed where there are two', judges: [1, 0.1], want: { left: 0.1, by: 'of judge 1' } },
];
for (const { name, judges, want } of together)
  test(`pacing: ${name}`, () =>
    expect(
      pacedBy(
        own,
        judges.map((left, at) => ({ left, by: `of judge ${at}` })),
      ),
    ).toEqual(want));
