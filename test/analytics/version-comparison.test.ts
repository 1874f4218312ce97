import { expect, test } from 'vitest';
import { compareVersions, comparableVersions, durationQuantile, versionReports } from '../../src/analytics/version-comparison.ts';
import type { VersionFigure } from '../../src/model/store/version-store.ts';
import { durationBin } from '../../src/statistics/duration-bins.ts';

const figure = (members: Partial<VersionFigure>): VersionFigure => ({
  agent: 'a',
  version: '1',
  task: '',
  kind: 'pass',
  name: 'e',
  runs: 100,
  weight: members.runs ?? 100,
  value: 0,
  share: members.runs ?? 100,
  shareValue: members.value ?? 0,
  firstAt: 0,
  lastAt: 0,
  ...members,
});
const rates = (version: string, runs: number, passed: number, task = ''): VersionFigure =>
  figure({ version, runs, weight: runs, value: passed, task });
const pair = { version: '2', against: '1' } as const;

test('version comparison: a change of the mix of tasks does not change the version', () => {
  const mixed = [
    rates('1', 1_000, 940),
    rates('1', 900, 890, 'easy'),
    rates('1', 100, 50, 'hard'),
    rates('2', 1_000, 647),
    rates('2', 300, 297, 'easy'),
    rates('2', 700, 350, 'hard'),
  ];
  expect(compareVersions(mixed, pair)).toMatchObject([
    {
      name: 'e',
      tasks: 2,
      word: 'no_difference_shown',
      version: { point: 0.647 },
      against: { point: 0.94 },
      difference: { point: expect.closeTo(0, 2) },
    },
  ]);
  const untold = mixed.filter(({ task }) => task === '');
  expect(compareVersions(untold, pair)).toMatchObject([{ tasks: 0, word: 'worse' }]);
});

test('version comparison: only tasks of both versions are compared, and the share of the others is shown', () => {
  const figures = [
    rates('1', 1_000, 900),
    rates('1', 600, 540, 't'),
    rates('2', 800, 720),
    rates('2', 500, 450, 't'),
    rates('2', 100, 90, 'only'),
  ];
  expect(compareVersions(figures, pair)).toMatchObject([
    { tasks: 1, word: 'no_difference_shown', difference: { n: 1_100 }, leftOut: expect.closeTo(1 - 1_100 / 1_800, 9) },
  ]);
  // The task that only the newer version has fails more often.
  const harder = [
    rates('1', 500, 450),
    rates('1', 500, 450, 't'),
    rates('2', 1_000, 500),
    rates('2', 500, 450, 't'),
    rates('2', 500, 50, 'only'),
  ];
  expect(compareVersions(harder, pair)).toMatchObject([{ tasks: 1, word: 'no_difference_shown', difference: { point: 0 } }]);
  const apart = [rates('1', 500, 450), rates('1', 500, 450, 't'), rates('2', 500, 50), rates('2', 500, 50, 'only')];
  expect(compareVersions(apart, pair)).toMatchObject([
    { tasks: 0, leftOut: 1, word: 'not_estimable', difference: { reason: 'no_common_tasks' } },
  ]);
});

test('version comparison: verdicts of one session count together', () => {
  // A hundred sessions of twenty runs.
  const sessions = ['1', '2'].map((version) => figure({ version, kind: 'session', runs: 2_000, value: 100 * 20 * 19 }));
  const judged = (version: string, passed: number): VersionFigure => figure({ version, runs: 2_000, value: passed });
  const alone = [judged('1', 1_800), judged('2', 1_600), ...['1', '2'].map((version) => figure({ version, kind: 'run', name: '' }))];
  const figures = [...alone, ...sessions];
  expect(compareVersions(figures, pair)).toMatchObject([{ word: 'no_difference_shown', sessionRuns: 20, difference: { effectiveN: 100 } }]);
  expect(versionReports(figures)[0]?.evaluators).toMatchObject([{ rate: { effectiveN: 100 } }]);
  expect(compareVersions(alone, pair)).toMatchObject([{ word: 'worse', sessionRuns: 1 }]);
  // Sessions of another evaluator.
  const others = sessions.map((one) => ({ ...one, name: 'f' }));
  expect(compareVersions([...alone, ...others], pair)[0]).toMatchObject({ word: 'worse', sessionRuns: 1 });
});

test('version comparison: the p-value and the word come from the same tasks', () => {
  const figures = ['1', '2'].flatMap((version, at) =>
    ['a', 'b', 'c', 'd'].map((task) => rates(version, 400, task < 'c' ? 380 - 40 * at : 340 + 40 * at, task)),
  );
  const [found] = compareVersions(figures, pair);
  expect(found).toMatchObject({ word: 'no_difference_shown', difference: { kind: 'estimated' } });
  expect(found?.difference.kind === 'estimated' ? found.difference.p : 0).toBeGreaterThan(0.01);
});

test('version comparison: the least difference that counts makes it harder to be worse', () => {
  const figures = [rates('1', 10_000, 9_500), rates('2', 10_000, 9_200)];
  expect(compareVersions(figures, pair)[0]?.word).toBe('worse');
  expect(compareVersions(figures, { ...pair, by: 0.05 })[0]?.word).toBe('no_difference_shown');
  expect(compareVersions(figures, { version: '1', against: '2' })[0]?.word).toBe('better');
});

test('version comparison: an evaluator of only one version cannot be compared, and is named', () => {
  expect(compareVersions([rates('1', 100, 90)], pair)).toMatchObject([
    { word: 'not_estimable', version: { kind: 'not_estimable' }, against: { point: 0.9 } },
  ]);
});

test('version comparison: an evaluator with passes is rated by them, one without by its scores', () => {
  const figures = [
    rates('1', 10, 9),
    figure({ kind: 'score', value: 20 }),
    figure({ kind: 'score', name: 'raw', value: 20 }),
    figure({ kind: 'run', name: '' }),
  ];
  expect(versionReports(figures)[0]?.evaluators).toMatchObject([
    { name: 'e', measure: 'pass_rate', rate: { point: 0.9 } },
    { name: 'raw', measure: 'mean_score', rate: { point: 0.2 } },
  ]);
});

test('version comparison: only versions with a distinct name are compared by themselves, the latest first', () => {
  const versions = [
    ['', 9],
    ['other', 8],
    ['1', 1],
    ['2', 2],
  ] as const;
  expect(comparableVersions(versions.map(([version, firstAt]) => ({ version, firstAt }))).map(({ version }) => version)).toEqual([
    '2',
    '1',
  ]);
});

test('version comparison: quantiles of durations are within 2 % of the true ones', () => {
  const took = Array.from({ length: 1_000 }, (_, at) => Math.round(1_000 * 1.01 ** at));
  const bins = Map.groupBy(took, durationBin);
  const figures = [...bins].map(([bin, own]) => figure({ kind: 'duration', name: bin, runs: own.length }));
  for (const share of [0.01, 0.5, 0.9, 0.95, 0.99, 1]) {
    const exact = took[Math.floor(share * (took.length - 1))] ?? Number.NaN;
    const found = durationQuantile(figures, share) ?? Number.NaN;
    expect(Math.abs(found / exact - 1)).toBeLessThan(0.02 + 1e-9);
  }
  expect(durationQuantile([], 0.5)).toBeUndefined();
  for (const micros of [0, 1, 7, 999, 1_000_000, 3_600_000_000])
    expect(
      Math.abs((durationQuantile([figure({ kind: 'duration', name: durationBin(micros), runs: 1 })], 0.5) ?? Number.NaN) - micros),
    ).toBeLessThanOrEqual(0.02 * micros + 1e-9);
});
