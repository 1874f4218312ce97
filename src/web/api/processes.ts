/** The routes of normal processes: what is learnt of each version of an agent. */
import { processChart } from '../../analytics/process-chart.ts';
import { processDrift, type ChangedStep, type StepShare } from '../../analytics/process-drift.ts';
import { processRules, rulesText } from '../../analytics/process-rules.ts';
import { noTenant, type Tenant } from '../../model/ids.ts';
import type { ProcessModel } from '../../model/process-model.ts';
import type { QuantileSketch } from '../../model/quantile-sketch.ts';
import * as api from '../../model/resource.ts';
import type { ProcessKey, ProcessRow, StoredProcess } from '../../model/store/process-store.ts';
import type { Store } from '../../model/store/store.ts';
import { quantileOf } from '../../statistics/quantile-sketch.ts';
import { named, pageOf, pages, type Parameters, type Route, tenantOf, textParameter } from './route.ts';

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

const members = api.part<ProcessRow>()({
  tenant: api.text,
  agent: [api.textOrNull('Null when the spans name no agent.'), ({ agent }) => (agent === '' ? null : agent)],
  version: [api.textOrNull('Null when the spans name no version.'), (row) => (row.version === '' ? null : row.version)],
  runs: { ...api.count, description: 'Passing runs that it was learnt from.' },
  frozen: [{ ...api.flag, description: 'True when nothing more is learnt.' }, ({ isFrozen }) => isFrozen],
  began_at: api.time,
  changed_at: api.time,
});
const processRow = api.resourceOf('Process', members);

/** `unit`: the value of the sketch that is written as 1. */
const figure = (unit: number): api.Shape<QuantileSketch> => {
  const at =
    (share: number) =>
    (sketch: QuantileSketch): number | null => {
      const value = quantileOf(sketch, share);
      return value === undefined ? null : value / unit;
    };
  return api.inline<QuantileSketch>()({
    runs: [{ ...api.count, description: 'Runs that have the figure.' }, (sketch) => sketch.count],
    p50: [api.numberOrNull(), at(0.5)],
    p90: [api.numberOrNull(), at(0.9)],
    p99: [api.numberOrNull(), at(0.99)],
  });
};
const figures = api.inline<ProcessModel>()({
  tool_calls: [figure(1), ({ calls }) => calls],
  seconds: [figure(1_000), ({ duration }) => duration],
  tokens: figure(1),
});

const stepShare = api.inline<StepShare>()({
  times: api.count,
  of: { ...api.count, description: 'Steps from the same tool.' },
  share: [api.share, ({ times, of }) => times / of],
});

type Drift = ReturnType<typeof processDrift> & { readonly before: StoredProcess };

const drift = api.resource<Drift>()('ProcessDrift', {
  against: [
    api.textOrNull('The version that it is compared with; null: spans without a version.'),
    ({ before }) => (before.version === '' ? null : before.version),
  ],
  against_runs: [api.count, ({ before }) => before.runs],
  g: [api.numberOrNull('The G-test of the steps from each tool, with Williams’ correction; null: too few steps.'), ({ test }) => test?.g],
  degrees: [api.orNull(api.integer, 'Degrees of freedom.'), ({ test }) => test?.degrees],
  p: [api.numberOrNull('Probability of such a difference, or a larger one, when the process is the same.'), ({ test }) => test?.p],
  pooled: [api.orNull(api.integer, 'Rare steps that the test takes together.'), ({ test }) => test?.pooled],
  new_tools: api.many(api.text),
  gone_tools: api.many(api.text),
  steps: api.many(
    api.inline<ChangedStep>()({
      from: api.textOrNull('Null for the start of the run.'),
      to: api.textOrNull('Null for the end of the run.'),
      before: stepShare,
      now: stepShare,
    }),
    'Those that differ most come first.',
  ),
});

interface Compared {
  readonly found: StoredProcess;
  /** `undefined`: no version to compare with. */
  readonly before: StoredProcess | undefined;
}

const wholeProcess = api.resourceOf(
  'ProcessModel',
  api.joined<Compared>(
    { properties: members.properties, write: ({ found }) => members.write(found) },
    api.part<Compared>()({
      figures: [figures, ({ found }) => found.model],
      drift: [
        api.optional(drift, 'Against the version before; null: there is none.'),
        ({ found, before }) => before && { ...processDrift(before.model, found.model), before },
      ],
      model: [
        {
          type: 'object',
          description:
            'The learnt process: tools with their argument paths, steps between tools, orders of tools, and sketches of quantiles.',
        },
        ({ found }) => found.model,
      ],
    }),
  ),
);

export const processSchemas = api.schemasOf(processRow, wholeProcess, drift);

export const processRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/processes',
    summary: 'Versions of agents whose normal process is learnt, those used last first.',
    path_parameters: {},
    query_parameters: { agent: { ...textParameter, description: 'Name of the agent.' }, tenant, limit: pages.limit },
    answer: api.object({ processes: api.many(processRow.schema), next: { type: 'null' } }),
    async handle({ store }, query) {
      const { limit } = pageOf(query);
      const rows = await store.processes.list({ ...named(query, 'agent', 'agent'), ...tenantOf(query), limit });
      return { processes: rows.map(processRow.write), next: null };
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
    answer: wholeProcess.schema,
    async handle({ store }, query) {
      const found = await store.processes.read(keyOf(query, query['version']));
      if (found === undefined) return undefined;
      if (query['format'] === 'mermaid') return processChart(found.model);
      if (query['format'] === 'rules') return rulesText(processRules(found.model, found));
      return wholeProcess.write({ found, before: await comparedWith(store, found, query) });
    },
  },
  {
    method: 'delete',
    path: '/processes/{agent}/{version}',
    summary:
      'Deletes the normal process of one version of an agent. The service learns it anew from the next passing runs. A missing process is not an error, so the request may be repeated.',
    path_parameters: { agent: agentInPath, version },
    query_parameters: { tenant },
    answer: api.object({ deleted: { ...api.flag, description: 'False when there was no such process.' } }),
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
