/** Drift of judges on fixed sets of runs, as resources of the API. */
import { driftFigures } from '../../analytics/drift.ts';
import { member } from '../../model/json.ts';
import { count, described, inline, many, numberOrNull, optional, resource, text, time } from '../../model/resource.ts';
import { type DriftMeasurement, driftStates, type DriftStore, driftWords } from '../../model/store/drift-store.ts';
import type { VerdictWord } from '../../model/verdict.ts';
import { notEstimable } from '../../statistics/estimate.ts';
import { estimate } from './estimate-json.ts';

/** Of one evaluator in one answer. */
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

export const driftMeasurement = resource<Look>()('DriftLook', {
  baseline: [{ ...count, description: 'Number of its baseline.' }, ({ series }) => series.number],
  look: { ...count, description: '0 is the baseline itself.' },
  state: { enum: driftStates, description: '`open`: in progress. `kept`: it counts. `unfinished`: too few runs got a verdict.' },
  began_at: time,
  ended_at: optional(time),
  runs: { ...count, description: 'Of the set.' },
  passed: [count, answersOf('pass')],
  failed: [count, answersOf('fail')],
  without: [{ ...count, description: 'Runs that were skipped, or whose judge failed.' }, answersOf('skipped', 'error', 'raw')],
  word: [optional({ enum: driftWords }), ({ result }) => result?.word],
  stayed_pass: [optional(count), ({ result }) => result?.counts.stayedPass],
  stayed_fail: [optional(count), ({ result }) => result?.counts.stayedFail],
  to_pass: [optional(count), ({ result }) => result?.counts.toPass],
  to_fail: [optional(count), ({ result }) => result?.counts.toFail],
  flipped: [
    described(estimate, 'Share of the compared runs with another verdict.'),
    ({ figures }) => (figures.kind === 'estimated' ? figures.flipped : figures),
  ],
  change: [
    described(estimate, 'Pass rate now less pass rate at the baseline, within −1..1.'),
    ({ figures }) => (figures.kind === 'estimated' ? figures.change : figures),
  ],
  p: [numberOrNull('Mid-p of McNemar’s test.'), ({ figures }) => (figures.kind === 'estimated' ? figures.p : null)],
  level: [
    numberOrNull('A p below it shows a change: the part of 5 % for this measurement.'),
    ({ figures }) => (figures.kind === 'estimated' ? figures.level : null),
  ],
});

const baseline = inline<DriftMeasurement['series']>()({
  number: { ...count, description: 'Number of the baseline, from 1.' },
  began_at: time,
  because: many(text, 'Differences from the previous baseline; empty for the first one.'),
});

const asked =
  (key: string) =>
  ({ newest }: EvaluatorDrift): unknown =>
    member(newest.series.asked, key);

export const drift = resource<EvaluatorDrift>()('Drift', {
  name: text,
  evaluator: [text, asked('evaluator')],
  version: [count, asked('version')],
  model: [text, asked('model')],
  threshold: [numberOrNull(), asked('threshold')],
  baseline: [baseline, ({ newest }) => newest.series],
  shown: [{ enum: driftWords, description: 'Change since the baseline; once shown it stays until the next one.' }, shownOf],
  looks: many(driftMeasurement, `Newest first, at most ${measurementsMax}, with those of earlier baselines.`),
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
