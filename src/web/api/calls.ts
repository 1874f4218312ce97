/** The routes of calls: tools, models, and distributions of what runs and calls took. */
import { proportion } from '../../statistics/proportion.ts';
import { estimateJson } from './estimate-json.ts';
import { histogramOf } from '../../analytics/histogram.ts';
import { isJsonArray, type JsonObject, parseJson } from '../../model/json.ts';
import type { QuantileSketch } from '../../model/quantile-sketch.ts';
import { otherRollup, type RollupKind, type RollupQuery, type RollupRow, scoreEdges } from '../../model/store/rollup-store.ts';
import type { ArgumentFailures, ToolRow } from '../../model/store/store.ts';
import { type RunSplit, runSplits } from '../../model/store/verdict-rows.ts';
import { quantileOf } from '../../statistics/quantile-sketch.ts';
import { splitJson, timeOf } from './json.ts';
import { rollupMembers, rollupParameters, rollupPeriod } from './overview.ts';
import {
  type ApiDeps,
  count,
  named,
  object,
  type Parameters,
  periodOf,
  QueryFault,
  type Route,
  runParameters,
  runsOf,
  splitDescription,
  splitOf,
  tenantOf,
  textParameter,
} from './route.ts';

/** Of one answer. */
export const rowsMax = 1_000;
const failuresMax = 20;

const distributionsOf = ['duration', 'cost', 'tokens', 'score'] as const;
const distributionsBy = ['agent', 'tool', 'model', 'evaluator'] as const;
type Of = (typeof distributionsOf)[number];
type By = (typeof distributionsBy)[number];

export const callRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/tools',
    summary: `Calls by agent and tool. Sums over time answer; with \`version\`, \`model\`, \`prompt\` or \`by\` the runs themselves do, which takes longer. At most ${rowsMax} rows.`,
    path_parameters: {},
    query_parameters: {
      ...rollupParameters,
      ...runParameters,
      by: { enum: runSplits, description: `${splitDescription}, the others as \`other\`.` },
    },
    answer: {
      type: 'object',
      required: [...Object.keys(rollupMembers), 'tools', 'next'],
      properties: { ...rollupMembers, tools: { type: 'array', items: { $ref: '#/components/schemas/Tool' } }, next: { type: 'null' } },
    },
    async handle(deps, query) {
      const split = splitOf(query);
      const { rows, from, to, isWhole } = await (split === undefined &&
      !['version', 'model', 'prompt'].some((name) => Object.hasOwn(query, name))
        ? summedTools(deps, query)
        : readTools(deps, query));
      return {
        from: timeOf(from),
        to: timeOf(to),
        whole: isWhole,
        tools: rows.slice(0, rowsMax).map((row) => toolJson(row, split)),
        next: null,
      };
    },
  },
  {
    method: 'get',
    path: '/models',
    summary: `Model calls by model, most first. At most ${rowsMax} rows.`,
    path_parameters: {},
    query_parameters: { ...rollupParameters, by: { enum: ['agent'], description: 'Rows for each agent and model.' } },
    answer: {
      type: 'object',
      required: [...Object.keys(rollupMembers), 'models', 'next'],
      properties: { ...rollupMembers, models: { type: 'array', items: { $ref: '#/components/schemas/Model' } }, next: { type: 'null' } },
    },
    async handle(deps, query) {
      const { isWhole, ...period } = await rollupPeriod(deps, query);
      const byAgent = query['by'] === 'agent';
      const { rows, from, to } = await deps.store.rollups('model', {
        ...period,
        ...named(query, 'agent', 'agent'),
        ...tenantOf(query),
        byAgent,
        byName: true,
      });
      return {
        from: timeOf(from),
        to: timeOf(to),
        whole: isWhole,
        models: rows
          .toSorted((one, other) => other.counts.calls - one.counts.calls)
          .slice(0, rowsMax)
          .map((row) => modelJson(row, byAgent)),
        next: null,
      };
    },
  },
  {
    method: 'get',
    path: '/distributions',
    summary: `Percentiles and the histogram of what runs and calls took, cost and scored. At most ${rowsMax} distributions, those of the most values first.`,
    path_parameters: {},
    query_parameters: {
      ...rollupParameters,
      of: {
        enum: distributionsOf,
        default: 'duration',
        description:
          '`duration`: of runs, of tool calls or of model calls. `cost` and `tokens`: of one run, with `by=model` of what one run used of the model. `score`: with `by=evaluator`, or with `by=agent` and `evaluator`.',
      },
      by: { enum: distributionsBy, default: 'agent' },
      evaluator: { ...textParameter, description: 'Name of the evaluator, for scores.' },
    },
    answer: {
      type: 'object',
      required: ['of', 'by', 'unit', ...Object.keys(rollupMembers), 'distributions', 'next'],
      properties: {
        of: { enum: distributionsOf },
        by: { enum: distributionsBy },
        unit: { enum: ['seconds', 'usd', 'tokens', 'score'] },
        ...rollupMembers,
        distributions: { type: 'array', items: { $ref: '#/components/schemas/Distribution' } },
        next: { type: 'null' },
      },
    },
    async handle(deps, query) {
      const of = distributionsOf.find((one) => one === query['of']) ?? 'duration';
      const by = distributionsBy.find((one) => one === query['by']) ?? 'agent';
      if (of === 'score') checkScores(by, query);
      else if (sources[of][by] === undefined)
        throw new QueryFault(`of=${of} has no by=${by}.`, `Write by=${Object.keys(sources[of]).join(' or by=')} with it.`);
      const { isWhole, ...period } = await rollupPeriod(deps, query);
      const filter = { ...period, ...named(query, 'agent', 'agent'), ...tenantOf(query) };
      const { rows, from, to } = await (of === 'score'
        ? scoreRows(deps, { ...filter, ...named(query, 'evaluator', 'name') }, by)
        : sketchRows(deps, filter, { of, by }));
      return {
        of,
        by,
        unit: units[of].name,
        from: timeOf(from),
        to: timeOf(to),
        whole: isWhole,
        distributions: rows.toSorted((one, other) => Number(other['count']) - Number(one['count'])).slice(0, rowsMax),
        next: null,
      };
    },
  },
];

interface Found<Row> {
  readonly rows: readonly Row[];
  readonly from: number;
  readonly to: number;
}

type FoundTools = Found<ToolRow> & { readonly isWhole: boolean };

async function summedTools(deps: ApiDeps, query: Parameters): Promise<FoundTools> {
  const { isWhole, ...period } = await rollupPeriod(deps, query);
  const filter = { ...period, ...named(query, 'agent', 'agent'), ...tenantOf(query) };
  const { rows, from, to } = await deps.store.rollups('tool', { ...filter, byAgent: true, byName: true });
  return {
    rows: rows.map(toolRow).toSorted((one, other) => other.calls - one.calls),
    from,
    to,
    isWhole,
  };
}

async function readTools({ store, clock }: ApiDeps, query: Parameters): Promise<FoundTools> {
  const period = periodOf(query, clock);
  const split = splitOf(query);
  const rows = await store.tools({ ...period, ...runsOf(query), ...(split === undefined ? {} : { by: split }) });
  return { rows, ...period, isWhole: true };
}

function toolRow({ agent, name, counts, sketches, keyed }: RollupRow<'tool'>): ToolRow {
  const { calls, errors, notExecuted, timed, took } = counts;
  return {
    of: undefined,
    agent: agent === '' ? undefined : agent,
    name,
    calls,
    errors,
    notExecuted,
    tookMicros: timed === 0 ? undefined : took / timed,
    times: sketches.took,
    argumentFailures: keyed.map(failureOf),
  };
}

function failureOf([key, calls]: readonly [string, number]): ArgumentFailures {
  const parts = parseJson(key);
  const [path, keyword] = isJsonArray(parts ?? null) ? (parts as readonly unknown[]) : ['', otherRollup];
  return { path: String(path), keyword: String(keyword), calls };
}

function toolJson(
  { agent, of, name, calls, errors, notExecuted, tookMicros, times, argumentFailures }: ToolRow,
  by: RunSplit | undefined,
): JsonObject {
  return {
    agent: agent ?? null,
    ...splitJson(by, of),
    name,
    calls,
    errors,
    error_rate: estimateJson(proportion({ hits: errors, of: calls - notExecuted })),
    not_executed: notExecuted,
    mean_seconds: tookMicros === undefined ? null : tookMicros / microsPerSecond,
    p50_seconds: quantile(times, 0.5, microsPerSecond),
    p95_seconds: quantile(times, 0.95, microsPerSecond),
    argument_failures: argumentFailures.slice(0, failuresMax).map(({ path, keyword, calls: own }) => ({ path, keyword, count: own })),
  };
}

const microsPerSecond = 1_000_000;

function quantile(sketch: QuantileSketch, share: number, unit: number): number | null {
  const value = quantileOf(sketch, share);
  return value === undefined ? null : value / unit;
}

function modelJson({ agent, name, counts, sketches }: RollupRow<'model'>, byAgent: boolean): JsonObject {
  return {
    ...(byAgent ? { agent: agent === '' ? null : agent } : {}),
    model: name === '' ? null : name,
    runs: counts.runs,
    calls: counts.calls,
    errors: counts.errors,
    p50_seconds: quantile(sketches.took, 0.5, microsPerSecond),
    p95_seconds: quantile(sketches.took, 0.95, microsPerSecond),
    input_tokens: counts.tokened === 0 ? null : counts.inputTokens,
    output_tokens: counts.tokened === 0 ? null : counts.outputTokens,
    cost_usd: counts.costed === 0 ? null : counts.cost,
    costed_runs: counts.costed,
  };
}

const units: { readonly [of in Of]: { readonly name: string; readonly of: number } } = {
  duration: { name: 'seconds', of: microsPerSecond },
  cost: { name: 'usd', of: 1 },
  tokens: { name: 'tokens', of: 1 },
  score: { name: 'score', of: 1 },
};

interface Values {
  readonly sketch: QuantileSketch;
  /** Of all values; the mean is exact. */
  readonly sum: number;
  readonly count: number;
}

type Source = { [kind in RollupKind]: { readonly kind: kind; readonly values: (row: RollupRow<kind>) => Values } }[RollupKind];

/** The kind of sums behind each distribution. */
const sources: { readonly [of in Exclude<Of, 'score'>]: { readonly [by in By]?: Source } } = {
  duration: {
    agent: { kind: 'run', values: ({ counts, sketches }) => ({ sketch: sketches.took, sum: counts.took, count: counts.timed }) },
    tool: { kind: 'tool', values: ({ counts, sketches }) => ({ sketch: sketches.took, sum: counts.took, count: counts.timed }) },
    model: { kind: 'model', values: ({ sketches }) => ({ sketch: sketches.took, sum: Number.NaN, count: sketches.took.count }) },
  },
  cost: {
    agent: { kind: 'run', values: ({ counts, sketches }) => ({ sketch: sketches.cost, sum: counts.cost, count: counts.costed }) },
    model: { kind: 'model', values: ({ counts, sketches }) => ({ sketch: sketches.cost, sum: counts.cost, count: counts.costed }) },
  },
  tokens: {
    agent: {
      kind: 'run',
      values: ({ counts, sketches }) => ({ sketch: sketches.tokens, sum: counts.inputTokens + counts.outputTokens, count: counts.tokened }),
    },
    model: {
      kind: 'model',
      values: ({ counts, sketches }) => ({ sketch: sketches.tokens, sum: counts.inputTokens + counts.outputTokens, count: counts.tokened }),
    },
  },
};

function checkScores(by: By, query: Parameters): void {
  if (by === 'evaluator' || (by === 'agent' && typeof query['evaluator'] === 'string')) return;
  throw new QueryFault(`of=score has no by=${by} without an evaluator.`, 'Write by=evaluator, or by=agent with the name of an evaluator.');
}

type Filter = Omit<RollupQuery, 'byAgent' | 'byName' | 'stepMicros'>;

async function sketchRows(
  { store }: ApiDeps,
  filter: Filter,
  { of, by }: { readonly of: Exclude<Of, 'score'>; readonly by: By },
): Promise<Found<JsonObject>> {
  const source = sources[of][by] as { readonly kind: RollupKind; readonly values: (row: RollupRow<RollupKind>) => Values } | undefined;
  if (source === undefined) return { rows: [], from: filter.from, to: filter.to };
  const found = await store.rollups(source.kind, { ...filter, ...(by === 'agent' ? { byAgent: true } : { byName: true }) });
  const unit = units[of].of;
  const rows = found.rows.flatMap((row) => {
    const { sketch, sum, count: values } = source.values(row);
    if (sketch.count === 0) return [];
    const name = by === 'agent' ? row.agent : row.name;
    return [
      {
        name: name === '' ? null : name,
        count: values,
        mean: Number.isNaN(sum) || values === 0 ? null : sum / values / unit,
        ...Object.fromEntries(percentiles.map(([key, share]) => [key, quantile(sketch, share, unit)])),
        histogram: histogramOf(sketch, unit).map((bin) => ({ ...bin })),
      },
    ];
  });
  return { ...found, rows };
}

const percentiles = [
  ['p50', 0.5],
  ['p90', 0.9],
  ['p95', 0.95],
  ['p99', 0.99],
] as const;

/** Scores are counted in bins, too coarse for percentiles. */
async function scoreRows({ store }: ApiDeps, filter: Filter, by: By): Promise<Found<JsonObject>> {
  const found = await store.rollups('evaluator', { ...filter, ...(by === 'agent' ? { byAgent: true } : { byName: true }) });
  const rows = found.rows.flatMap(({ agent, name, counts, keyed }) => {
    if (counts.scored === 0) return [];
    const bins = new Map(keyed);
    const own = by === 'agent' ? agent : name;
    return [
      {
        name: own === '' ? null : own,
        count: counts.scored,
        mean: counts.score / counts.scored,
        ...Object.fromEntries(percentiles.map(([key]) => [key, null])),
        histogram: scoreEdges.map((edge, at) => ({ from: scoreEdges[at - 1] ?? 0, to: edge, count: bins.get(String(at)) ?? 0 })),
      },
    ];
  });
  return { ...found, rows };
}

const numberOrNull = (description?: string): JsonObject => ({
  type: ['number', 'null'],
  ...(description === undefined ? {} : { description }),
});

export const callSchemas: { readonly [name: string]: JsonObject } = {
  Model: object(
    {
      model: { type: ['string', 'null'], description: 'Null: the spans name none.' },
      runs: { ...count, description: 'Runs with a call of the model.' },
      calls: count,
      errors: { ...count, description: 'Calls that ended in an error.' },
      p50_seconds: numberOrNull('Median of the calls with times, to 2 % of its value.'),
      p95_seconds: numberOrNull('To 2 % of its value.'),
      input_tokens: { ...count, type: ['integer', 'null'], description: 'Of the calls that tell them. Null: none does.' },
      output_tokens: { ...count, type: ['integer', 'null'] },
      cost_usd: numberOrNull('Of the runs whose cost is known, by `prices` or as the spans tell it. Null: there is none.'),
      costed_runs: count,
    },
    { agent: { type: ['string', 'null'], description: 'With `by=agent`.' } },
  ),
  Distribution: object({
    name: { type: ['string', 'null'], description: 'Of the agent, the tool, the model or the evaluator. Null: the spans name none.' },
    count: { ...count, description: 'Number of values.' },
    mean: numberOrNull('Null: not summed, as for model calls.'),
    p50: numberOrNull('To 2 % of its value. Null: scores, which are counted in bins.'),
    p90: numberOrNull(),
    p95: numberOrNull(),
    p99: numberOrNull(),
    histogram: {
      type: 'array',
      items: object({ from: { type: 'number' }, to: { type: 'number' }, count }),
      description: 'Values above `from` and up to `to`; values of 0 stand in a bin of their own.',
    },
  }),
};
