/** What the verdicts of evaluators say of all traffic, and what people say of these verdicts. */
import { driftFigures } from '../../analytics/drift.ts';
import { agreementOf, type JudgeAgreement, type PeopleAgreement, withoutLabels } from '../../analytics/judge-agreement.ts';
import { type EvaluatorRate, peopleKinds, rates } from '../../analytics/rates.ts';
import { type JsonObject, member } from '../../model/json.ts';
import { annotationRowsMax, type AnnotatorKind, annotatorKinds } from '../../model/store/annotation-store.ts';
import { type DriftMeasurement, driftStates, type DriftStore, driftWords } from '../../model/store/drift-store.ts';
import { timeText } from '../../model/timestamp.ts';
import { type Estimate, type NotEstimable, notEstimable } from '../../statistics/estimate.ts';
import { averageRunsMax, type Coverage, weightShareMax } from '../../statistics/weighted-rate.ts';
import {
  type BudgetRow,
  count,
  named,
  object,
  type Parameters,
  periodOf,
  type Route,
  tenantOf,
  text,
  textParameter,
  time,
} from './route.ts';

/** Of one answer: some tenths of a second of work. */
const runsMax = 50_000;
const agentsMax = 20;
const tenantsMax = 20;
const dayMicros = 86_400_000_000;

const timeParameter = { type: 'string', maxLength: 40 } as const;
const period = {
  from: {
    ...timeParameter,
    description: 'Runs that started at this time or later, as RFC 3339 writes it; when left out, a day before `to`.',
  },
  to: { ...timeParameter, description: 'Runs that started before this time; now when left out.' },
} as const;
const filters = {
  agent: { ...textParameter, description: 'Name of the agent.' },
  tenant: {
    ...textParameter,
    description: 'Runs of this tenant alone: the name of the token that their spans came with, empty where none is asked for.',
  },
  evaluator: { ...textParameter, description: 'Name of the evaluator.' },
  annotator: { enum: annotatorKinds, description: 'Words of annotators of this kind alone; when left out, of people: `human` and `user`.' },
} as const;
const listOf = (schema: string, description: string): JsonObject => ({
  type: 'array',
  items: { $ref: `#/components/schemas/${schema}` },
  description,
});

export const figureRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/rates',
    summary: `The rate of each evaluator over all traffic, with its interval. It is weighted by the probabilities with which runs were chosen, and corrected by people’s labels where there are enough. It names the share that it does not speak for. Of evaluators that ask somebody, unless one is named; of the newest ${runsMax} runs of the period.`,
    path_parameters: {},
    query_parameters: {
      ...period,
      agent: filters.agent,
      tenant: filters.tenant,
      evaluator: { ...filters.evaluator, description: 'Name of the evaluator; a rule is told only when it is named.' },
      annotator: filters.annotator,
      by: {
        enum: ['agent', 'tenant'],
        description: `\`agent\`: also for each of the ${agentsMax} agents with the most verdicts; \`tenant\`: for each of as many tenants.`,
      },
    },
    answer: {
      type: 'object',
      required: ['since', 'rates', 'upstream'],
      properties: {
        since: { ...time, description: 'Runs count that started from here on: later than `from` where there are too many.' },
        rates: listOf('Rate', 'By evaluator.'),
        upstream: {
          ...object({
            probability_min: {
              type: 'number',
              description: '`limits.upstream_probability`: the least share that a sampler before the service is believed to keep.',
            },
            raised: {
              type: 'integer',
              minimum: 0,
              description: 'Runs since the service started, of all tenants, that claimed less and count as if that share were kept.',
            },
          }),
          description: 'What is believed of samplers before the service.',
        },
      },
    },
    async handle({ store, clock, upstream }, query) {
      const found = await rates(store, {
        ...periodOf(query, clock),
        ...named(query, 'agent', 'agent'),
        ...tenantOf(query),
        ...named(query, 'evaluator', 'name'),
        kinds: kindsOf(query),
        runsMax,
        agentsMax: query['by'] === 'agent' ? agentsMax : 0,
        tenantsMax: query['by'] === 'tenant' ? tenantsMax : 0,
      });
      return {
        since: timeText(BigInt(found.since) * 1_000n),
        rates: found.rates.map(rateJson),
        upstream: { probability_min: upstream.probabilityMin, raised: upstream.raised() },
      };
    },
  },
  {
    method: 'get',
    path: '/judges',
    summary: `How far evaluators agree with people who annotated the same runs under the evaluator’s name, by version and model; and people with one another. Of the newest ${annotationRowsMax} annotations of the period. Also, whatever the period and the tenant, how budgets stand, and whether judges still say the same of their fixed sets.`,
    path_parameters: {},
    query_parameters: {
      from: {
        ...period.from,
        description: 'Runs that started at this time or later, as RFC 3339 writes it; when left out, thirty days before `to`.',
      },
      to: period.to,
      ...filters,
    },
    answer: {
      type: 'object',
      required: ['judges', 'people', 'budgets', 'whole', 'drift'],
      properties: {
        judges: listOf(
          'JudgeFigures',
          'By evaluator, version and model. Those whose verdicts nobody has labelled yet stand behind, without figures.',
        ),
        people: listOf('PeopleFigures', 'By name.'),
        budgets: listOf('BudgetFigures', 'Of judges and evaluators that have one, each limit of this day (UTC).'),
        whole: { type: 'boolean', description: 'False: there were more annotations than were read.' },
        drift: listOf('Drift', 'By evaluator, for those that have or had a fixed set.'),
      },
    },
    ofAllTenants: ['budgets', 'drift'],
    async handle({ store, clock, budgets, judges: inForce }, query) {
      const rows = await store.annotations.onRuns({
        ...periodOf(query, clock, 30 * dayMicros),
        ...named(query, 'agent', 'agent'),
        ...tenantOf(query),
        ...named(query, 'evaluator', 'name'),
        kinds: kindsOf(query),
        limit: annotationRowsMax,
      });
      const { judges: labelled, people } = agreementOf(rows);
      const others = inForce().filter(({ name }) => (query['evaluator'] ?? name) === name && !labelled.some((one) => one.name === name));
      const judges = [...labelled, ...others.map(withoutLabels)];
      return {
        judges: judges.map(judgeFiguresJson),
        people: people.map(peopleFiguresJson),
        budgets: budgets().map(budgetJson),
        whole: rows.length < annotationRowsMax,
        drift: await driftJson(store.judgeDrift, typeof query['evaluator'] === 'string' ? query['evaluator'] : undefined),
      };
    },
  },
];

function kindsOf(query: Parameters): readonly AnnotatorKind[] {
  const kind = annotatorKinds.find((one) => one === query['annotator']);
  return kind === undefined ? peopleKinds : [kind];
}

// Rates and agreement, as the API writes them: a figure has an interval, or the reason why there is none.

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const numberOrNull = (description?: string): JsonObject => ({
  type: ['number', 'null'],
  ...(description === undefined ? {} : { description }),
});
const reason: JsonObject = {
  anyOf: [{ type: 'object', required: ['reason', 'explanation'], properties: { reason: text, explanation: text } }, { type: 'null' }],
  description: 'Why there is no figure.',
};
const estimate: JsonObject = { $ref: '#/components/schemas/Estimate' };

/** Of the OpenAPI document. */
export const figureSchemas: { readonly [name: string]: JsonObject } = {
  Estimate: object({
    point: numberOrNull('The best guess; null: there is none.'),
    low: numberOrNull('End of the interval.'),
    high: numberOrNull('End of the interval.'),
    confidence: numberOrNull('Share of such intervals that hold the true value.'),
    n: { type: ['integer', 'null'], description: 'What was counted.' },
    effective_n: numberOrNull('Independent runs, drawn evenly, that would tell as much.'),
    not_estimable: reason,
  }),
  Rate: object({
    name: text,
    kind: text,
    agent: { type: ['string', 'null'], description: 'Null: of all agents.' },
    tenant: { type: ['string', 'null'], description: 'Null: of all tenants.' },
    measure: { enum: ['pass_rate', 'mean_score'] },
    rate: estimate,
    corrected: {
      type: 'boolean',
      description: 'True: `rate` is what people would find, by their labels. False: it is what the evaluator says.',
    },
    judged: estimate,
    prediction_powered: estimate,
    rogan_gladen: estimate,
    labels: { ...count, description: 'Judged runs that people have labelled.' },
    uncovered: numberOrNull('Share of the traffic that the rate does not speak for: `unreachable` and `unanswered` together.'),
    unreachable: numberOrNull('Share that could not be chosen: nothing was left of the rate.'),
    unanswered: numberOrNull(
      'Share that was chosen and has no answer: the judge failed, was not asked for want of budget or room, or has not answered yet.',
    ),
    waiting: numberOrNull('Of that, the share that still waits.'),
    balance: numberOrNull('Runs that the sample stands for over runs that there were: 1 but for chance.'),
    weights: {
      ...object({
        capped: {
          ...count,
          description: `Judged runs whose weight, one over their probability, was more than ${percent(weightShareMax)} of the whole and was cut to that; of fewer than ${averageRunsMax / weightShareMax} runs each may have ${averageRunsMax} over their number.`,
        },
        largest_share: {
          type: 'number',
          minimum: 0,
          maximum: 1,
          description: 'Part of the heaviest run in all weight, before weights were cut.',
        },
        kish_n: {
          type: 'number',
          minimum: 0,
          description: 'Kish’s effective number: runs of equal weight that would tell as much, after weights were cut.',
        },
      }),
      description: 'How evenly the judged runs bear the rate.',
    },
  }),
  JudgeFigures: object({
    name: text,
    about: { enum: ['run', 'tool_call'], description: 'What is compared: whole runs, or single tool calls.' },
    evaluator: text,
    kind: text,
    version: count,
    model: { type: ['string', 'null'] },
    runs: { ...count, description: 'Runs, or calls, that both people and the evaluator have said passed or failed.' },
    both_pass: count,
    both_fail: count,
    missed: { ...count, description: 'People failed it, the evaluator passed it.' },
    false_alarms: { ...count, description: 'The evaluator failed it, people passed it.' },
    precision: { ...estimate, description: 'Of what the evaluator failed, the share that people fail.' },
    recall: { ...estimate, description: 'Of what people fail, the share that the evaluator failed.' },
    accuracy: estimate,
    kappa: { ...estimate, description: 'Cohen’s kappa: agreement beyond chance, 1 at most.' },
  }),
  BudgetFigures: object({
    judge: { type: ['string', 'null'], description: 'Null: the budget of an evaluator.' },
    evaluator: { type: ['string', 'null'], description: 'Null: the budget of a judge.' },
    budget: { enum: ['usd_per_day', 'requests_per_day', 'tokens_per_day'] },
    limit: { type: 'number', minimum: 0, description: 'In US dollars, requests or tokens, as its key says.' },
    spent: { type: 'number', minimum: 0 },
    reserved: { type: 'number', minimum: 0, description: 'For requests under way, and a little ahead of the next ones.' },
    left: { type: 'number', minimum: 0 },
    pace: { type: 'number', minimum: 0, maximum: 1, description: 'What it leaves of the sample rates now.' },
  }),
  PeopleFigures: object({
    name: text,
    about: { enum: ['run', 'tool_call'] },
    people: count,
    runs: { ...count, description: 'With a word of somebody.' },
    disputed: { ...count, description: 'Of which as many say passed as failed; they are compared with nobody.' },
    unreadable: { ...count, description: 'Annotations with a label that no verdict has.' },
    mean_kappa: numberOrNull('Of the pairs of people, each counted by its runs; null: no two labelled the same runs.'),
    pairs: {
      type: 'array',
      items: object({ people: { type: 'array', items: text, minItems: 2, maxItems: 2 }, runs: count, kappa: estimate }),
    },
  }),
};

function budgetJson({ judge, evaluator, limit, most, spent, reserved, share }: BudgetRow): JsonObject {
  return {
    judge: judge ?? null,
    evaluator: evaluator ?? null,
    budget: limit,
    limit: most,
    spent,
    reserved,
    left: Math.max(0, most - spent - reserved),
    pace: share,
  };
}

export function estimateJson(value: Estimate | NotEstimable): JsonObject {
  if (value.kind === 'not_estimable')
    return {
      point: null,
      low: null,
      high: null,
      confidence: null,
      n: null,
      effective_n: null,
      not_estimable: { reason: value.reason, explanation: value.explanation },
    };
  const { point, low, high, confidence, n, effectiveN } = value;
  return { point, low, high, confidence, n, effective_n: effectiveN, not_estimable: null };
}

function rateJson({
  name,
  kind,
  agent,
  tenant,
  measure,
  rate,
  corrected,
  judged,
  predictionPowered,
  roganGladen,
  labels,
  coverage,
  weights,
}: EvaluatorRate): JsonObject {
  return {
    name,
    kind,
    agent: agent ?? null,
    tenant: tenant ?? null,
    measure,
    rate: estimateJson(rate),
    corrected,
    judged: estimateJson(judged),
    prediction_powered: estimateJson(predictionPowered),
    rogan_gladen: estimateJson(roganGladen),
    labels,
    ...coverageJson(coverage),
    weights: { capped: weights.capped, largest_share: weights.largestShare, kish_n: weights.kishN },
  };
}

function coverageJson(coverage: Coverage | NotEstimable): JsonObject {
  if (coverage.kind === 'not_estimable') return { uncovered: null, unreachable: null, unanswered: null, waiting: null, balance: null };
  return {
    uncovered: coverage.uncovered,
    unreachable: coverage.unreachable,
    unanswered: coverage.failed + coverage.waiting,
    waiting: coverage.waiting,
    balance: coverage.balance ?? null,
  };
}

export function judgeFiguresJson({
  name,
  about,
  evaluator,
  kind,
  version,
  model,
  runs,
  confusion,
  rates,
  kappa,
}: JudgeAgreement): JsonObject {
  const { truePositive, falsePositive, falseNegative, trueNegative } = confusion;
  return {
    name,
    about,
    evaluator,
    kind,
    version,
    model: model ?? null,
    runs,
    both_pass: trueNegative,
    both_fail: truePositive,
    missed: falseNegative,
    false_alarms: falsePositive,
    precision: estimateJson(rates.precision),
    recall: estimateJson(rates.recall),
    accuracy: estimateJson(rates.accuracy),
    kappa: estimateJson(kappa),
  };
}

function peopleFiguresJson({ name, about, people, runs, disputed, unreadable, agreement }: PeopleAgreement): JsonObject {
  return {
    name,
    about,
    people,
    runs,
    disputed,
    unreadable,
    mean_kappa: agreement.mean.kind === 'estimated' ? agreement.mean.point : null,
    pairs: agreement.pairs.map((pair) => ({ people: [...pair.people], runs: pair.items, kappa: estimateJson(pair.kappa) })),
  };
}

// Looks at fixed sets, as the API writes them.

/** Of one evaluator, in one answer. */
const measurementsMax = 30;
const orNull = (schema: JsonObject): JsonObject => ({ anyOf: [schema, { type: 'null' }] });

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
      description: `Newest first, at most ${measurementsMax}, those of earlier baselines among them.`,
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

async function driftJson(store: DriftStore, name: string | undefined): Promise<readonly JsonObject[]> {
  const names = (await store.names()).filter((one) => name === undefined || one === name);
  const told: JsonObject[] = [];
  for (const one of names) {
    const looks = await store.looks({ name: one, limit: measurementsMax });
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
      looks: looks.map(measurementJson),
    });
  }
  return told;
}

function measurementJson({ series, look, state, beganAt, endedAt, runs, answers, result }: DriftMeasurement): JsonObject {
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
