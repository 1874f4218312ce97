/** Rates and agreement, as the API writes them: a figure has an interval, or the reason why there is none. */
import type { BudgetRow } from './route.ts';
import type { JudgeAgreement, PeopleAgreement } from '../../analytics/judge-agreement.ts';
import type { EvaluatorRate } from '../../analytics/rates.ts';
import type { JsonObject } from '../../model/json.ts';
import type { Coverage } from '../../statistics/coverage.ts';
import type { Estimate, NotEstimable } from '../../statistics/estimate.ts';
import { averageRunsMax, weightShareMax } from '../../statistics/weighted-rate.ts';

const text: JsonObject = { type: 'string' };
const count: JsonObject = { type: 'integer', minimum: 0 };
const percent = (share: number): string => `${Math.round(share * 100)} %`;
const numberOrNull = (description?: string): JsonObject => ({
  type: ['number', 'null'],
  ...(description === undefined ? {} : { description }),
});
const reason: JsonObject = {
  anyOf: [{ type: 'object', required: ['reason', 'explanation'], properties: { reason: text, explanation: text } }, { type: 'null' }],
  description: 'Why there is no figure.',
};
export const estimate: JsonObject = { $ref: '#/components/schemas/Estimate' };

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

export function budgetJson({ judge, evaluator, limit, most, spent, reserved, share }: BudgetRow): JsonObject {
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

export function rateJson({
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

export function peopleFiguresJson({ name, about, people, runs, disputed, unreadable, agreement }: PeopleAgreement): JsonObject {
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

export function object(properties: JsonObject): JsonObject {
  return { type: 'object', required: Object.keys(properties), properties };
}
