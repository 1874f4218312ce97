/** The experiment routes: what experiments are stored, their results, and two of them compared. */
import { comparisonReports } from '../../analytics/reports/comparison-reports.ts';
import { comparison } from '../../analytics/comparison-json.ts';
import { experimentComparison } from '../../analytics/experiment-comparison.ts';
import { experimentInHistory, experimentWithSummary, resultResource, storedExperiment } from '../../analytics/experiment-json.ts';
import { experimentSummary } from '../../analytics/experiment-summary.ts';
import { experimentIdPattern, resultStatuses } from '../../model/experiment.ts';
import { tenant as tenantNamed } from '../../model/ids.ts';
import * as api from '../../model/resource.ts';
import {
  deletedExperimentsMax,
  type ExperimentStore,
  referredExperiment,
  resultsPageMax,
  type StoredExperiment,
} from '../../model/store/experiment-store.ts';
import { analysedMax, wholeResults } from './experiment-results.ts';
import {
  list,
  named,
  nextOf,
  pageOf,
  pages,
  type Parameters,
  QueryFault,
  Refusal,
  type Route,
  tenantOf,
  textParameter,
  timeAt,
} from './route.ts';
import { present } from '../../model/present.ts';

const id = { type: 'string', pattern: experimentIdPattern, description: 'Id of the experiment.' } as const;
const tenant = { ...textParameter, description: 'Tenant of the experiment; empty when left out.' } as const;
const reference = {
  ...textParameter,
  minLength: 1,
  description: 'Id of an experiment, or a name, which means the newest one of that name.',
} as const;
const missing = { message: 'The store has no such experiment.', todo: 'GET /api/v1/experiments lists the experiments.' };
const refusals = { 422: `An experiment has more than ${analysedMax} results.` } as const;

export const experimentSchemas = api.schemasOf(storedExperiment, experimentWithSummary, resultResource, experimentInHistory, comparison);

export const experimentRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/experiments',
    summary: 'Experiments, newest first.',
    path_parameters: {},
    query_parameters: {
      name: { ...textParameter, description: 'Experiments of this name.' },
      dataset: { ...textParameter, description: 'Experiments on a dataset, or file, of this name.' },
      tenant: { ...tenant, description: 'Tenant of the experiments; all when left out.' },
      ...pages,
    },
    answer: list('experiments', storedExperiment),
    async handle({ store }, query) {
      const page = await store.experiments.list({
        ...tenantOf(query),
        ...named(query, 'name', 'name'),
        ...named(query, 'dataset', 'dataset'),
        ...pageOf(query),
      });
      return { experiments: page.experiments.map(storedExperiment.write), next: nextOf(page.next) };
    },
  },
  {
    method: 'get',
    path: '/experiments/compare',
    summary: 'Two experiments, compared on the examples that both have.',
    path_parameters: {},
    query_parameters: {
      a: reference,
      b: reference,
      tenant,
      format: { enum: comparisonReports.map((one) => one.name), description: 'A file of this form. Left out: JSON as an answer.' },
    },
    answer: comparison.schema,
    formats: Object.fromEntries(comparisonReports.map(({ name, type, ending }) => [name, { type, ending }])),
    fileName: ({ a, b }) => [a, b].map((one) => String(one).replaceAll(/[^A-Za-z0-9._-]/g, '_')).join('-against-'),
    missing,
    refusals,
    async handle({ store: { experiments } }, query) {
      const [first, second] = [await referred(experiments, query, 'a'), await referred(experiments, query, 'b')];
      if (first === undefined || second === undefined) return undefined;
      const [one, other] = [await wholeResults(experiments, first), await wholeResults(experiments, second)];
      const compared = experimentComparison({ experiment: first, results: one }, { experiment: second, results: other });
      const report = comparisonReports.find((known) => known.name === query['format']);
      return report === undefined ? comparison.write(compared) : report.write(compared);
    },
  },
  {
    method: 'get',
    path: '/experiments/{id}',
    summary: 'One experiment with its rates by evaluator.',
    path_parameters: { id },
    query_parameters: { tenant },
    answer: experimentWithSummary.schema,
    missing,
    refusals,
    async handle({ store: { experiments } }, query) {
      const found = await experiments.experiment(keyOf(query));
      if (found === undefined) return undefined;
      return experimentWithSummary.write({ ...found, summary: experimentSummary(found, await wholeResults(experiments, found)) });
    },
  },
  {
    method: 'get',
    path: '/experiments/{id}/results',
    summary: 'Results of an experiment, one for each run of each example, in the order in which they came.',
    path_parameters: { id },
    query_parameters: {
      tenant,
      status: { enum: resultStatuses, description: 'Results with this status.' },
      example: { ...textParameter, description: 'Results of this example.' },
      limit: { ...pages.limit, maximum: resultsPageMax },
      cursor: pages.cursor,
    },
    answer: list('results', resultResource),
    missing,
    async handle({ store: { experiments } }, query) {
      if ((await experiments.experiment(keyOf(query))) === undefined) return undefined;
      const status = resultStatuses.find((one) => one === query['status']);
      const page = await experiments.results(keyOf(query), present({ ...pageOf(query), status, ...named(query, 'example', 'exampleId') }));
      return { results: page.results.map(resultResource.write), next: nextOf(page.next) };
    },
  },
  {
    method: 'delete',
    path: '/experiments/{id}',
    summary: 'Deletes an experiment with its results. A missing experiment is not an error, so the request may be repeated.',
    may: 'annotate',
    path_parameters: { id },
    query_parameters: { tenant },
    answer: api.object({ deleted: { ...api.flag, description: 'False when there was no such experiment.' } }),
    handle: async ({ store }, query) => ({ deleted: await store.experiments.delete(keyOf(query)) }),
  },
  {
    method: 'delete',
    path: '/experiments',
    summary: `Deletes the oldest experiments of one tenant that match, with their results: at most ${deletedExperimentsMax}. Repeat it until \`deleted\` is 0.`,
    may: 'annotate',
    path_parameters: {},
    query_parameters: {
      tenant,
      name: { ...textParameter, minLength: 1, description: 'Experiments of this name.' },
      dataset: { ...textParameter, minLength: 1, description: 'Experiments on a dataset, or file, of this name.' },
      before: { ...textParameter, description: 'Experiments whose last result is older than this time.' },
    },
    answer: api.object({ deleted: api.count }),
    async handle({ store }, query) {
      const before = timeAt(query, 'before');
      if (query['name'] === undefined && query['dataset'] === undefined && before === undefined)
        throw new QueryFault('The query names no experiments.', 'Give name, dataset or before.');
      const deleted = await store.experiments.deleteSome({
        tenant: keyOf(query).tenant,
        ...named(query, 'name', 'name'),
        ...named(query, 'dataset', 'dataset'),
        ...(before === undefined ? {} : { before: Math.ceil(before) }),
      });
      return { deleted };
    },
  },
];

function keyOf(query: Parameters) {
  return { tenant: tenantOf(query).tenant ?? tenantNamed(''), id: String(query['id'] ?? '') };
}

async function referred(experiments: ExperimentStore, query: Parameters, side: 'a' | 'b'): Promise<StoredExperiment | undefined> {
  const given = query[side];
  if (typeof given !== 'string')
    throw new Refusal(422, { code: 'bad_query', message: `${side} is missing.`, todo: 'Name two experiments: ?a=…&b=….' });
  const { tenant: of } = keyOf(query);
  return await referredExperiment(experiments, of, given);
}
