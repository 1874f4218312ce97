/** Levels of stress: entered at once, left late, in one order, and every moment counted under one of them. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { manualClock } from '../../../src/model/clock.ts';
import {
  pressureThresholds,
  pressureNames,
  type PressureName,
  type Pressures,
  calmMs,
  loadShedding,
  loadSheddingLevels,
} from '../../../src/pipeline/overload/load-shedding.ts';
import { metricRegistry } from '../../../src/telemetry/registry.ts';
import { propertyRuns } from '../../builders/property-runs.ts';

const atRest = Object.fromEntries(pressureNames.map((name) => [name, 0])) as unknown as Pressures;

function watched() {
  const clock = manualClock();
  const telemetry = metricRegistry();
  const levels = loadShedding({ clock, telemetry });
  return {
    see(strains: Partial<Pressures>, afterMs = 100) {
      clock.advance(afterMs);
      levels.observe({ ...atRest, ...strains });
      return levels.level();
    },
    clock,
    levels,
    seconds(): { readonly [level: string]: number } {
      const points = telemetry.snapshot().find(({ name }) => name === 'tracejury.stress.time')?.points ?? [];
      return Object.fromEntries(
        points.map((point): [string, number] => [point.labels['tracejury.stress.level'] ?? '', point.kind === 'number' ? point.value : 0]),
      );
    },
  };
}

const bounds = pressureNames
  .flatMap((name) =>
    (['shedJudges', 'shedContent', 'refuse'] as const).map((what) => ({ name, what, bound: pressureThresholds[name][what] })),
  )
  .filter(({ bound }) => Number.isFinite(bound));
const levelAt = { shedJudges: 'shed_judges', shedContent: 'shed_content', refuse: 'refuse' } as const;

for (const { name, what, bound } of bounds) {
  test(`stress: ${name} at ${bound} means at least ${levelAt[what]}, just below it does not`, () => {
    const at = watched();
    const before = loadSheddingLevels.indexOf(at.see({ [name]: bound * 0.999 }));
    const reached = loadSheddingLevels.indexOf(at.see({ [name]: bound }));
    expect(before).toBeLessThan(loadSheddingLevels.indexOf(levelAt[what]));
    expect(reached).toBeGreaterThanOrEqual(loadSheddingLevels.indexOf(levelAt[what]));
    expect(at.levels.cause()).toBe(name);
  });
}

test('stress: a burst that fits in memory sheds nothing while closing is within its bound, and slows the intake as ever', () => {
  const at = watched();
  const seen = [0.3, 0.99, 1, 0.99].map((closing) => {
    at.clock.advance(100);
    at.levels.observe({ ...atRest, closing }, true);
    return [at.levels.level(), at.levels.pressing()];
  });
  expect(seen).toEqual([
    ['calm', 'closing'],
    ['calm', 'closing'],
    ['refuse', 'closing'],
    ['refuse', 'closing'],
  ]);
  at.levels.observe({ ...atRest, memory: 0.95 }, true);
  expect(at.levels.level()).toBe('refuse');
});

test('stress: requests are refused for closing that is late, and again taken when it has been in time for half a second', () => {
  const at = watched();
  const steps = [0.2, 0.3, 0.6, 1, 0.9, 0.7, 0.7, 0.7, 0.7, 0.7, 0.7, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1].map((closing) => at.see({ closing }));
  expect(steps).toEqual([
    'calm',
    'shed_judges',
    'shed_content',
    'refuse',
    'refuse',
    'refuse',
    'refuse',
    'refuse',
    'refuse',
    'refuse',
    'shed_content',
    'shed_content',
    'shed_content',
    'shed_content',
    'shed_content',
    'shed_content',
    'calm',
  ]);
  const seconds = at.seconds();
  expect(Object.values(seconds).reduce((sum, one) => sum + one, 0)).toBeCloseTo(1.7);
  expect(seconds).toMatchObject({ refuse: expect.closeTo(0.7), shed_content: expect.closeTo(0.7) });
});

test('stress: a strain that swings around a bound does not make the level flap', () => {
  const at = watched();
  const levels = Array.from({ length: 100 }, (_, step) => at.see({ closing: step % 4 === 0 ? 1.04 : 0.7 }));
  expect(new Set(levels)).toEqual(new Set(['refuse']));
});

test('stress: when it calms down in steps, the level that is entered is that of the worst moment since', () => {
  const at = watched();
  at.see({ journal: 1 });
  at.see({ closing: 0.1 });
  at.see({ closing: 0.3 });
  expect([1, 2, 3, 4].map(() => at.see({ closing: 0 }))).toEqual(['refuse', 'refuse', 'refuse', 'shed_judges']);
});

test('stress: what bears most is named, in parts of what refuses for it', () => {
  const at = watched();
  at.see({ closing: 1.5, journal: 1, memory: 1.03 });
  expect([at.levels.cause(), at.levels.burden()]).toEqual(['closing', 1.5]);
  at.see({ in_flight: 0.6 });
  expect(at.levels.cause()).toBe('in_flight');
});

test('stress: a strain is named from where it eases on, whether or not others are high', () => {
  const at = watched();
  const seen = [
    {},
    { closing: 0.19 },
    { closing: 0.2 },
    { closing: 0.2, store: 0.05 },
    { store: 0.05, journal: 2 },
    { in_flight: 2, journal: 2, memory: 2 },
    { event_loop: 0.7 },
  ].map((strains) => {
    at.see(strains);
    return at.levels.pressing();
  });
  expect(seen).toEqual([undefined, undefined, 'closing', 'closing', 'store', undefined, 'event_loop']);
});

const strainsOf = fc.record(
  Object.fromEntries(pressureNames.map((name) => [name, fc.double({ min: 0, max: 2, noNaN: true })])) as {
    readonly [name in PressureName]: fc.Arbitrary<number>;
  },
);

test('stress: under any input, more strain never means a lower level, and no level is left before its time', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(strainsOf, fc.integer({ min: 1, max: 2_000 })), { minLength: 1, maxLength: 40 }),
      fc.constantFrom(...pressureNames),
      (looks, more) => {
        const [one, other] = [watched(), watched()];
        let [nowMs, wantedMs, before] = [0, 0, 0];
        for (const [strains, afterMs] of looks) {
          nowMs += afterMs;
          const level = loadSheddingLevels.indexOf(one.see(strains, afterMs));
          // The same in another process, with one strain higher.
          expect(loadSheddingLevels.indexOf(other.see({ ...strains, [more]: strains[more] + 0.5 }, afterMs))).toBeGreaterThanOrEqual(level);
          if (level < before) expect(nowMs - wantedMs).toBeGreaterThanOrEqual(calmMs);
          // When only these strains, seen for the first time, would make such a level.
          if (loadSheddingLevels.indexOf(watched().see(strains)) >= level) wantedMs = nowMs;
          before = level;
        }
        expect(Object.values(one.seconds()).reduce((sum, seconds) => sum + seconds, 0)).toBeCloseTo(nowMs / 1_000);
      },
    ),
    { numRuns: propertyRuns({ short: 60, long: 300 }) },
  );
});
