/** How long clients stay away: at least a second, never beyond the bound, longer for more, and not all for the same time. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { retryAfter } from '../../../src/pipeline/overload/admission-rate.ts';

const calm = { lateSeconds: 0, burden: 1, refusingSeconds: 0 };
const cases = [
  { name: 'a refusal that has just begun', backlog: calm, want: 1 },
  { name: 'what is late is waited for', backlog: { ...calm, lateSeconds: 4 }, want: 5 },
  { name: 'half as much again as it can bear', backlog: { ...calm, burden: 1.5 }, want: 6 },
  { name: 'refusing for a minute', backlog: { ...calm, refusingSeconds: 60 }, want: 7 },
  { name: 'a level that is kept for a while though there is less to do', backlog: { ...calm, burden: 0.8 }, want: 1 },
  { name: 'beyond the bound', backlog: { lateSeconds: 500, burden: 9, refusingSeconds: 9_000 }, want: 30 },
] as const;

for (const { name, backlog, want } of cases) {
  test(`retry after: ${name}`, () => {
    expect(retryAfter({ maxSeconds: 30, random: () => 0.5 }).seconds(backlog)).toBe(want);
  });
}

const backlogs = fc.record({
  lateSeconds: fc.double({ min: 0, max: 1_000, noNaN: true }),
  burden: fc.double({ min: 0, max: 10, noNaN: true }),
  refusingSeconds: fc.double({ min: 0, max: 10_000, noNaN: true }),
});

test('retry after: whole seconds within the bounds, never shorter for a greater backlog', () => {
  fc.assert(
    fc.property(
      backlogs,
      backlogs,
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      fc.integer({ min: 1, max: 600 }),
      (one, more, random, maxSeconds) => {
        const away = retryAfter({ maxSeconds, random: () => random });
        const seconds = away.seconds(one);
        expect(Number.isInteger(seconds) && seconds >= 1 && seconds <= maxSeconds).toBe(true);
        expect(
          away.seconds({
            lateSeconds: one.lateSeconds + more.lateSeconds,
            burden: one.burden + more.burden,
            refusingSeconds: one.refusingSeconds + more.refusingSeconds,
          }),
        ).toBeGreaterThanOrEqual(seconds);
      },
    ),
  );
});

test('retry after: who is refused together does not come back together', () => {
  const away = (random: number): number => retryAfter({ maxSeconds: 30, random: () => random }).seconds({ ...calm, lateSeconds: 7 });
  expect([0, 0.25, 0.5, 0.75, 0.999].map(away)).toEqual([4, 6, 8, 10, 12]);
});
