/** Looks at fixed sets, as the API writes them. */
import { driftFigures } from '../../analytics/drift.ts';
import { driftStates, driftWords, type DriftMeasurement, type DriftStore } from '../../model/store/drift-store.ts';
import { member, type JsonObject } from '../../model/json.ts';
import { timeText } from '../../model/timestamp.ts';
import { notEstimable } from '../../statistics/estimate.ts';
import { estimate, estimateJson, object } from './figures-json.ts';

/** Of one evaluator, in one answer. */
const looksTold = 30;
const text: JsonObject = { type: 'string' };
const count: JsonObject = { type: 'integer', minimum: 0 };
const orNull = (schema: JsonObject): JsonObject => ({ anyOf: [schema, { type: 'null' }] });
const time: JsonObject = { type: 'string', format: 'date-time' };

/** Of the OpenAPI document. */
export const driftSchemas: { readonly [name: string]: JsonObject } = {
  Drift: object({
    name: text,
    evaluator: text,
    version: count,
    model: text,
    threshold: { type: ['number', 'null'] },
    baseline: object({
      number: { ...count, description: 'From 1: how many baselines there were.' },
      began_at: time,
      because: { type: 'array', items: text, description: 'What differs from the baseline before; empty: it is the first one.' },
    }),
    shown: { enum: driftWords, description: 'Whether a change was shown since the baseline; once shown it stays until the next one.' },
    looks: {
      type: 'array',
      items: { $ref: '#/components/schemas/DriftLook' },
      description: `Newest first, at most ${looksTold}, those of earlier baselines among them.`,
    },
  }),
  DriftLook: object({
    baseline: { ...count, description: 'With which baseline it is compared.' },
    look: { ...count, description: '0 is the baseline itself.' },
    state: { enum: driftStates, description: '`open`: it is being asked. `kept`: it counts. `unfinished`: too few runs got a verdict.' },
    began_at: time,
    ended_at: orNull(time),
    runs: { ...count, description: 'Of the set.' },
    passed: count,
    failed: count,
    without: { ...count, description: 'Runs that were skipped, or whose judge failed.' },
    word: orNull({ enum: driftWords }),
    stayed_pass: orNull(count),
    stayed_fail: orNull(count),
    to_pass: orNull(count),
    to_fail: orNull(count),
    flipped: { ...estimate, description: 'Share of the compared runs whose verdict is another one.' },
    change: { ...estimate, description: 'Pass rate now less pass rate at the baseline, within −1..1.' },
    p: { type: ['number', 'null'], description: 'Mid-p of McNemar’s test.' },
    level: { type: ['number', 'null'], description: 'Below which p shows a change: this look’s part of 5 %.' },
  }),
};

export async function driftJson(store: DriftStore, name: string | undefined): Promise<readonly JsonObject[]> {
  const names = (await store.names()).filter((one) => name === undefined || one === name);
  const told: JsonObject[] = [];
  for (const one of names) {
    const looks = await store.looks({ name: one, limit: looksTold });
    const [newest] = looks;
    if (newest === undefined) continue;
    const { series } = newest;
    const kept = looks.find(({ state, series: { number } }) => state === 'kept' && number === series.number);
    const asked = (key: string): JsonObject[string] => member(series.asked, key) ?? null;
    told.push({
      name: one,
      evaluator: asked('evaluator'),
      version: asked('version'),
      model: asked('model'),
      threshold: asked('threshold'),
      baseline: { number: series.number, began_at: timeOf(series.beganAt), because: [...series.because] },
      shown: kept?.result?.shown ?? 'no_change_shown',
      looks: looks.map(lookJson),
    });
  }
  return told;
}

function lookJson({ series, look, state, beganAt, endedAt, runs, answers, result }: DriftMeasurement): JsonObject {
  const words = (...wanted: readonly string[]): number => answers.filter(({ word }) => wanted.includes(word)).length;
  const figures = result === undefined ? undefined : driftFigures(result.counts, { look, planned: result.planned });
  const told = figures?.kind === 'estimated' ? figures : undefined;
  const none = estimateJson(figures?.kind === 'not_estimable' ? figures : notEstimable('no_observations'));
  return {
    baseline: series.number,
    look,
    state,
    began_at: timeOf(beganAt),
    ended_at: endedAt === undefined ? null : timeOf(endedAt),
    runs,
    passed: words('pass'),
    failed: words('fail'),
    without: words('skipped', 'error', 'raw'),
    word: result?.word ?? null,
    stayed_pass: result?.counts.stayedPass ?? null,
    stayed_fail: result?.counts.stayedFail ?? null,
    to_pass: result?.counts.toPass ?? null,
    to_fail: result?.counts.toFail ?? null,
    flipped: told === undefined ? none : estimateJson(told.flipped),
    change: told === undefined ? none : estimateJson(told.change),
    p: told?.p ?? null,
    level: told?.level ?? null,
  };
}

function timeOf(micros: number): string {
  return timeText(BigInt(micros) * 1_000n);
}
