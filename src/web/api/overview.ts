/** The route of the overview: what each agent did, against the period before. */
import { agentOverviews, type AgentOverview, type EvaluatorOverview } from '../../analytics/overview.ts';
import type { JsonObject } from '../../model/json.ts';
import { type RollupStep, rollupSteps } from '../../model/store/rollup-store.ts';
import type { Micros } from '../../model/timestamp.ts';
import { type Estimate, usualConfidence } from '../../statistics/estimate.ts';
import { quantileOf } from '../../statistics/quantile-sketch.ts';
import {
  count,
  limitDefault,
  named,
  object,
  offsetOf,
  offsetText,
  pages,
  type Parameters,
  periodOf,
  QueryFault,
  type Route,
  tenantOf,
  text,
  textParameter,
  time,
} from './route.ts';
import { estimateJson, reasonOrNull } from './estimate-json.ts';
import { timeOf } from './json.ts';
import type { ApiDeps } from './route.ts';

const timeParameter = { type: 'string', maxLength: 40 } as const;
const [fineMicros, hourMicros, dayMicros] = rollupSteps;
const daysMax = 400;

/** Parameters of figures over time. */
export const rollupParameters = {
  from: { ...timeParameter, description: 'Runs that started at this time or later, in RFC 3339; when left out, a day before `to`.' },
  to: { ...timeParameter, description: 'Runs that started before this time; now when left out.' },
  agent: { ...textParameter, description: 'Name of the agent.' },
  tenant: {
    ...textParameter,
    description: 'Runs of this tenant alone: the name of the token of their spans, empty for spans without a token.',
  },
} as const;

/** Members of every answer of figures over time. */
export const rollupMembers = {
  from: { ...time, description: 'Start of the first counted step. Steps are five minutes in the last six hours, and hours before.' },
  to: { ...time, description: 'End of the last counted step.' },
  whole: { type: 'boolean', description: 'False: some changed runs are not counted yet. The service does so step by step.' },
} as const;

export interface RollupPeriod {
  readonly from: Micros;
  readonly to: Micros;
  readonly now: Micros;
  /** False: some runs are not counted yet. */
  readonly isWhole: boolean;
}

/** The period of a query, with the sums brought up to date. */
export async function rollupPeriod({ clock, refreshVersions }: ApiDeps, query: Parameters): Promise<RollupPeriod> {
  const { from, to } = periodOf(query, clock);
  if (to - from > daysMax * dayMicros)
    throw new QueryFault(`from and to are more than ${daysMax} days apart.`, 'Name a shorter time: older sums are not kept.');
  const isWhole = await refreshVersions();
  return { from, to, now: Math.floor(clock.nowMs() * 1_000), isWhole };
}

export const overviewRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/overview',
    summary:
      'Each agent in a period against the period of the same length before it. First come agents with the largest shown drop of a rate, then those with the largest share of failed runs.',
    path_parameters: {},
    query_parameters: { ...rollupParameters, ...pages },
    answer: {
      type: 'object',
      required: [...Object.keys(rollupMembers), 'step_seconds', 'confidence', 'agents', 'next'],
      properties: {
        ...rollupMembers,
        step_seconds: { ...count, description: 'Width of a step of `steps`.' },
        confidence: { type: 'number', description: 'Of the interval of each rate, and of all intervals of changes together.' },
        agents: { type: 'array', items: { $ref: '#/components/schemas/AgentOverview' } },
        next: { type: ['string', 'null'], description: 'Cursor of the next page; null on the last page.' },
      },
    },
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
      const { limit = limitDefault, cursor } = query;
      const start = typeof cursor === 'string' ? offsetOf(cursor) : 0;
      const end = start + Number(limit);
      return {
        from: timeOf(runs.from),
        to: timeOf(runs.to),
        whole: isWhole,
        step_seconds: stepMicros / 1_000_000,
        confidence: usualConfidence,
        agents: agents.slice(start, end).map((agent) => agentJson(agent, { ...runs, stepMicros })),
        next: end < agents.length ? offsetText(end) : null,
      };
    },
  },
];

/** At most about a hundred steps, but for long periods. Of late hours alone there are steps of five minutes. */
function stepOf({ from, to, now }: Pick<RollupPeriod, 'from' | 'to' | 'now'>): RollupStep {
  if (to - from <= 3 * hourMicros && from >= now - 5 * hourMicros) return fineMicros;
  return to - from <= 4 * dayMicros ? hourMicros : dayMicros;
}

function agentJson(
  overview: AgentOverview,
  { from, to, stepMicros }: { readonly from: Micros; readonly to: Micros; readonly stepMicros: number },
): JsonObject {
  const { agent, took, steps } = overview;
  const at = (share: number): number | null => {
    const micros = quantileOf(took, share);
    return micros === undefined ? null : micros / 1_000_000;
  };
  const known = new Map(steps.map((step) => [step.at, step]));
  const starts: Micros[] = [];
  for (let start = from - (from % stepMicros); start < to; start += stepMicros) starts.push(start);
  return {
    agent: agent === '' ? null : agent,
    runs: overview.runs,
    failed_runs: overview.failedRuns,
    error_runs: overview.errorRuns,
    paused_runs: overview.pausedRuns,
    runs_before: overview.runsBefore,
    evaluators: overview.evaluators.map(evaluatorJson),
    duration_seconds: { p50: at(0.5), p95: at(0.95) },
    input_tokens: overview.inputTokens ?? null,
    output_tokens: overview.outputTokens ?? null,
    cost_usd: overview.costUsd ?? null,
    costed_runs: overview.costedRuns,
    tool_calls: overview.toolCalls,
    tool_errors: overview.toolErrors,
    steps: starts.map((start) => ({
      at: timeOf(start),
      runs: known.get(start)?.runs ?? 0,
      failed_runs: known.get(start)?.failedRuns ?? 0,
    })),
  };
}

function evaluatorJson({ evaluator, passed, failed, rate, before, change }: EvaluatorOverview): JsonObject {
  return {
    evaluator,
    passed,
    failed,
    ...rateJson(rate),
    before: before === undefined ? null : rateJson(before),
    change: change === undefined ? null : { difference: change.point, low: change.low, high: change.high },
  };
}

function rateJson(estimate: Estimate): JsonObject {
  const { point, low = null, high = null, not_estimable: none = null } = estimateJson(estimate);
  return { rate: point ?? null, low, high, not_estimable: none };
}

const numberOrNull = (description: string): JsonObject => ({ type: ['number', 'null'], description });
const rateMembers = {
  rate: numberOrNull('Pass rate, weighted by one over the sample probability of each run. Null: it is not estimable.'),
  low: numberOrNull('End of the interval. Runs of one session count together, as if they were copies of one.'),
  high: numberOrNull('End of the interval.'),
  not_estimable: reasonOrNull,
} as const;

export const overviewSchemas: { readonly [name: string]: JsonObject } = {
  AgentOverview: object({
    agent: { type: ['string', 'null'], description: 'Null: runs without an agent. `other`: agents beyond the bound of a step.' },
    runs: count,
    failed_runs: { ...count, description: 'Runs with a failed verdict.' },
    error_runs: { ...count, description: 'Runs that ended in an error.' },
    paused_runs: { ...count, description: 'Runs that wait for a person or another program.' },
    runs_before: { ...count, description: 'Runs of the period before.' },
    evaluators: { type: 'array', items: { $ref: '#/components/schemas/EvaluatorOverview' }, description: 'Those with a pass or a fail.' },
    duration_seconds: object({ p50: numberOrNull('To 2 % of its value.'), p95: numberOrNull('To 2 % of its value.') }),
    input_tokens: { ...count, type: ['integer', 'null'], description: 'Null: no run tells its tokens.' },
    output_tokens: { ...count, type: ['integer', 'null'] },
    cost_usd: numberOrNull('Of the runs of known cost. Null: there is none.'),
    costed_runs: { ...count, description: 'Runs of known cost.' },
    tool_calls: count,
    tool_errors: count,
    steps: {
      type: 'array',
      items: object({ at: time, runs: count, failed_runs: count }),
      description: 'Of `step_seconds` each, from the first to the last one.',
    },
  }),
  EvaluatorOverview: object({
    evaluator: text,
    passed: count,
    failed: count,
    ...rateMembers,
    before: {
      anyOf: [object(rateMembers), { type: 'null' }],
      description: 'Of the period before. Null: it had no verdict there.',
    },
    change: {
      anyOf: [object({ difference: { type: 'number' }, low: { type: 'number' }, high: { type: 'number' } }), { type: 'null' }],
      description:
        'The rate less that of the period before, with the confidence that all changes of the overview hold together. Null: the interval of the difference holds zero.',
    },
  }),
};
