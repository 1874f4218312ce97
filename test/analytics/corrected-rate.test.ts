/** Rates over all traffic, from verdicts on a sample and a few labels. */
import { expect, test } from 'vitest';
import { trafficRate, labelsMin, type RateInput, type RunLabel, runKeyText } from '../../src/analytics/corrected-rate.ts';
import { tenant } from '../../src/model/ids.ts';
import type { VerdictRow } from '../../src/model/store/verdict-rows.ts';
import { sampledBy } from '../../src/model/verdict.ts';
import { verdictRow } from '../builders/verdict-row.ts';

interface Some {
  readonly count: number;
  readonly word?: VerdictRow['word'];
  readonly probability?: number;
  readonly raisedBy?: number;
  readonly upstream?: number;
  readonly score?: number;
  /** Verdicts of people on the first runs. */
  readonly passed?: number;
  readonly failed?: number;
  /** Probability of the draw of these labels; left out: their runs were chosen. */
  readonly drawn?: number;
  readonly session?: string;
}

/** `decided` is the number of runs that ended so; `chosen` of them had been chosen, and represent `weight` runs. */
function input(
  some: readonly Some[],
  decided: { readonly [decision: string]: number | { readonly chosen: number; readonly weight: number; readonly unchosen?: number } } = {},
): RateInput {
  const labels = new Map<string, RunLabel>();
  let runs = 0;
  const rows = some.flatMap(
    ({ count, word = 'pass', probability = 1, score, passed = 0, failed = 0, drawn, session, raisedBy, upstream }) =>
      Array.from({ length: count }, (_, at): VerdictRow => {
        const row = verdictRow(++runs, {
          sessionId: session,
          word,
          score,
          label: word,
          sampleProbability: probability,
          ...sampledBy({ raisedBy, upstream }),
        });
        if (at < passed + failed) labels.set(runKeyText(row), { passed: at < passed, probability: drawn });
        return row;
      }),
  );
  return {
    rows,
    labels,
    decided: Object.entries(decided).map(([decision, of]) => {
      const { chosen, weight, unchosen = 0 } = typeof of === 'number' ? { chosen: 0, weight: 0, unchosen: of } : of;
      return { agent: 'a', decision, runs: chosen + unchosen, chosen, weight, unchosen };
    }),
  };
}

const hostile = { probability: 0.05 / 10_000, upstream: 1 / 10_000 } as const;

test('honest rate: one run that claims a tiny probability has a bounded part of the rate, and the answer reports the cut', () => {
  const honest: Some = { count: 190, probability: 0.05 };
  const { rate, weights, coverage } = trafficRate(input([honest, { count: 1, word: 'fail', ...hostile }], { scored: 191 }));
  expect(rate).toMatchObject({ kind: 'estimated', point: expect.closeTo(0.95, 10) });
  expect(weights).toMatchObject({
    capped: 1,
    weightMax: expect.closeTo(200, 6),
    largestShare: expect.closeTo(200_000 / 203_800, 6),
    kishN: expect.closeTo(4_000 ** 2 / (190 * 400 + 200 ** 2), 6),
  });
  expect(coverage).toMatchObject({ uncovered: expect.closeTo(0, 10) });
  const waiting = trafficRate(input([honest, { count: 1, word: 'error', ...hostile }], { scored: 190, failed: 1 }));
  expect(waiting.coverage.kind === 'estimated' ? waiting.coverage.uncovered : 1).toBeLessThan(0.06);
});

test('honest rate: weights of the design stay unchanged', () => {
  // Flagged runs all, and one in a hundred of the others; a service behind a sampler that keeps one in ten thousand.
  for (const some of [
    [
      { count: 400, word: 'fail' as const },
      { count: 96, probability: 0.01 },
    ],
    // A week of few runs, and a rate of 0.02.
    [
      { count: 40, word: 'fail' as const, raisedBy: 50 },
      { count: 7, probability: 0.02 },
    ],
    [{ count: 120, probability: 0.0001, upstream: 0.0001 }],
    [{ count: 1_000 }, { count: 100, probability: 0.0001, upstream: 0.0001 }],
    [
      { count: 40, word: 'fail' as const, probability: 0.1, upstream: 0.1, raisedBy: 50 },
      { count: 7, probability: 0.002, upstream: 0.1 },
    ],
  ]) {
    expect(trafficRate(input(some)).weights).toMatchObject({ capped: 0, weightMax: Infinity });
  }
});

test('honest rate: where the traffic has too few runs that are not raised, there is no rate, at any draw', () => {
  // 40 of 400 runs are raised. Among the other 360 some seven are to be expected at 0.02, and some four at 0.01.
  const flagged: Some = { count: 40, word: 'fail', raisedBy: 50 };
  for (const drawn of [2, 7, 20])
    expect(
      trafficRate(input([flagged, { count: drawn, probability: 0.02 }], { scored: 40 + drawn, sampled_out: 360 - drawn })).rate.kind,
    ).toBe('estimated');
  for (const drawn of [2, 4, 20])
    expect(
      trafficRate(input([flagged, { count: drawn, probability: 0.01 }], { scored: 40 + drawn, sampled_out: 360 - drawn })),
    ).toMatchObject({
      rate: {
        reason: 'too_few_usual_runs',
        explanation: expect.stringMatching(/represent most of the traffic\. After about 140 more runs without a raise there will be 5\./),
      },
      predictionPowered: { reason: 'too_few_usual_runs' },
      roganGladen: { reason: 'too_few_usual_runs' },
    });
  expect(trafficRate(input([flagged], { scored: 40, sampled_out: 360 })).rate).toMatchObject({
    reason: 'too_few_usual_runs',
    explanation: expect.stringMatching(/None was judged, and 5 are needed\./),
  });
  // A sampler before the service has its part in each weight, and not in the number of runs that come.
  for (const [rate, kind] of [
    [0.02, 'estimated'],
    [0.01, 'not_estimable'],
  ] as const)
    expect(
      trafficRate(
        input(
          [
            { ...flagged, probability: 0.1, upstream: 0.1 },
            { count: 5, probability: rate * 0.1, upstream: 0.1 },
          ],
          { scored: 45, sampled_out: 355 },
        ),
      ).rate.kind,
    ).toBe(kind);
  // All runs are flagged.
  expect(trafficRate(input([flagged], { scored: 40 })).rate.kind).toBe('estimated');
  // Runs of one session are one.
  const one = [flagged, { count: 20, probability: 0.02, session: 's' }];
  expect(trafficRate(input(one, { scored: 60, sampled_out: 340 })).rate.kind).toBe('not_estimable');
});

test('honest rate: sessions of two tenants with one id are two sessions', () => {
  const { rows, ...rest } = input([
    { count: 20, session: 's' },
    { count: 20, word: 'fail', session: 's' },
  ]);
  expect(trafficRate({ rows, ...rest }).rate).toMatchObject({ kind: 'not_estimable', reason: 'one_session' });
  const two = rows.map((row, at): VerdictRow => (at < 20 ? row : { ...row, tenant: tenant('other') }));
  expect(trafficRate({ rows: two, ...rest }).rate).toMatchObject({ kind: 'estimated', point: 0.5 });
});

test('honest rate: a run that was chosen with a probability of 5 % represents twenty', () => {
  // All 40 failing runs and one in twenty of 760 passing ones were judged.
  const { rate, corrected, measure, labels } = trafficRate(
    input([
      { count: 40, word: 'fail' },
      { count: 38, probability: 0.05 },
    ]),
  );
  expect([measure, corrected, labels]).toEqual(['pass_rate', false, 0]);
  expect(rate).toMatchObject({ kind: 'estimated', point: expect.closeTo(0.95, 10), n: 78 });
  expect(rate.kind === 'estimated' && rate.low < 0.95 && rate.high > 0.95 && rate.effectiveN < 1_000).toBe(true);
});

test('honest rate: nothing judged, or a single session, gives no rate', () => {
  expect(trafficRate(input([])).rate).toMatchObject({ kind: 'not_estimable', reason: 'no_observations' });
  expect(trafficRate(input([{ count: 9, session: 's' }])).rate).toMatchObject({ kind: 'not_estimable', reason: 'one_session' });
  expect(
    trafficRate(
      input([
        { count: 3, word: 'error' },
        { count: 3, word: 'skipped' },
      ]),
    ).rate,
  ).toMatchObject({ kind: 'not_estimable' });
});

test('honest rate: without a threshold it is the mean score', () => {
  expect(
    trafficRate(
      input([
        { count: 2, word: 'raw', score: 0.25 },
        { count: 2, word: 'raw', score: 0.75 },
      ]),
    ),
  ).toMatchObject({ measure: 'mean_score', corrected: false, rate: { point: 0.5 } });
});

test('honest rate: enough labels of drawn runs correct it, too few do not', () => {
  const enough = [
    { count: 800, passed: 72, failed: 8, drawn: 0.1 },
    { count: 200, word: 'fail', passed: 5, failed: 15, drawn: 0.1 },
  ] as const;
  const { rate, corrected, uncorrected, judged, roganGladen, labels, drawnLabels } = trafficRate(input(enough));
  expect([corrected, uncorrected, labels, drawnLabels]).toEqual([true, undefined, 100, 100]);
  expect(judged).toMatchObject({ point: expect.closeTo(0.8, 10) });
  // 90 % of what the judge passed and 25 % of what it failed: 0.8 · 0.9 + 0.2 · 0.25.
  expect(rate).toMatchObject({ point: expect.closeTo(0.77, 6), n: 1_000 });
  expect(roganGladen).toMatchObject({ kind: 'estimated', sensitivity: expect.closeTo(72 / 77, 10) });
  const few = trafficRate(input([{ count: 800, passed: labelsMin - 1, drawn: 0.125 }, { count: 200 }]));
  expect([few.corrected, few.rate]).toEqual([false, few.judged]);
  expect(few).toMatchObject({
    uncorrected: { reason: 'too_few_drawn_labels', explanation: expect.stringMatching(/About 1 more are needed\.$/) },
    roganGladen: { reason: 'too_few_drawn_labels' },
  });
  expect(trafficRate(input([{ count: 800 }]))).toMatchObject({ corrected: false, uncorrected: { reason: 'no_labels' } });
});

test('honest rate: labels of chosen runs never correct it, however many they are', () => {
  const chosen = [
    { count: 800, passed: 90, failed: 10 },
    { count: 200, word: 'fail', passed: 10, failed: 30 },
  ] as const;
  const found = trafficRate(input(chosen));
  expect(found).toMatchObject({
    corrected: false,
    labels: 140,
    drawnLabels: 0,
    rate: { point: expect.closeTo(0.8, 10) },
    uncorrected: { reason: 'no_drawn_labels' },
    predictionPowered: { reason: 'no_drawn_labels' },
    roganGladen: { reason: 'no_drawn_labels' },
  });
  // Beside drawn ones they change nothing.
  const drawn: readonly Some[] = [{ count: 400, passed: 30, failed: 10, drawn: 0.1 }];
  const [alone, beside] = [
    [...drawn, { count: 100, word: 'fail' as const }],
    [...drawn, { count: 100, word: 'fail' as const, failed: 100 }],
  ].map((some) => trafficRate(input(some)));
  expect([beside?.rate, beside?.roganGladen]).toEqual([alone?.rate, alone?.roganGladen]);
});

test('honest rate: a drawn label counts one over the probability of its run and of the draw', () => {
  // All 40 raised runs and one in ten of the others were judged. The queue drew from both so that each run of the traffic had one chance in ten.
  const { rate, corrected } = trafficRate(
    input([
      { count: 40, word: 'fail', raisedBy: 10, failed: 4, drawn: 0.1 },
      { count: 96, probability: 0.1, passed: 84, failed: 12, drawn: 1 },
    ]),
  );
  expect(corrected).toBe(true);
  // 4 of 40 raised runs and 96 of 960 others: 84 of 100 labels pass.
  expect(rate.kind === 'estimated' && Math.abs(rate.point - 0.84) < 0.02).toBe(true);
});

const coverages: readonly (readonly [string, RateInput, object])[] = [
  [
    'all that was chosen was judged',
    input([{ count: 50, probability: 0.5 }], { scored: 50, sampled_out: 50 }),
    { covered: 1, uncovered: 0, balance: 1 },
  ],
  [
    'a part could not be chosen',
    input([{ count: 50, probability: 0.5 }], { scored: 50, sampled_out: 50, over_budget: 60, overload: 40, filtered: 999 }),
    { covered: 0.5, unreachable: 0.5, failed: 0, balance: 1 },
  ],
  [
    'the judge failed on a quarter of the weight',
    input([{ count: 30 }, { count: 5, word: 'error', probability: 0.5 }], { scored: 30, failed: 5, sampled_out: 5 }),
    { covered: 0.75, failed: 0.25 },
  ],
  [
    'what does not apply is left aside',
    input([{ count: 50 }, { count: 50, word: 'skipped' }], { scored: 50, skipped: 50, over_budget: 100 }),
    { covered: 0.5, unreachable: 0.5 },
  ],
  // A rate of a tenth: 100 of 1,000 runs were chosen. 60 were scored, 10 failed at the judge, 10 found the queue full, 5 were not paid for, 15 wait. On
  // 200 more nothing was left of the rate. 1,200 runs: 1,000 could be chosen, and 600 of the 1,000 that the chosen ones represent were scored: 5/6 · 6/10 is covered.
  [
    'runs were chosen and not asked about, or wait',
    input(
      [
        { count: 60, probability: 0.1 },
        { count: 10, word: 'error', probability: 0.1 },
      ],
      {
        scored: 60,
        failed: 10,
        sampled_out: 900,
        overload: { chosen: 10, weight: 100 },
        over_budget: { chosen: 5, weight: 50, unchosen: 200 },
        waiting: { chosen: 15, weight: 150 },
      },
    ),
    {
      covered: expect.closeTo(0.5, 12),
      unreachable: expect.closeTo(1 / 6, 12),
      failed: expect.closeTo((5 / 6) * 0.25, 12),
      waiting: expect.closeTo((5 / 6) * 0.15, 12),
      balance: expect.closeTo(1, 12),
    },
  ],
  // All 40 runs with an error were chosen, and 20 of them found the queue full: these represent themselves. A tenth of 400 others was chosen and judged.
  [
    'those that were chosen for sure found the queue full',
    input([{ count: 20 }, { count: 40, probability: 0.1 }], { scored: 60, sampled_out: 360, overload: { chosen: 20, weight: 20 } }),
    { covered: expect.closeTo(420 / 440, 12), unreachable: 0, failed: expect.closeTo(20 / 440, 12), balance: expect.closeTo(1, 12) },
  ],
  // A new configuration ended 10 of 50 that waited; half of all that was answered does not apply, so half of the rest would not have either.
  [
    'a new configuration ended what waited',
    input(
      [
        { count: 20, probability: 0.5 },
        { count: 20, word: 'skipped', probability: 0.5 },
      ],
      { scored: 20, skipped: 20, sampled_out: 50, filtered: { chosen: 10, weight: 20, unchosen: 999 } },
    ),
    { covered: expect.closeTo(0.8, 12), failed: expect.closeTo(0.2, 12), balance: expect.closeTo(1, 12) },
  ],
  ['nothing was seen', input([], { filtered: 3 }), { kind: 'not_estimable' }],
];
for (const [name, given, want] of coverages)
  test(`honest rate: coverage where ${name}`, () => expect(trafficRate(given).coverage).toMatchObject(want));
