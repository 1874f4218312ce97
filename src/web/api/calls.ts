/** The routes of calls: tools, models, and distributions of what runs and calls took. */
import { histogramOf } from '../../analytics/histogram.ts';
import { isJsonArray, type JsonObject, parseJson } from '../../model/json.ts';
import type { QuantileSketch } from '../../model/quantile-sketch.ts';
import * as api from '../../model/resource.ts';
import { otherRollup, type RollupKind, type RollupQuery, type RollupRow, scoreEdges } from '../../model/store/rollup-store.ts';
import type { ArgumentFailures, ToolRow } from '../../model/store/store.ts';
import { type RunSplit, runSplits } from '../../model/store/verdict-rows.ts';
import { proportion } from '../../statistics/proportion.ts';
import { quantileOf } from '../../statistics/quantile-sketch.ts';
import { estimate } from './estimate-json.ts';
import { rollupJson, rollupMembers, rollupParameters, rollupPeriod } from './overview.ts';
import {
  type ApiDeps,
  named,
  type Parameters,
  periodOf,
  QueryFault,
  type Route,
  runParameters,
  runsOf,
  splitDescription,
  splitIn,
  splitJson,
  splitMembers,
  splitOf,
  tenantOf,
  textParameter,
} from './route.ts';

/** Most rows of one answer. */
export const rowsMax = 1_000;
const failuresMax = 20;

const distributionsOf = ['duration', 'cost', 'tokens', 'score'] as const;
const distributionsBy = ['agent', 'tool', 'model', 'evaluator'] as const;
type Of = (typeof distributionsOf)[number];
type By = (typeof distributionsBy)[number];

const quantile = (at: number, description: string): api.Shape<QuantileSketch> => {
  const { schema, write } = api.inSeconds(api.numberOrNull(description));
  return { schema, write: (sketch) => write(quantileOf(sketch, at)) };
};

const agentOfTool = api.part<ToolRow>()({ agent: api.textOrNull() });
const toolFigures = api.part<ToolRow>()({
  name: api.text,
  calls: api.count,
  errors: api.count,
  error_rate: [
    api.described(estimate, 'Error rate of the calls that ran, with a 95 % interval as if they were independent.'),
    ({ errors, calls, notExecuted }) => proportion({ hits: errors, of: calls - notExecuted }),
  ],
  not_executed: { ...api.count, description: 'Requested by a model without a sign that it ran.' },
  mean_seconds: [api.inSeconds(api.numberOrNull()), ({ tookMicros }) => tookMicros],
  p50_seconds: [quantile(0.5, 'Median, to 2 % of its value.'), ({ times }) => times],
  p95_seconds: [quantile(0.95, 'Accurate to 2 %.'), ({ times }) => times],
  argument_failures: [
    api.many(
      api.inline<ArgumentFailures>()({
        path: {
          ...api.text,
          description: 'Path of the argument, with dots; `[]` means any place in a list. Empty for the arguments as a whole.',
        },
        keyword: { ...api.text, description: 'Keyword of the JSON Schema of the tool.' },
        count: [{ ...api.count, description: 'Calls.' }, ({ calls }) => calls],
      }),
      'Arguments that the schema of the tool refuses, as `tool_call_validity` found them, most first.',
    ),
    ({ argumentFailures }) => argumentFailures.slice(0, failuresMax),
  ],
});

export const tool = api.resourceOf('Tool', api.joined(agentOfTool, toolFigures), splitMembers);

function toolJson(row: ToolRow, by: RunSplit | undefined): JsonObject {
  return { ...agentOfTool.write(row), ...splitJson(by, row.of), ...toolFigures.write(row) };
}

type ModelRow = RollupRow<'model'>;

const model = api.resourceOf(
  'Model',
  api.part<ModelRow>()({
    model: [api.textOrNull('Null when the spans name none.'), ({ name }) => (name === '' ? null : name)],
    runs: [{ ...api.count, description: 'Runs with a call of the model.' }, ({ counts }) => counts.runs],
    calls: [api.count, ({ counts }) => counts.calls],
    errors: [{ ...api.count, description: 'Calls that ended in an error.' }, ({ counts }) => counts.errors],
    p50_seconds: [quantile(0.5, 'Median of the calls with times, to 2 % of its value.'), ({ sketches }) => sketches.took],
    p95_seconds: [quantile(0.95, 'Accurate to 2 %.'), ({ sketches }) => sketches.took],
    input_tokens: [
      api.countOrNull('Sum over the calls that report them. Null when none does.'),
      ({ counts }) => (counts.tokened === 0 ? null : counts.inputTokens),
    ],
    output_tokens: [api.countOrNull(), ({ counts }) => (counts.tokened === 0 ? null : counts.outputTokens)],
    cost_usd: [
      api.numberOrNull('Cost of the runs whose cost is known from `prices` or from the spans. Null when there are none.'),
      ({ counts }) => (counts.costed === 0 ? null : counts.cost),
    ],
    costed_runs: [api.count, ({ counts }) => counts.costed],
  }),
  { agent: api.textOrNull('With `by=agent`.') },
);

interface Distribution {
  /** Empty: the spans name none. */
  readonly name: string;
  readonly count: number;
  readonly mean: number | undefined;
  /** `undefined` where values are counted in bins. */
  readonly quantile: (share: number) => number | undefined;
  readonly histogram: readonly { readonly from: number; readonly to: number; readonly count: number }[];
}

const distribution = api.resource<Distribution>()('Distribution', {
  name: [
    api.textOrNull('Name of the agent, the tool, the model or the evaluator. Null when the spans name none.'),
    ({ name }) => (name === '' ? null : name),
  ],
  count: { ...api.count, description: 'Number of values.' },
  mean: api.numberOrNull('Null when it is not summed, as for model calls.'),
  p50: [api.numberOrNull('Accurate to 2 %. Null for scores, which are counted in bins.'), (one) => one.quantile(0.5)],
  p90: [api.numberOrNull(), (one) => one.quantile(0.9)],
  p95: [api.numberOrNull(), (one) => one.quantile(0.95)],
  p99: [api.numberOrNull(), (one) => one.quantile(0.99)],
  histogram: api.many(
    api.inline<Distribution['histogram'][number]>()({ from: api.number, to: api.number, count: api.count }),
    'Values above `from` and up to `to`; values of 0 have a separate bin.',
  ),
});

export const callSchemas = api.schemasOf(model, distribution);

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
    answer: api.object({ ...rollupMembers, tools: api.many(tool.schema), next: { type: 'null' } }),
    async handle(deps, query) {
      const split = splitOf(query);
      const { rows, from, to, isWhole } = await (split === undefined &&
      !['version', 'model', 'prompt'].some((name) => Object.hasOwn(query, name))
        ? summedTools(deps, query)
        : readTools(deps, query));
      const tools = rows.slice(0, rowsMax).map((row) => toolJson(row, split));
      return { ...rollupJson({ from, to, isWhole }), tools, next: null };
    },
  },
  {
    method: 'get',
    path: '/models',
    summary: `Model calls by model, most first. At most ${rowsMax} rows.`,
    path_parameters: {},
    query_parameters: { ...rollupParameters, by: { enum: ['agent'], description: 'Rows for each agent and model.' } },
    answer: api.object({ ...rollupMembers, models: api.many(model.schema), next: { type: 'null' } }),
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
      const models = rows
        .toSorted((one, other) => other.counts.calls - one.counts.calls)
        .slice(0, rowsMax)
        .map((row) => ({ ...(byAgent ? { agent: row.agent === '' ? null : row.agent } : {}), ...model.write(row) }));
      return { ...rollupJson({ from, to, isWhole }), models, next: null };
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
    answer: api.object({
      of: { enum: distributionsOf },
      by: { enum: distributionsBy },
      unit: { enum: ['seconds', 'usd', 'tokens', 'score'] },
      ...rollupMembers,
      distributions: api.many(distribution.schema),
      next: { type: 'null' },
    }),
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
        ...rollupJson({ from, to, isWhole }),
        distributions: rows
          .toSorted((one, other) => other.count - one.count)
          .slice(0, rowsMax)
          .map(distribution.write),
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
  const rows = await store.tools({ ...period, ...runsOf(query), ...splitIn(query) });
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

const microsPerSecond = 1_000_000;

const units: { readonly [of in Of]: { readonly name: string; readonly of: number } } = {
  duration: { name: 'seconds', of: microsPerSecond },
  cost: { name: 'usd', of: 1 },
  tokens: { name: 'tokens', of: 1 },
  score: { name: 'score', of: 1 },
};

interface Values {
  readonly sketch: QuantileSketch;
  /** Mean of all values, exact. `undefined` when not summed. */
  readonly sum: number | undefined;
  readonly count: number;
}

type Source = { [kind in RollupKind]: { readonly kind: kind; readonly values: (row: RollupRow<kind>) => Values } }[RollupKind];

/** The kind of sums behind each distribution. */
const sources: { readonly [of in Exclude<Of, 'score'>]: { readonly [by in By]?: Source } } = {
  duration: {
    agent: { kind: 'run', values: ({ counts, sketches }) => ({ sketch: sketches.took, sum: counts.took, count: counts.timed }) },
    tool: { kind: 'tool', values: ({ counts, sketches }) => ({ sketch: sketches.took, sum: counts.took, count: counts.timed }) },
    model: { kind: 'model', values: ({ sketches }) => ({ sketch: sketches.took, sum: undefined, count: sketches.took.count }) },
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
): Promise<Found<Distribution>> {
  const source = sources[of][by] as { readonly kind: RollupKind; readonly values: (row: RollupRow<RollupKind>) => Values } | undefined;
  if (source === undefined) return { rows: [], from: filter.from, to: filter.to };
  const found = await store.rollups(source.kind, { ...filter, ...(by === 'agent' ? { byAgent: true } : { byName: true }) });
  const unit = units[of].of;
  const rows = found.rows.flatMap((row): readonly Distribution[] => {
    const { sketch, sum, count: values } = source.values(row);
    if (sketch.count === 0) return [];
    return [
      {
        name: by === 'agent' ? row.agent : row.name,
        count: values,
        mean: sum === undefined || values === 0 ? undefined : sum / values / unit,
        quantile(share) {
          const value = quantileOf(sketch, share);
          return value === undefined ? undefined : value / unit;
        },
        histogram: histogramOf(sketch, unit),
      },
    ];
  });
  return { ...found, rows };
}

/** Scores are counted in bins, too coarse for percentiles. */
async function scoreRows({ store }: ApiDeps, filter: Filter, by: By): Promise<Found<Distribution>> {
  const found = await store.rollups('evaluator', { ...filter, ...(by === 'agent' ? { byAgent: true } : { byName: true }) });
  const rows = found.rows.flatMap(({ agent, name, counts, keyed }): readonly Distribution[] => {
    if (counts.scored === 0) return [];
    const bins = new Map(keyed);
    return [
      {
        name: by === 'agent' ? agent : name,
        count: counts.scored,
        mean: counts.score / counts.scored,
        quantile: () => undefined,
        histogram: scoreEdges.map((edge, at) => ({ from: scoreEdges[at - 1] ?? 0, to: edge, count: bins.get(String(at)) ?? 0 })),
      },
    ];
  });
  return { ...found, rows };
}
