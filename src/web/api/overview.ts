/** The route of the overview: what each agent did, against the period before. */
import { agentOverviews, type AgentOverview, type EvaluatorOverview } from '../../analytics/overview.ts';
import type { JsonObject } from '../../model/json.ts';
import type { QuantileSketch } from '../../model/quantile-sketch.ts';
import * as api from '../../model/resource.ts';
import { type RollupStep, rollupSteps } from '../../model/store/rollup-store.ts';
import type { Micros } from '../../model/timestamp.ts';
import { usualConfidence } from '../../statistics/estimate.ts';
import { quantileOf } from '../../statistics/quantile-sketch.ts';
import { type Figure, figure, reasonOf, reasonOrNull } from './estimate-json.ts';
import {
  type ApiDeps,
  named,
  nextCursor,
  nextOf,
  pageOf,
  pages,
  type Parameters,
  periodOf,
  periodParameters,
  QueryFault,
  type Route,
  runParameters,
  tenantOf,
  tenantParameter,
} from './route.ts';

const [fineMicros, hourMicros, dayMicros] = rollupSteps;
const daysMax = 400;

/** Parameters of figures over time. */
export const rollupParameters = { ...periodParameters, agent: runParameters.agent, tenant: tenantParameter } as const;

/** Members of every answer of figures over time. */
export const rollupMembers = {
  from: { ...api.time, description: 'Start of the first counted step. Steps are five minutes in the last six hours, and hours before.' },
  to: { ...api.time, description: 'End of the last counted step.' },
  whole: { ...api.flag, description: 'False while some changed runs are not counted yet. The service counts them step by step.' },
} as const;

export interface RollupPeriod {
  readonly from: Micros;
  readonly to: Micros;
  readonly now: Micros;
  /** False while some runs are not counted yet. */
  readonly isWhole: boolean;
}

/** `rollupMembers` of an answer. */
export function rollupJson({ from, to, isWhole }: Pick<RollupPeriod, 'from' | 'to' | 'isWhole'>): JsonObject {
  return { from: api.timeOf(from), to: api.timeOf(to), whole: isWhole };
}

/** The period of a query, with the sums brought up to date. */
export async function rollupPeriod({ clock, refreshVersions }: ApiDeps, query: Parameters): Promise<RollupPeriod> {
  const { from, to } = periodOf(query, clock);
  if (to - from > daysMax * dayMicros)
    throw new QueryFault(`from and to are more than ${daysMax} days apart.`, 'Name a shorter time: older sums are not kept.');
  const isWhole = await refreshVersions();
  return { from, to, now: Math.floor(clock.nowMs() * 1_000), isWhole };
}

const rate = api.part<Figure>()({
  rate: [
    api.numberOrNull('Pass rate, weighted by one over the sample probability of each run. Null when it cannot be estimated.'),
    figure('point'),
  ],
  low: [api.numberOrNull('End of the interval. Runs of one session count together, as if they were copies of one.'), figure('low')],
  high: [api.numberOrNull('End of the interval.'), figure('high')],
  not_estimable: [reasonOrNull, reasonOf],
});
const rateBefore: api.Shape<Figure> = { schema: api.object(rate.properties), write: rate.write };
const change = api.inline<NonNullable<EvaluatorOverview['change']>>()({
  difference: [api.number, ({ point }) => point],
  low: api.number,
  high: api.number,
});

const evaluatorOverview = api.resourceOf(
  'EvaluatorOverview',
  api.joined<EvaluatorOverview>(
    api.part<EvaluatorOverview>()({ evaluator: api.text, passed: api.count, failed: api.count }),
    { properties: rate.properties, write: (row) => rate.write(row.rate) },
    api.part<EvaluatorOverview>()({
      before: api.optional(rateBefore, 'Rate of the period before. Null when it had no verdict there.'),
      change: api.optional(
        change,
        'The rate less that of the period before, with the confidence that all changes of the overview hold together. Null when the interval of the difference holds zero.',
      ),
    }),
  ),
);

const quantile = (at: number): api.Shape<QuantileSketch> => {
  const { schema, write } = api.inSeconds(api.numberOrNull('Accurate to 2 %.'));
  return { schema, write: (sketch) => write(quantileOf(sketch, at)) };
};

const agentOverview = api.resource<AgentOverview>()('AgentOverview', {
  agent: [
    api.textOrNull('Null for runs without an agent. `other` for agents beyond the bound of a step.'),
    ({ agent }) => (agent === '' ? null : agent),
  ],
  runs: api.count,
  failed_runs: { ...api.count, description: 'Runs with a failed verdict.' },
  error_runs: { ...api.count, description: 'Runs that ended in an error.' },
  paused_runs: { ...api.count, description: 'Runs that wait for a person or another program.' },
  runs_before: { ...api.count, description: 'Runs of the period before.' },
  evaluators: api.many(evaluatorOverview, 'Those with a pass or a fail.'),
  duration_seconds: [
    api.inline<QuantileSketch>()({ p50: [quantile(0.5), (took) => took], p95: [quantile(0.95), (took) => took] }),
    ({ took }) => took,
  ],
  input_tokens: api.countOrNull('Null when no run reports its tokens.'),
  output_tokens: api.countOrNull(),
  cost_usd: api.numberOrNull('Cost of the runs of known cost. Null when there are none.'),
  costed_runs: { ...api.count, description: 'Runs of known cost.' },
  tool_calls: api.count,
  tool_errors: api.count,
  steps: api.many(
    api.inline<AgentOverview['steps'][number]>()({ at: api.time, runs: api.count, failed_runs: api.count }),
    'Steps of `step_seconds` each, from the first to the last one.',
  ),
});

export const overviewSchemas = api.schemasOf(agentOverview, evaluatorOverview);

export const overviewRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/overview',
    summary:
      'Each agent in a period against the period of the same length before it. First come agents with the largest shown drop of a rate, then those with the largest share of failed runs.',
    path_parameters: {},
    query_parameters: { ...rollupParameters, ...pages },
    answer: api.object({
      ...rollupMembers,
      step_seconds: { ...api.count, description: 'Width of a step of `steps`.' },
      confidence: { ...api.number, description: 'Confidence of the interval of each rate, and of all intervals of changes together.' },
      agents: api.many(agentOverview.schema),
      next: nextCursor,
    }),
    async handle(deps, query) {
      const { isWhole, ...period } = await rollupPeriod(deps, query);
      const { store } = deps;
      const filter = { ...period, ...named(query, 'agent', 'agent'), ...tenantOf(query) };
      const stepMicros = stepOf(period);
      const evaluators = await store.rollups('evaluator', { ...filter, byAgent: true, byName: true });
      const runs = await store.rollups('run', { ...filter, byAgent: true, stepMicros });
      const past = { ...filter, from: 2 * runs.from - runs.to, to: runs.from };
      const before = {
        runs: (await store.rollups('run', { ...past, byAgent: true })).rows,
        evaluators: (await store.rollups('evaluator', { ...past, byAgent: true, byName: true })).rows,
      };
      const agents = agentOverviews({ runs: runs.rows, evaluators: evaluators.rows, before });
      const { limit, after: start = 0 } = pageOf(query);
      const shown = agents.slice(start, start + limit);
      return {
        ...rollupJson({ ...runs, isWhole }),
        step_seconds: stepMicros / 1_000_000,
        confidence: usualConfidence,
        agents: shown.map((agent) => agentOverview.write({ ...agent, steps: allSteps(agent, { ...runs, stepMicros }) })),
        next: nextOf(start + limit < agents.length ? start + limit : undefined),
      };
    },
  },
];

/** At most about a hundred steps, but for long periods. Steps of five minutes exist only for the latest hours. */
function stepOf({ from, to, now }: Pick<RollupPeriod, 'from' | 'to' | 'now'>): RollupStep {
  if (to - from <= 3 * hourMicros && from >= now - 5 * hourMicros) return fineMicros;
  return to - from <= 4 * dayMicros ? hourMicros : dayMicros;
}

/** Steps without a run too. */
function allSteps(
  { steps }: AgentOverview,
  { from, to, stepMicros }: { readonly from: Micros; readonly to: Micros; readonly stepMicros: number },
): AgentOverview['steps'] {
  const known = new Map(steps.map((step) => [step.at, step]));
  const starts: Micros[] = [];
  for (let start = from - (from % stepMicros); start < to; start += stepMicros) starts.push(start);
  return starts.map((at) => known.get(at) ?? { at, runs: 0, failedRuns: 0 });
}
