/** The route of rates over all traffic. */
import { peopleKinds, type EvaluatorRate, rates } from '../../analytics/rates.ts';
import * as api from '../../model/resource.ts';
import { type AnnotatorKind, annotatorKinds } from '../../model/store/annotation-store.ts';
import { type RunSplit, runSplits } from '../../model/store/verdict-rows.ts';
import { averageRunsMax, type Coverage, weightShareMax } from '../../statistics/weighted-rate.ts';
import { estimate, reasonOf, reasonOrNull } from './estimate-json.ts';
import {
  named,
  type Parameters,
  periodOf,
  periodParameters,
  type Route,
  runParameters,
  runsOf,
  splitIn,
  splitJson,
  splitOf,
  tenantParameter,
  textParameter,
} from './route.ts';

/** An answer takes some tenths of a second of work. */
export const runsMax = 50_000;
const agentsMax = 20;
const tenantsMax = 20;

export const annotatorParameter = {
  enum: annotatorKinds,
  description: 'Only annotations of this kind. Defaults to those of people: `human` and `user`.',
} as const;

export function kindsOf(query: Parameters): readonly AnnotatorKind[] {
  const kind = annotatorKinds.find((one) => one === query['annotator']);
  return kind === undefined ? peopleKinds : [kind];
}

const percent = (part: number): string => `${Math.round(part * 100)} %`;
const covered =
  (read: (coverage: Coverage) => number | undefined) =>
  ({ coverage }: EvaluatorRate): number | undefined =>
    coverage.kind === 'not_estimable' ? undefined : read(coverage);

const weights = api.inline<EvaluatorRate['weights']>()({
  capped: {
    ...api.count,
    description: `Judged runs whose claim about samplers before the service was cut: its weight (one over that probability) is at most ${percent(weightShareMax)} of the whole. Below ${averageRunsMax / weightShareMax} runs, each may have ${averageRunsMax} divided by their number.`,
  },
  largest_share: { ...api.share, description: 'Share of the heaviest run in all weight, before the cut.' },
  kish_n: { ...api.number, minimum: 0, description: 'Kish’s effective sample size after the cut.' },
});

const subject = api.part<EvaluatorRate>()({
  name: api.text,
  kind: api.text,
  agent: api.textOrNull('Null for all agents.'),
  tenant: api.textOrNull('Null for all tenants.'),
});

/** A figure has an interval, or the reason why there is none. */
const figures = api.part<EvaluatorRate>()({
  measure: { enum: ['pass_rate', 'mean_score'] },
  rate: estimate,
  corrected: { ...api.flag, description: 'True when labels of people correct `rate`; otherwise it is the rate of the evaluator.' },
  uncorrected: [
    api.described(reasonOrNull, 'Why labels of people do not correct `rate`. Null when they do, or when `measure` is `mean_score`.'),
    ({ uncorrected }) => uncorrected && reasonOf(uncorrected),
  ],
  judged: estimate,
  prediction_powered: estimate,
  rogan_gladen: estimate,
  labels: { ...api.count, description: 'Judged runs that people have labelled.' },
  drawn_labels: { ...api.count, description: 'Those that a queue drew at random. Only they correct the rate.' },
  uncovered: [
    api.numberOrNull('Share of the traffic that the rate does not cover: `unreachable` and `unanswered` together.'),
    covered((one) => one.uncovered),
  ],
  unreachable: [api.numberOrNull('Share that the sample could not choose: its rate was 0.'), covered((one) => one.unreachable)],
  unanswered: [
    api.numberOrNull('Chosen share without an answer: the judge failed, had no budget or room, or has not answered yet.'),
    covered((one) => one.failed + one.waiting),
  ],
  waiting: [api.numberOrNull('Share of the traffic that still waits for an answer.'), covered((one) => one.waiting)],
  balance: [api.numberOrNull('Runs that the sample represents over all runs: about 1.'), covered((one) => one.balance)],
  weights: api.described(weights, 'Distribution of the weights of the judged runs.'),
});

export const rate = api.resourceOf('Rate', api.joined(subject, figures), {
  version: api.textOrNull('Set by `by=version`. Null for all versions.'),
  model: api.textOrNull('Set by `by=model`. Null for all models.'),
  prompt: api.textOrNull('Hash of the system prompt, set by `by=prompt`. Null for all prompts.'),
});

const rateJson = (row: EvaluatorRate, split: RunSplit | undefined) => ({
  ...subject.write(row),
  ...splitJson(split, row.of),
  ...figures.write(row),
});

export const rateRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/rates',
    summary: `The rate of each evaluator over all traffic, with its interval. Sample probabilities weight it, and enough labels of people on runs that a queue drew at random correct it. It names the share that it does not cover. Without \`evaluator\` it lists evaluators with a judge or an endpoint. It reads the newest ${runsMax} runs of the period.`,
    path_parameters: {},
    query_parameters: {
      ...periodParameters,
      ...runParameters,
      tenant: tenantParameter,
      evaluator: { ...textParameter, description: 'Name of the evaluator; rules are listed by name only.' },
      annotator: annotatorParameter,
      by: {
        enum: ['agent', 'tenant', ...runSplits],
        description: `\`agent\`: also for each of the ${agentsMax} agents with the most verdicts; \`tenant\`, \`version\`, \`model\` and \`prompt\`: for each of as many of them.`,
      },
    },
    answer: api.object({
      since: { ...api.time, description: 'Start of the oldest counted run: later than `from` when there are too many.' },
      rates: api.many(rate.schema, 'By evaluator.'),
      upstream: {
        ...api.object({
          probability_min: {
            ...api.number,
            description: '`limits.upstream_probability`: the least share that a sampler before the service may claim.',
          },
          raised: {
            ...api.count,
            description: 'Runs of all tenants since the start of the service that claimed less and count with that share.',
          },
        }),
        description: 'The limit on shares that samplers before the service claim.',
      },
    }),
    async handle({ store, clock, upstream }, query) {
      const found = await rates(store, {
        ...periodOf(query, clock),
        ...runsOf(query),
        ...named(query, 'evaluator', 'name'),
        ...splitIn(query),
        kinds: kindsOf(query),
        runsMax,
        agentsMax: query['by'] === 'agent' ? agentsMax : 0,
        tenantsMax: query['by'] === 'tenant' ? tenantsMax : 0,
      });
      return {
        since: api.timeOf(found.since),
        rates: found.rates.map((row) => rateJson(row, splitOf(query))),
        upstream: { probability_min: upstream.probabilityMin, raised: upstream.raised() },
      };
    },
  },
];
