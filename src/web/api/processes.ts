/** The routes of normal processes: what is learnt of each version of an agent. */
import { processChart } from '../../analytics/process-chart.ts';
import { processDrift, type ChangedStep, type StepShare } from '../../analytics/process-drift.ts';
import { processRules, rulesText } from '../../analytics/process-rules.ts';
import { noTenant, type Tenant } from '../../model/ids.ts';
import type { JsonObject, JsonValue } from '../../model/json.ts';
import type { ProcessModel } from '../../model/process-model.ts';
import type { QuantileSketch } from '../../model/quantile-sketch.ts';
import type { ProcessKey, ProcessRow, StoredProcess } from '../../model/store/process-store.ts';
import type { Store } from '../../model/store/store.ts';
import { timeText } from '../../model/timestamp.ts';
import { quantileOf } from '../../statistics/quantile-sketch.ts';
import { count, limitDefault, named, object, pages, type Parameters, type Route, tenantOf, text, textParameter, time } from './route.ts';

/** Stands for a name that the spans do not carry: a path has no empty part. */
const noName = '-';

const tenant = { ...textParameter, description: 'Name of the token of the spans; empty for spans without a token.' } as const;
const version = {
  ...textParameter,
  minLength: 1,
  description: `Version of the agent; \`${noName}\` for spans without one.`,
} as const;

const agentInPath = { ...textParameter, minLength: 1, description: `Name of the agent; \`${noName}\` for spans without one.` } as const;
const missing = {
  message: 'No process of this version is learnt.',
  todo: 'See GET /api/v1/processes; an evaluator such as process_conformance learns from passing runs.',
} as const;

export const processRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/processes',
    summary: 'Versions of agents whose normal process is learnt, those used last first.',
    path_parameters: {},
    query_parameters: { agent: { ...textParameter, description: 'Name of the agent.' }, tenant, limit: pages.limit },
    answer: {
      type: 'object',
      required: ['processes', 'next'],
      properties: { processes: { type: 'array', items: { $ref: '#/components/schemas/Process' } }, next: { type: 'null' } },
    },
    async handle({ store }, query) {
      const limit = typeof query['limit'] === 'number' ? query['limit'] : limitDefault;
      const rows = await store.processes.list({ ...named(query, 'agent', 'agent'), ...tenantOf(query), limit });
      return { processes: rows.map(rowJson), next: null };
    },
  },
  {
    method: 'get',
    path: '/processes/{agent}/{version}',
    summary:
      'The normal process of one version of an agent, and how it differs from that of the version before. The answer is also the file for `options.model` of an evaluator.',
    path_parameters: { agent: agentInPath, version },
    query_parameters: {
      tenant,
      format: {
        enum: ['json', 'mermaid', 'rules'],
        default: 'json',
        description: '`mermaid`: a flowchart. `rules`: entries of `evaluators:` as YAML, with the reason of each.',
      },
      against: { ...version, description: 'The version to compare with; the one that was begun before when left out.' },
    },
    formats: {
      mermaid: { type: 'text/plain; charset=utf-8', ending: 'mmd' },
      rules: { type: 'application/yaml; charset=utf-8', ending: 'yaml' },
    },
    missing,
    answer: { $ref: '#/components/schemas/ProcessModel' },
    async handle({ store }, query) {
      const found = await store.processes.read(keyOf(query, query['version']));
      if (found === undefined) return undefined;
      if (query['format'] === 'mermaid') return processChart(found.model);
      if (query['format'] === 'rules') return rulesText(processRules(found.model, found));
      const before = await comparedWith(store, found, query);
      return {
        ...rowJson(found),
        figures: figuresJson(found.model),
        drift: before === undefined ? null : driftJson(before, found),
        model: found.model as unknown as JsonValue,
      };
    },
  },
  {
    method: 'delete',
    path: '/processes/{agent}/{version}',
    summary:
      'Deletes the normal process of one version of an agent. The service learns it anew from the next passing runs. A missing process is no error, so the request may be repeated.',
    path_parameters: { agent: agentInPath, version },
    query_parameters: { tenant },
    answer: object({ deleted: { type: 'boolean', description: 'False: there was no such process.' } }),
    handle: async ({ removeProcess }, query) => ({ deleted: await removeProcess(keyOf(query, query['version'])) }),
  },
];

function keyOf({ tenant: of, agent }: Parameters, versionOf: string | number | undefined): ProcessKey {
  const nameOf = (given: string | number | undefined): string => (given === noName || given === undefined ? '' : String(given));
  return { tenant: typeof of === 'string' ? (of as Tenant) : noTenant, agent: nameOf(agent), version: nameOf(versionOf) };
}

async function comparedWith(
  { processes }: Pick<Store, 'processes'>,
  found: StoredProcess,
  query: Parameters,
): Promise<StoredProcess | undefined> {
  const { against } = query;
  return against === undefined ? await processes.before(found) : await processes.read(keyOf(query, against));
}

function rowJson({ tenant: of, agent, version: own, runs, isFrozen, beganAt, changedAt }: ProcessRow): JsonObject {
  return {
    tenant: of,
    agent: agent === '' ? null : agent,
    version: own === '' ? null : own,
    runs,
    frozen: isFrozen,
    began_at: timeOf(beganAt),
    changed_at: timeOf(changedAt),
  };
}

function timeOf(micros: number): string {
  return timeText(BigInt(micros) * 1_000n);
}

function figuresJson({ calls, duration, tokens }: ProcessModel): JsonObject {
  const figure = (sketch: QuantileSketch, unit: number): JsonObject => {
    const at = (share: number): number | null => {
      const value = quantileOf(sketch, share);
      return value === undefined ? null : value / unit;
    };
    return { runs: sketch.count, p50: at(0.5), p90: at(0.9), p99: at(0.99) };
  };
  return { tool_calls: figure(calls, 1), seconds: figure(duration, 1_000), tokens: figure(tokens, 1) };
}

function driftJson(before: StoredProcess, now: StoredProcess): JsonObject {
  const { test, steps, newTools, goneTools } = processDrift(before.model, now.model);
  return {
    against: before.version === '' ? null : before.version,
    against_runs: before.runs,
    g: test?.g ?? null,
    degrees: test?.degrees ?? null,
    p: test?.p ?? null,
    pooled: test?.pooled ?? null,
    new_tools: newTools,
    gone_tools: goneTools,
    steps: steps.map(stepJson),
  };
}

function stepJson({ from, to, before, now }: ChangedStep): JsonObject {
  const share = ({ times, of }: StepShare): JsonObject => ({ times, of, share: times / of });
  return { from, to, before: share(before), now: share(now) };
}

const orNull = (type: string, description: string): JsonObject => ({ type: [type, 'null'], description });

const row: JsonObject = {
  tenant: text,
  agent: orNull('string', 'Null: the spans name no agent.'),
  version: orNull('string', 'Null: the spans name no version.'),
  runs: { ...count, description: 'Passing runs that it was learnt from.' },
  frozen: { type: 'boolean', description: 'True: nothing more is learnt.' },
  began_at: time,
  changed_at: time,
};

const figure: JsonObject = object({
  runs: { ...count, description: 'Runs that have the figure.' },
  p50: { type: ['number', 'null'] },
  p90: { type: ['number', 'null'] },
  p99: { type: ['number', 'null'] },
});

const stepShare: JsonObject = object({
  times: count,
  of: { ...count, description: 'Steps from the same tool.' },
  share: { type: 'number', minimum: 0, maximum: 1 },
});

export const processSchemas: { readonly [name: string]: JsonObject } = {
  Process: object(row),
  ProcessModel: object({
    ...row,
    figures: object({ tool_calls: figure, seconds: figure, tokens: figure }),
    drift: {
      anyOf: [{ $ref: '#/components/schemas/ProcessDrift' }, { type: 'null' }],
      description: 'Against the version before; null: there is none.',
    },
    model: {
      type: 'object',
      description: 'What is learnt: tools with their argument paths, steps between tools, orders of tools, and sketches of quantiles.',
    },
  }),
  ProcessDrift: object({
    against: orNull('string', 'The version that it is compared with; null: spans without a version.'),
    against_runs: count,
    g: orNull('number', 'The G-test of the steps from each tool, with Williams’ correction; null: too few steps.'),
    degrees: orNull('integer', 'Degrees of freedom.'),
    p: orNull('number', 'Probability of such a difference, or a larger one, when the process is the same.'),
    pooled: orNull('integer', 'Rare steps that the test takes together.'),
    new_tools: { type: 'array', items: text },
    gone_tools: { type: 'array', items: text },
    steps: {
      type: 'array',
      items: object({
        from: orNull('string', 'Null: the start of the run.'),
        to: orNull('string', 'Null: the end of the run.'),
        before: stepShare,
        now: stepShare,
      }),
      description: 'Those that differ most come first.',
    },
  }),
};
