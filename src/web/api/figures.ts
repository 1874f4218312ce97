/** The routes of rates over all traffic, and of the agreement of evaluators with people. */
import { driftFigures } from '../../analytics/drift.ts';
import { agreementOf, type JudgeAgreement, type PeopleAgreement, withoutLabels } from '../../analytics/judge-agreement.ts';
import { type EvaluatorRate, peopleKinds, rates } from '../../analytics/rates.ts';
import { type JsonObject, member } from '../../model/json.ts';
import { annotationRowsMax, type AnnotatorKind, annotatorKinds } from '../../model/store/annotation-store.ts';
import { type DriftMeasurement, driftStates, type DriftStore, driftWords } from '../../model/store/drift-store.ts';
import type { JudgeSpendStore } from '../../model/store/judge-store.ts';
import { type RunSplit, runSplits, splitValuesMax } from '../../model/store/verdict-rows.ts';
import { timeText } from '../../model/timestamp.ts';
import { type NotEstimable, notEstimable } from '../../statistics/estimate.ts';
import type { Confusion } from '../../statistics/proportion.ts';
import { averageRunsMax, type Coverage, weightShareMax } from '../../statistics/weighted-rate.ts';
import { estimateJson, reasonOrNull } from './estimate-json.ts';
import { judgeLatencyRows, judgeTrafficRows } from './judge-traffic.ts';
import {
  type BudgetRow,
  count,
  named,
  object,
  type Parameters,
  periodOf,
  type Route,
  runParameters,
  runsOf,
  splitOf,
  tenantOf,
  text,
  textParameter,
  time,
} from './route.ts';

/** An answer takes some tenths of a second of work. */
export const runsMax = 50_000;
const agentsMax = 20;
const tenantsMax = 20;
const dayMicros = 86_400_000_000;
/** Days of spending in one answer. */
const spendDays = 14;
const nanoPerUsd = 1_000_000_000;
const evaluatorAccount = 'evaluator:';

const timeParameter = { type: 'string', maxLength: 40 } as const;
const period = {
  from: {
    ...timeParameter,
    description: 'Runs that started at this time or later, in RFC 3339; when left out, a day before `to`.',
  },
  to: { ...timeParameter, description: 'Runs that started before this time; now when left out.' },
} as const;
const filters = {
  agent: { ...textParameter, description: 'Name of the agent.' },
  tenant: {
    ...textParameter,
    description: 'Runs of this tenant alone: the name of the token of their spans, empty for spans without a token.',
  },
  evaluator: { ...textParameter, description: 'Name of the evaluator.' },
  annotator: { enum: annotatorKinds, description: 'Annotations of this kind alone; when left out, of people: `human` and `user`.' },
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
    summary: `The rate of each evaluator over all traffic, with its interval. Sample probabilities weight it, and enough labels of people on runs that a queue drew at random correct it. It names the share that it does not cover. Without \`evaluator\` it lists evaluators with a judge or an endpoint. It reads the newest ${runsMax} runs of the period.`,
    path_parameters: {},
    query_parameters: {
      ...period,
      ...runParameters,
      tenant: filters.tenant,
      evaluator: { ...filters.evaluator, description: 'Name of the evaluator; rules are listed by name only.' },
      annotator: filters.annotator,
      by: {
        enum: ['agent', 'tenant', ...runSplits],
        description: `\`agent\`: also for each of the ${agentsMax} agents with the most verdicts; \`tenant\`, \`version\`, \`model\` and \`prompt\`: for each of as many of them.`,
      },
    },
    answer: {
      type: 'object',
      required: ['since', 'rates', 'upstream'],
      properties: {
        since: { ...time, description: 'Start of the oldest counted run: later than `from` when there are too many.' },
        rates: listOf('Rate', 'By evaluator.'),
        upstream: {
          ...object({
            probability_min: {
              type: 'number',
              description: '`limits.upstream_probability`: the least share that a sampler before the service may claim.',
            },
            raised: {
              type: 'integer',
              minimum: 0,
              description: 'Runs of all tenants since the start of the service that claimed less and count with that share.',
            },
          }),
          description: 'The limit on shares that samplers before the service claim.',
        },
      },
    },
    async handle({ store, clock, upstream }, query) {
      const split = splitOf(query);
      const found = await rates(store, {
        ...periodOf(query, clock),
        ...runsOf(query),
        ...named(query, 'evaluator', 'name'),
        ...(split === undefined ? {} : { by: split }),
        kinds: kindsOf(query),
        runsMax,
        agentsMax: query['by'] === 'agent' ? agentsMax : 0,
        tenantsMax: query['by'] === 'tenant' ? tenantsMax : 0,
      });
      return {
        since: timeText(BigInt(found.since) * 1_000n),
        rates: found.rates.map((rate) => rateJson(rate, split)),
        upstream: { probability_min: upstream.probabilityMin, raised: upstream.raised() },
      };
    },
  },
  {
    method: 'get',
    path: '/judges',
    summary: `Agreement of evaluators with people on the same runs, by version and model, and of people with one another. Estimates come from labels of runs that a queue drew at random. It reads the newest ${annotationRowsMax} annotations of the period. Budgets, traffic and drift are those of now, for all tenants.`,
    path_parameters: {},
    query_parameters: {
      from: {
        ...period.from,
        description: 'Runs that started at this time or later, in RFC 3339; when left out, thirty days before `to`.',
      },
      to: period.to,
      ...filters,
      by: {
        enum: ['version'],
        description: `Also by version of the agent, for the ${splitValuesMax} versions with the most labelled runs.`,
      },
    },
    answer: {
      type: 'object',
      required: ['judges', 'people', 'budgets', 'days', 'traffic', 'latency', 'whole', 'drift'],
      properties: {
        judges: listOf('JudgeFigures', 'By evaluator, version and model. Evaluators without labels come last, without figures.'),
        people: listOf('PeopleFigures', 'By name.'),
        budgets: listOf('BudgetFigures', 'Each limit of this day (UTC), of judges and evaluators.'),
        days: listOf(
          'JudgeDay',
          `Spending of judges and evaluators with a budget, by day (UTC), the last ${spendDays} days, newest first.`,
        ),
        traffic: listOf('JudgeTraffic', 'Requests since the start of the service, by judge, and what waits now.'),
        latency: listOf('JudgeLatency', 'Time to a verdict since the start of the service, by evaluator.'),
        whole: { type: 'boolean', description: 'False: the period has more annotations than the API reads.' },
        drift: listOf('Drift', 'By evaluator that has or had a fixed set.'),
      },
    },
    ofAllTenants: ['budgets', 'days', 'traffic', 'latency', 'drift'],
    async handle({ store, clock, budgets, judges: inForce, metrics }, query) {
      const rows = await store.annotations.onRuns({
        ...periodOf(query, clock, 30 * dayMicros),
        ...named(query, 'agent', 'agent'),
        ...tenantOf(query),
        ...named(query, 'evaluator', 'name'),
        kinds: kindsOf(query),
        limit: annotationRowsMax,
      });
      const { judges: labelled, people } = agreementOf(rows, { byVersion: query['by'] === 'version' });
      const others = inForce().filter(({ name }) => (query['evaluator'] ?? name) === name && !labelled.some((one) => one.name === name));
      const judges = [...labelled, ...others.map(withoutLabels)];
      return {
        judges: judges.map(judgeFiguresJson),
        people: people.map(peopleFiguresJson),
        budgets: budgets().map(budgetJson),
        days: await daysJson(store.judgeSpend, clock.nowMs()),
        traffic: judgeTrafficRows(metrics()),
        latency: judgeLatencyRows(metrics()).filter(({ name }) => (query['evaluator'] ?? name) === name),
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

const percent = (share: number): string => `${Math.round(share * 100)} %`;
const numberOrNull = (description?: string): JsonObject => ({
  type: ['number', 'null'],
  ...(description === undefined ? {} : { description }),
});
const estimate: JsonObject = { $ref: '#/components/schemas/Estimate' };

/** A figure has an interval, or the reason why there is none. */
export const figureSchemas: { readonly [name: string]: JsonObject } = {
  Estimate: object({
    point: numberOrNull('The best estimate; null: there is none.'),
    low: numberOrNull('End of the interval.'),
    high: numberOrNull('End of the interval.'),
    confidence: numberOrNull('Share of such intervals that hold the true value.'),
    n: { type: ['integer', 'null'], description: 'Number of observations.' },
    effective_n: numberOrNull('Effective sample size: independent, evenly drawn runs with the same information.'),
    not_estimable: reasonOrNull,
  }),
  Rate: object(
    {
      name: text,
      kind: text,
      agent: { type: ['string', 'null'], description: 'Null: of all agents.' },
      tenant: { type: ['string', 'null'], description: 'Null: of all tenants.' },
      measure: { enum: ['pass_rate', 'mean_score'] },
      rate: estimate,
      corrected: {
        type: 'boolean',
        description: 'True: labels of people correct `rate`. False: it is the rate of the evaluator.',
      },
      uncorrected: {
        ...reasonOrNull,
        description: 'Why labels of people do not correct `rate`. Null: they do, or `measure` is `mean_score`.',
      },
      judged: estimate,
      prediction_powered: estimate,
      rogan_gladen: estimate,
      labels: { ...count, description: 'Judged runs that people have labelled.' },
      drawn_labels: { ...count, description: 'Those that a queue drew at random. Only they correct the rate.' },
      uncovered: numberOrNull('Share of the traffic that the rate does not cover: `unreachable` and `unanswered` together.'),
      unreachable: numberOrNull('Share that the sample could not choose: its rate was 0.'),
      unanswered: numberOrNull('Chosen share without an answer: the judge failed, had no budget or room, or has not answered yet.'),
      waiting: numberOrNull('Share of the traffic that still waits for an answer.'),
      balance: numberOrNull('Runs that the sample represents over all runs: about 1.'),
      weights: {
        ...object({
          capped: {
            ...count,
            description: `Judged runs whose claim about samplers before the service was cut: its weight (one over that probability) is at most ${percent(weightShareMax)} of the whole. Of fewer than ${averageRunsMax / weightShareMax} runs each may have ${averageRunsMax} over their number.`,
          },
          largest_share: {
            type: 'number',
            minimum: 0,
            maximum: 1,
            description: 'Share of the heaviest run in all weight, before the cut.',
          },
          kish_n: {
            type: 'number',
            minimum: 0,
            description: 'Kish’s effective sample size after the cut.',
          },
        }),
        description: 'Distribution of the weights of the judged runs.',
      },
    },
    {
      version: { type: ['string', 'null'], description: 'With `by=version`. Null: of all versions.' },
      model: { type: ['string', 'null'], description: 'With `by=model`. Null: of all models.' },
      prompt: { type: ['string', 'null'], description: 'With `by=prompt`: hash of the system prompt. Null: of all prompts.' },
    },
  ),
  JudgeFigures: object({
    name: text,
    about: { enum: ['run', 'tool_call'], description: 'Subject of the comparison: whole runs, or single tool calls.' },
    evaluator: text,
    kind: text,
    version: count,
    model: { type: ['string', 'null'] },
    agent_version: {
      type: ['string', 'null'],
      description: 'With `by=version`: version of the agent, empty for runs without one. Null: all versions.',
    },
    runs: { ...count, description: 'Runs, or calls, with a pass or fail of both people and the evaluator, chosen and drawn.' },
    both_pass: count,
    both_fail: count,
    missed: { ...count, description: 'Failed by people, passed by the evaluator.' },
    false_alarms: { ...count, description: 'Failed by the evaluator, passed by people.' },
    drawn_labels: {
      ...count,
      description: 'Those that a queue drew at random. The estimates come from these alone, weighted, and hold for all traffic.',
    },
    chosen_labels: {
      ...object({
        runs: count,
        both_pass: count,
        both_fail: count,
        missed: count,
        false_alarms: count,
        precision: numberOrNull('Share of these runs, not corrected.'),
        recall: numberOrNull('Share of these runs, not corrected.'),
        accuracy: numberOrNull('Share of these runs, not corrected.'),
      }),
      description: 'The other labels: a person or a rule chose their runs. What they show does not hold for other runs.',
    },
    precision: { ...estimate, description: 'Share of the failures of the evaluator that people fail.' },
    recall: { ...estimate, description: 'Share of the failures of people that the evaluator fails.' },
    specificity: { ...estimate, description: 'Share of the passes of people that the evaluator passes.' },
    accuracy: estimate,
    kappa: { ...estimate, description: 'Cohen’s kappa: agreement beyond chance, 1 at most.' },
  }),
  BudgetFigures: object({
    judge: { type: ['string', 'null'], description: 'Null: the budget of an evaluator.' },
    evaluator: { type: ['string', 'null'], description: 'Null: the budget of a judge.' },
    budget: { enum: ['usd_per_day', 'requests_per_day', 'tokens_per_day'] },
    limit: { type: 'number', minimum: 0, description: 'In US dollars, requests or tokens, by its key.' },
    spent: { type: 'number', minimum: 0 },
    reserved: { type: 'number', minimum: 0, description: 'For requests in flight, and a little for the next ones.' },
    left: { type: 'number', minimum: 0 },
    pace: { type: 'number', minimum: 0, maximum: 1, description: 'Factor on sample rates now.' },
  }),
  PeopleFigures: object({
    name: text,
    about: { enum: ['run', 'tool_call'] },
    people: count,
    runs: { ...count, description: 'Annotated runs, or calls.' },
    disputed: { ...count, description: 'Those with as many passes as fails; no comparison counts them.' },
    unreadable: { ...count, description: 'Annotations with a label that no verdict has.' },
    mean_kappa: numberOrNull('Mean over pairs of people, weighted by runs; null: no two people labelled the same runs.'),
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

async function daysJson(spend: JudgeSpendStore, nowMs: number): Promise<readonly JsonObject[]> {
  const days = Array.from({ length: spendDays }, (_, back) =>
    timeText(BigInt(Math.floor(nowMs) - back * 86_400_000) * 1_000_000n).slice(0, 10),
  );
  const rows: JsonObject[] = [];
  for (const day of days) {
    for (const [account, { nanoUsd, requests, inputTokens, outputTokens }] of await spend.on(day)) {
      const isEvaluator = account.startsWith(evaluatorAccount);
      rows.push({
        day,
        judge: isEvaluator ? null : account,
        evaluator: isEvaluator ? account.slice(evaluatorAccount.length) : null,
        cost_usd: nanoUsd / nanoPerUsd,
        requests,
        input_tokens: inputTokens,
        output_tokens: outputTokens,
      });
    }
  }
  return rows;
}

function rateJson(
  {
    name,
    kind,
    agent,
    tenant,
    of,
    measure,
    rate,
    corrected,
    judged,
    predictionPowered,
    roganGladen,
    labels,
    drawnLabels,
    uncorrected,
    coverage,
    weights,
  }: EvaluatorRate,
  split: RunSplit | undefined,
): JsonObject {
  return {
    name,
    kind,
    agent: agent ?? null,
    tenant: tenant ?? null,
    ...(split === undefined ? {} : { [split]: of ?? null }),
    measure,
    rate: estimateJson(rate),
    corrected,
    uncorrected: uncorrected === undefined ? null : (estimateJson(uncorrected)['not_estimable'] ?? null),
    judged: estimateJson(judged),
    prediction_powered: estimateJson(predictionPowered),
    rogan_gladen: estimateJson(roganGladen),
    labels,
    drawn_labels: drawnLabels,
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
  agentVersion,
  runs,
  confusion,
  drawn,
  chosen,
  rates,
  kappa,
}: JudgeAgreement): JsonObject {
  return {
    name,
    about,
    evaluator,
    kind,
    version,
    model: model ?? null,
    agent_version: agentVersion ?? null,
    runs,
    ...countsJson(confusion),
    drawn_labels: drawn,
    chosen_labels: chosenJson(chosen),
    precision: estimateJson(rates.precision),
    recall: estimateJson(rates.recall),
    specificity: estimateJson(rates.specificity),
    accuracy: estimateJson(rates.accuracy),
    kappa: estimateJson(kappa),
  };
}

function countsJson({ truePositive, falsePositive, falseNegative, trueNegative }: Confusion): JsonObject {
  return { both_pass: trueNegative, both_fail: truePositive, missed: falseNegative, false_alarms: falsePositive };
}

/** Plain shares: an interval would speak of runs that had no chance of a label. */
function chosenJson(counts: Confusion): JsonObject {
  const { truePositive, falsePositive, falseNegative, trueNegative } = counts;
  const runs = truePositive + falsePositive + falseNegative + trueNegative;
  const share = (hits: number, of: number): number | null => (of === 0 ? null : hits / of);
  return {
    runs,
    ...countsJson(counts),
    precision: share(truePositive, truePositive + falsePositive),
    recall: share(truePositive, truePositive + falseNegative),
    accuracy: share(truePositive + trueNegative, runs),
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

/** Of one evaluator in one answer. */
const measurementsMax = 30;
const orNull = (schema: JsonObject): JsonObject => ({ anyOf: [schema, { type: 'null' }] });

export const driftSchemas: { readonly [name: string]: JsonObject } = {
  Drift: object({
    name: text,
    evaluator: text,
    version: count,
    model: text,
    threshold: { type: ['number', 'null'] },
    baseline: object({
      number: { ...count, description: 'Number of the baseline, from 1.' },
      began_at: time,
      because: { type: 'array', items: text, description: 'Differences from the previous baseline; empty for the first one.' },
    }),
    shown: { enum: driftWords, description: 'Change since the baseline; once shown it stays until the next one.' },
    looks: {
      type: 'array',
      items: { $ref: '#/components/schemas/DriftLook' },
      description: `Newest first, at most ${measurementsMax}, with those of earlier baselines.`,
    },
  }),
  DriftLook: object({
    baseline: { ...count, description: 'Number of its baseline.' },
    look: { ...count, description: '0 is the baseline itself.' },
    state: { enum: driftStates, description: '`open`: in progress. `kept`: it counts. `unfinished`: too few runs got a verdict.' },
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
    flipped: { ...estimate, description: 'Share of the compared runs with another verdict.' },
    change: { ...estimate, description: 'Pass rate now less pass rate at the baseline, within −1..1.' },
    p: { type: ['number', 'null'], description: 'Mid-p of McNemar’s test.' },
    level: { type: ['number', 'null'], description: 'A p below it shows a change: the part of 5 % for this measurement.' },
  }),
};

async function driftJson(store: DriftStore, name: string | undefined): Promise<readonly JsonObject[]> {
  const names = (await store.names()).filter((one) => name === undefined || one === name);
  const rows: JsonObject[] = [];
  for (const one of names) {
    const looks = await store.looks({ name: one, limit: measurementsMax });
    const [newest] = looks;
    if (newest === undefined) continue;
    const { series } = newest;
    const kept = looks.find(({ state, series: { number } }) => state === 'kept' && number === series.number);
    const setting = (key: string): JsonObject[string] => member(series.asked, key) ?? null;
    rows.push({
      name: one,
      evaluator: setting('evaluator'),
      version: setting('version'),
      model: setting('model'),
      threshold: setting('threshold'),
      baseline: { number: series.number, began_at: timeOf(series.beganAt), because: [...series.because] },
      shown: kept?.result?.shown ?? 'no_change_shown',
      looks: looks.map(measurementJson),
    });
  }
  return rows;
}

function measurementJson({ series, look, state, beganAt, endedAt, runs, answers, result }: DriftMeasurement): JsonObject {
  const words = (...wanted: readonly string[]): number => answers.filter(({ word }) => wanted.includes(word)).length;
  const figures = result === undefined ? undefined : driftFigures(result.counts, { look, planned: result.planned });
  const estimated = figures?.kind === 'estimated' ? figures : undefined;
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
    flipped: estimated === undefined ? none : estimateJson(estimated.flipped),
    change: estimated === undefined ? none : estimateJson(estimated.change),
    p: estimated?.p ?? null,
    level: estimated?.level ?? null,
  };
}

function timeOf(micros: number): string {
  return timeText(BigInt(micros) * 1_000n);
}
