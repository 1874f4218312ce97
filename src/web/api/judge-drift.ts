/** Drift of judges on fixed sets of runs, as resources of the API. */
import { driftFigures } from '../../analytics/drift.ts';
import { member } from '../../model/json.ts';
import * as api from '../../model/resource.ts';
import { type DriftMeasurement, driftStates, type DriftStore, driftWords } from '../../model/store/drift-store.ts';
import type { VerdictWord } from '../../model/verdict.ts';
import { notEstimable } from '../../statistics/estimate.ts';
import { estimate } from './estimate-json.ts';

/** Most looks of one evaluator in one answer. */
const measurementsMax = 30;

interface EvaluatorDrift {
  readonly name: string;
  /** Newest first. */
  readonly looks: readonly Look[];
  readonly newest: DriftMeasurement;
}

const answersOf =
  (...words: readonly VerdictWord[]) =>
  ({ answers }: DriftMeasurement): number =>
    answers.filter(({ word }) => words.includes(word)).length;

interface Look extends DriftMeasurement {
  readonly figures: ReturnType<typeof driftFigures>;
}

function looked(measurement: DriftMeasurement): Look {
  const { look, result } = measurement;
  const figures = result === undefined ? notEstimable('no_observations') : driftFigures(result.counts, { look, planned: result.planned });
  return { ...measurement, figures };
}

export const driftMeasurement = api.resource<Look>()('DriftLook', {
  baseline: [{ ...api.count, description: 'Number of its baseline.' }, ({ series }) => series.number],
  look: { ...api.count, description: '0 is the baseline itself.' },
  state: { enum: driftStates, description: '`open`: in progress. `kept`: it counts. `unfinished`: too few runs got a verdict.' },
  began_at: api.time,
  ended_at: api.optional(api.time),
  runs: { ...api.count, description: 'Number of runs in the set.' },
  passed: [api.count, answersOf('pass')],
  failed: [api.count, answersOf('fail')],
  without: [{ ...api.count, description: 'Runs that were skipped, or whose judge failed.' }, answersOf('skipped', 'error', 'raw')],
  word: [api.optional({ enum: driftWords }), ({ result }) => result?.word],
  stayed_pass: [api.optional(api.count), ({ result }) => result?.counts.stayedPass],
  stayed_fail: [api.optional(api.count), ({ result }) => result?.counts.stayedFail],
  to_pass: [api.optional(api.count), ({ result }) => result?.counts.toPass],
  to_fail: [api.optional(api.count), ({ result }) => result?.counts.toFail],
  flipped: [
    api.described(estimate, 'Share of the compared runs with another verdict.'),
    ({ figures }) => (figures.kind === 'estimated' ? figures.flipped : figures),
  ],
  change: [
    api.described(estimate, 'Pass rate now less pass rate at the baseline, within −1..1.'),
    ({ figures }) => (figures.kind === 'estimated' ? figures.change : figures),
  ],
  p: [api.numberOrNull('Mid-p of McNemar’s test.'), ({ figures }) => (figures.kind === 'estimated' ? figures.p : null)],
  level: [
    api.numberOrNull('A p below it shows a change: the part of 5 % for this measurement.'),
    ({ figures }) => (figures.kind === 'estimated' ? figures.level : null),
  ],
});

const baseline = api.inline<DriftMeasurement['series']>()({
  number: { ...api.count, description: 'Number of the baseline, from 1.' },
  began_at: api.time,
  because: api.many(api.text, 'Differences from the previous baseline; empty for the first one.'),
});

const asked =
  (key: string) =>
  ({ newest }: EvaluatorDrift): unknown =>
    member(newest.series.asked, key);

export const drift = api.resource<EvaluatorDrift>()('Drift', {
  name: api.text,
  evaluator: [api.text, asked('evaluator')],
  version: [api.count, asked('version')],
  model: [api.text, asked('model')],
  threshold: [api.numberOrNull(), asked('threshold')],
  baseline: [baseline, ({ newest }) => newest.series],
  shown: [{ enum: driftWords, description: 'Change since the baseline; once shown it stays until the next one.' }, shownOf],
  looks: api.many(driftMeasurement, `Newest first, at most ${measurementsMax}, with those of earlier baselines.`),
});

function shownOf({ looks, newest }: EvaluatorDrift): string {
  const kept = looks.find(({ state, series }) => state === 'kept' && series.number === newest.series.number);
  return kept?.result?.shown ?? 'no_change_shown';
}

export async function driftRows(
  store: DriftStore,
  isWanted: (row: { readonly name: string }) => boolean,
): Promise<readonly EvaluatorDrift[]> {
  const rows: EvaluatorDrift[] = [];
  for (const name of await store.names()) {
    if (!isWanted({ name })) continue;
    const looks = await store.looks({ name, limit: measurementsMax });
    const [newest] = looks;
    if (newest !== undefined) rows.push({ name, looks: looks.map(looked), newest });
  }
  return rows;
}
