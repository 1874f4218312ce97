import { expect, test } from 'vitest';
import { alertCondition } from '../../../src/analytics/alerts/condition.ts';
import { type AlertRule, findingOf, questionsOf } from '../../../src/analytics/alerts/finding.ts';
import type { VersionFigure } from '../../../src/model/store/version-store.ts';
import { durationBin } from '../../../src/statistics/duration-bins.ts';

function rule(when: string, members: Partial<AlertRule> = {}): AlertRule {
  const parsed = alertCondition(when);
  if (parsed.kind === 'fault') throw new Error(parsed.problem);
  return {
    name: 'a',
    when,
    condition: parsed.condition,
    by: 0,
    confidence: 0.99,
    estimate: 'interval',
    objective: undefined,
    runsMin: 30,
    clearMs: 0,
    to: [],
    ...members,
  };
}

const figure = (members: Partial<VersionFigure>): VersionFigure => ({
  agent: 'a',
  version: '',
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
const passes = (runs: number, value: number, members: Partial<VersionFigure> = {}): VersionFigure =>
  figure({ runs, weight: runs, value, ...members });
/** Runs, or those of a status. */
const ended = (status: string, runs: number): VersionFigure =>
  figure({ kind: status === '' ? 'run' : 'status', name: status, runs, weight: runs, value: runs });
const version = (name: string, firstAt: number, runs: number, passed: number): readonly VersionFigure[] => [
  figure({ kind: 'run', name: '', version: name, firstAt, runs, weight: runs, value: runs }),
  passes(runs, passed, { version: name, firstAt }),
];

const cases: readonly (readonly [name: string, rule: AlertRule, answers: readonly (readonly VersionFigure[])[], want: object])[] = [
  [
    'a rate whose interval is below its threshold',
    rule('e.rate < 0.95'),
    [[passes(1_000, 900)]],
    {
      kind: 'holds',
      figure: 0.9,
      threshold: 0.95,
      runs: 1_000,
      explanation: 'e has a rate of 90 % over 1,000 runs of the last 1h, between 85.7 % and 93.4 % at 99 %: below 95 %.',
    },
  ],
  [
    'a rate that is below its threshold by chance',
    rule('e.rate < 0.95'),
    [[passes(100, 90)]],
    { kind: 'open', figure: 0.9, explanation: expect.stringMatching(/ at 99 %: not shown to be below 95 %\.$/) },
  ],
  [
    'a rate whose point only is to be compared',
    rule('e.rate < 0.95', { estimate: 'point' }),
    [[passes(100, 90)]],
    { kind: 'holds', figure: 0.9, explanation: 'e has a rate of 90 % over 100 runs of the last 1h, below 95 %.' },
  ],
  ['a rate at its threshold', rule('e.rate < 0.95'), [[passes(100, 95)]], { kind: 'clear', figure: 0.95 }],
  ['a rate at its threshold, by the point', rule('e.rate < 0.95', { estimate: 'point' }), [[passes(100, 95)]], { kind: 'clear' }],
  [
    // Twenty verdicts in each session: fifty independent runs.
    'a rate of sessions that resemble one another',
    rule('e.rate < 0.95'),
    [[passes(1_000, 900), figure({ kind: 'session', runs: 0, value: 19_000 })]],
    { kind: 'open', figure: 0.9 },
  ],
  [
    'a rate of two sessions',
    rule('e.rate < 0.95'),
    [[passes(40, 0), figure({ kind: 'session', runs: 0, value: 40 * 19 })]],
    {
      kind: 'no_data',
      runs: 40,
      explanation: 'The runs of the last 1h count as 2 independent ones; at least 5 are needed.',
    },
  ],
  [
    'a rate of verdicts without a recorded probability',
    rule('e.rate < 0.95'),
    [[passes(400, 40, { share: 0, shareValue: 0 })]],
    { kind: 'no_data' },
  ],
  [
    'too few runs',
    rule('e.rate < 0.95'),
    [[passes(29, 0)]],
    { kind: 'no_data', runs: 29, explanation: 'Runs of the last 1h with the figure: 29 of at least 30.' },
  ],
  [
    'a burn rate whose short time has no run reports that, and not that the long one has too few',
    rule('e.burn rate > 14.4 over 1h', { objective: 0.99 }),
    [[passes(100, 50)], []],
    { kind: 'no_data', runs: 100, explanation: 'No run has a verdict of e in the last 5m.' },
  ],
  ['no runs', rule('e.rate < 0.95'), [[]], { kind: 'no_data', runs: 0 }],
  [
    'a weighted rate, whose raised runs say less',
    rule('e.rate < 0.95'),
    [[passes(400, 0, { weight: 8_000, value: 7_200, share: 40, shareValue: 36 })]],
    { kind: 'open', figure: 0.9, runs: 400 },
  ],
  ['a mean score', rule('e.rate > 0.5'), [[passes(500, 350, { kind: 'score' })]], { kind: 'holds', figure: 0.7 }],
  [
    'runs that ended in an error',
    rule('run errors > 5%'),
    [[ended('', 100), ended('error', 20), ended('paused', 50)]],
    {
      kind: 'holds',
      figure: 0.2,
      threshold: 0.05,
      runs: 100,
      explanation: expect.stringMatching(/^run errors: 20 % over 100 runs .*: above 5 %\.$/),
    },
  ],
  [
    'runs that ended in an error more often by chance',
    rule('run errors > 5%'),
    [[ended('', 100), ended('error', 6)]],
    { kind: 'open', figure: 0.06 },
  ],
  [
    'runs of ten sessions, two of them ended in an error',
    rule('run errors > 5%'),
    [[ended('', 200), ended('error', 40), figure({ kind: 'session', name: '', runs: 0, value: 200 * 19 })]],
    { kind: 'open', runs: 200 },
  ],
  [
    'runs whose point only is to be compared',
    rule('run errors > 5%', { estimate: 'point' }),
    [[ended('', 100), ended('error', 6)]],
    { kind: 'holds', explanation: 'run errors: 6 % over 100 runs of the last 1h, above 5 %.' },
  ],
  ['paused runs below the threshold', rule('paused runs > 20%'), [[ended('', 100), ended('paused', 20)]], { kind: 'clear', figure: 0.2 }],
  ['runs that all ended well', rule('run errors > 5%'), [[ended('', 100)]], { kind: 'clear', figure: 0 }],
  ['too few runs for a share', rule('run errors > 5%'), [[ended('', 20), ended('error', 20)]], { kind: 'no_data', runs: 20 }],
  [
    'the cost of a run',
    rule('cost per run > 0.10'),
    [[figure({ kind: 'cost', name: '', runs: 40, value: 6 })]],
    { kind: 'holds', figure: 0.15, explanation: 'cost per run: 0.15 USD over 40 runs of the last 1h, above 0.1 USD.' },
  ],
  ['an unknown cost', rule('cost per run > 0.10'), [[]], { kind: 'no_data' }],
  [
    'a quantile of durations',
    rule('p95 duration > 30s'),
    [
      [
        figure({ kind: 'duration', name: durationBin(1_000_000), runs: 90 }),
        figure({ kind: 'duration', name: durationBin(60_000_000), runs: 10 }),
        figure({ kind: 'took', name: '', runs: 100, value: 1 }),
      ],
    ],
    { kind: 'holds', runs: 100 },
  ],
  [
    'a median of the same',
    rule('median duration > 30s'),
    [
      [
        figure({ kind: 'duration', name: durationBin(1_000_000), runs: 90 }),
        figure({ kind: 'duration', name: durationBin(60_000_000), runs: 10 }),
        figure({ kind: 'took', name: '', runs: 100, value: 1 }),
      ],
    ],
    { kind: 'clear' },
  ],
  // 20 % of the runs fail where 1 % may: twenty times.
  [
    'a burn rate in both windows',
    rule('e.burn rate > 14.4 over 1h', { objective: 0.99 }),
    [[passes(1_000, 800)], [passes(50, 40)]],
    { kind: 'holds', figure: expect.closeTo(20, 9) },
  ],
  [
    'a burn that has ended',
    rule('e.burn rate > 14.4 over 1h', { objective: 0.99 }),
    [[passes(1_000, 800)], [passes(50, 50)]],
    { kind: 'clear' },
  ],
  [
    'a burn that has just begun',
    rule('e.burn rate > 14.4 over 1h', { objective: 0.99 }),
    [[passes(1_000, 999)], [passes(50, 20)]],
    { kind: 'clear' },
  ],
  [
    'one failed run in the short window, which is a hundred times any budget',
    rule('e.burn rate > 14.4 over 1h', { objective: 0.99 }),
    [[passes(1_000, 800)], [passes(1, 0)]],
    { kind: 'no_data', explanation: 'Runs of the last 5m with the figure: 1 of at least 5.' },
  ],
  ['no runs in the short window', rule('e.burn rate > 14.4 over 1h', { objective: 0.99 }), [[passes(1_000, 800)], []], { kind: 'no_data' }],
  [
    'the slowest of three burn rates',
    rule('e.burn rate', { objective: 0.99 }),
    [[passes(100, 100)], [passes(10, 10)], [passes(600, 600)], [passes(50, 50)], [passes(7_200, 7_000)], [passes(600, 580)]],
    { kind: 'holds', threshold: 1, explanation: expect.stringMatching(/ in the last 3d \(at least 2\.\d+ at 99 %\) and /) },
  ],
  [
    'a burn rate that is above its limit by chance',
    rule('e.burn rate > 1 over 3d', { objective: 0.99 }),
    [[passes(7_200, 7_100)], [passes(600, 580)]],
    { kind: 'open', figure: expect.closeTo(1.39, 2) },
  ],
  [
    'the same by the point',
    rule('e.burn rate > 1 over 3d', { objective: 0.99, estimate: 'point' }),
    [[passes(7_200, 7_100)], [passes(600, 580)]],
    { kind: 'holds' },
  ],
  [
    'a version that is worse',
    rule('e.rate worse than previous version', { by: 0.02 }),
    [[...version('1', 1, 10_000, 9_500), ...version('2', 2, 5_000, 4_500)]],
    {
      kind: 'holds',
      version: '2',
      against: '1',
      figure: expect.closeTo(-0.05, 9),
      threshold: -0.02,
      runs: 5_000,
      explanation: expect.stringMatching(
        /^e has a rate of 90 % over 5,000 runs of version 2 and of 95 % over 10,000 runs of version 1: a difference between −\d\.\d and −\d\.\d points at 99 %\.$/,
      ),
    },
  ],
  [
    'a version that is worse by less than what counts',
    rule('e.rate worse than previous version', { by: 0.05 }),
    [[...version('1', 1, 10_000, 9_500), ...version('2', 2, 5_000, 4_500)]],
    { kind: 'clear' },
  ],
  [
    'a version that is better',
    rule('e.rate worse than previous version'),
    [[...version('1', 1, 1_000, 500), ...version('2', 2, 1_000, 900)]],
    { kind: 'clear' },
  ],
  [
    'a version with few runs',
    rule('e.rate worse than previous version'),
    [[...version('1', 1, 1_000, 950), ...version('2', 2, 20, 0)]],
    { kind: 'no_data', runs: 20 },
  ],
  [
    'one version',
    rule('e.rate worse than previous version'),
    [version('1', 1, 1_000, 0)],
    { kind: 'no_data', explanation: 'There are not two versions to compare.' },
  ],
  [
    'runs without a version',
    rule('e.rate worse than previous version'),
    [[...version('1', 1, 1_000, 950), ...version('', 2, 1_000, 0)]],
    { kind: 'no_data' },
  ],
];
for (const [name, of, answers, want] of cases) {
  test(`alert finding: ${name}`, () => expect(findingOf(of, answers)).toMatchObject(want));
}

test('alert finding: asks for the sums of its window, and of all time for versions', () => {
  expect(questionsOf(rule('e.rate < 0.9 over 2h', { agent: 'a' }), 10 * 3_600_000)).toEqual([
    { agent: 'a', from: 8 * 3_600_000_000, allVersions: true, kinds: ['pass', 'score', 'session'], name: 'e' },
  ]);
  expect(questionsOf(rule('e.rate worse than previous version'), 0)).toEqual([
    { kinds: ['run'] },
    { kinds: ['pass', 'score', 'session'], name: 'e', byTask: true },
  ]);
  expect(questionsOf(rule('e.burn rate', { objective: 0.9 }), 0)).toHaveLength(6);
});
