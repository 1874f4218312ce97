/** The dataset routes. Changes make the next version; examples of runs are made as `tracejury dataset add` makes them. */
import { exampleSchema } from '../../datasets/example-json.ts';
import type { JsonObject } from '../../model/json.ts';
import { datasetNamePattern, datasetsMax } from '../../model/store/dataset-store.ts';
import { addExamples, changeExample, keyOf, removeExample, runReference } from './dataset-changes.ts';
import * as api from '../../model/resource.ts';
import { dataset, datasetVersion, exampleDifference, exampleRevision, storedExample, writtenSchema } from './dataset-json.ts';
import { list, nextOf, pageOf, pages, type Parameters, type Route, tenantOf, textParameter } from './route.ts';

/** Most examples of one request; the bodies of examples have room for a megabyte each at most, and for some kilobytes on average. */
const examplesAtOnceMax = 1_000;
const runsAtOnceMax = 200;
const bodyBytesMax = 16 * 1024 * 1024;
const nameCharsMax = 200;
const noteCharsMax = 1_000;

const name = { type: 'string', pattern: datasetNamePattern, description: 'Name of the dataset.' } as const;
const id = { type: 'string', minLength: 1, maxLength: nameCharsMax, description: 'Id of the example.' } as const;
const tenant = { ...textParameter, description: 'Tenant of the dataset and of its runs; empty when left out.' } as const;
const version = { type: 'integer', minimum: 1, description: 'Version; the newest one when left out.' } as const;
const by = { type: 'string', minLength: 1, maxLength: nameCharsMax, description: 'The person or program that makes the change.' } as const;
const note = { type: 'string', maxLength: noteCharsMax, description: 'Why the version is made.' } as const;
const missing = { message: 'The store has no such dataset, version or example.', todo: 'GET /api/v1/datasets lists the datasets.' };
const refusals = {
  409: 'Another change came first, or the store or the dataset is full.',
  422: 'An example of the body has faults; the message names each.',
} as const;

const addBody = {
  runs: {
    type: 'array',
    maxItems: runsAtOnceMax,
    description: 'Runs to make examples of, as drafts.',
    items: runReference,
  },
  examples: {
    type: 'array',
    maxItems: examplesAtOnceMax,
    description: 'Whole examples; one with the id of a present example replaces it.',
  },
  tags: { type: 'array', maxItems: 100, items: id, description: 'Tags of examples that are made of runs.' },
  split: { ...id, description: 'Part of examples that are made of runs.' },
  distinct: {
    type: 'boolean',
    default: false,
    description: 'True to leave out examples whose input another one has, ignoring case, punctuation and long numbers.',
  },
  replace: { type: 'boolean', default: false, description: 'True to let runs also replace reviewed examples.' },
  expected_version: { type: 'integer', minimum: 0, description: 'The newest version that the client knows; 0: no dataset. Left out: any.' },
  by,
  note,
} as const;

const changeBody = {
  example: { description: 'The example; its id may be left out.' },
  since: {
    type: 'integer',
    minimum: 0,
    description: '`since` of the example that the client has read; 0: a new example. When it differs, the answer is 409. Left out: any.',
  },
  by,
  note,
} as const;

const bodyOf = (properties: JsonObject, examples: JsonObject, required: readonly string[] = []): NonNullable<Route['body']> => ({
  bytesMax: bodyBytesMax,
  taken: { type: 'object', additionalProperties: false, required, properties },
  schema: { type: 'object', additionalProperties: false, required, properties: { ...properties, ...examples } },
});

export const datasetRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/datasets',
    summary: 'Datasets by name.',
    path_parameters: {},
    query_parameters: { tenant: { ...tenant, description: 'Tenant of the datasets; all when left out.' } },
    answer: list('datasets', dataset),
    handle: async ({ store }, query) => ({ datasets: (await store.datasets.list(tenantOf(query).tenant)).map(dataset.write), next: null }),
  },
  {
    method: 'get',
    path: '/datasets/{name}',
    summary: 'One dataset.',
    path_parameters: { name },
    query_parameters: { tenant },
    answer: dataset.schema,
    missing,
    async handle({ store }, query) {
      const found = await store.datasets.dataset(keyOf(query));
      return found === undefined ? undefined : dataset.write(found);
    },
  },
  {
    method: 'get',
    path: '/datasets/{name}/versions',
    summary: 'Versions of a dataset, newest first.',
    path_parameters: { name },
    query_parameters: { tenant, ...pages },
    answer: list('versions', datasetVersion),
    missing,
    async handle({ store: { datasets } }, query) {
      const { limit, after } = pageOf(query);
      if ((await datasets.dataset(keyOf(query))) === undefined) return undefined;
      const found = await datasets.versions(keyOf(query), { limit, ...(after === undefined ? {} : { before: after }) });
      const last = found.at(-1)?.version ?? 1;
      return { versions: found.map(datasetVersion.write), next: nextOf(found.length < limit || last === 1 ? undefined : last) };
    },
  },
  {
    method: 'get',
    path: '/datasets/{name}/examples',
    summary: 'Examples of one version, in the order in which they came to the dataset.',
    path_parameters: { name },
    query_parameters: {
      tenant,
      version,
      split: { ...textParameter, description: 'Examples of this part.' },
      tag: { ...textParameter, description: 'Examples with this tag.' },
      review: {
        enum: ['draft', 'reviewed'],
        description: '`draft`: examples whose expectation no one has reviewed; `reviewed`: the others.',
      },
      ...pages,
    },
    answer: api.object({ examples: api.many(storedExample.schema), version: { ...api.count, minimum: 1 }, next: api.textOrNull() }),
    missing,
    async handle({ store }, query) {
      const { split, tag, review } = query;
      const page = await store.datasets.examples(keyOf(query), numberAt(query, 'version'), {
        ...pageOf(query),
        ...(typeof split === 'string' ? { split } : {}),
        ...(typeof tag === 'string' ? { tag } : {}),
        ...(review === undefined ? {} : { isDraft: review === 'draft' }),
      });
      if (page === undefined) return undefined;
      return { examples: page.examples.map(storedExample.write), version: page.version, next: nextOf(page.next) };
    },
  },
  {
    method: 'get',
    path: '/datasets/{name}/diff',
    summary: 'The difference between two versions.',
    path_parameters: { name },
    query_parameters: {
      tenant,
      from: { ...version, description: 'The version before; the one before `to` when left out.' },
      to: version,
      ...pages,
    },
    answer: api.object({
      from: api.integer,
      to: api.integer,
      added: api.count,
      changed: api.count,
      removed: api.count,
      examples: api.many(exampleDifference.schema),
      next: api.textOrNull(),
    }),
    missing,
    async handle({ store: { datasets } }, query) {
      const newest = (await datasets.dataset(keyOf(query)))?.version ?? 0;
      const to = numberAt(query, 'to') ?? newest;
      const from = numberAt(query, 'from') ?? to - 1;
      const found = await datasets.diff(keyOf(query), { from, to }, pageOf(query));
      if (found === undefined) return undefined;
      const { added, changed, removed, examples, next } = found;
      return { from, to, added, changed, removed, examples: examples.map(exampleDifference.write), next: nextOf(next) };
    },
  },
  {
    method: 'get',
    path: '/datasets/{name}/examples/{id}',
    summary: 'One example.',
    path_parameters: { name, id },
    query_parameters: { tenant, version },
    answer: storedExample.schema,
    missing,
    async handle({ store }, query) {
      const found = await store.datasets.example(keyOf(query), numberAt(query, 'version'), String(query['id']));
      return found === undefined ? undefined : storedExample.write(found);
    },
  },
  {
    method: 'get',
    path: '/datasets/{name}/examples/{id}/history',
    summary: 'All bodies that an example has had, newest first.',
    path_parameters: { name, id },
    query_parameters: { tenant, limit: pages.limit },
    answer: list('history', exampleRevision),
    missing,
    async handle({ store }, query) {
      const found = await store.datasets.history(keyOf(query), String(query['id']), pageOf(query).limit);
      return found.length === 0 ? undefined : { history: found.map(exampleRevision.write), next: null };
    },
  },
  {
    method: 'post',
    path: '/datasets/{name}/examples',
    summary: `Adds examples, made of stored runs or given whole, as one new version. The first one makes the dataset. A tenant has ${datasetsMax} datasets at most.`,
    may: 'annotate',
    path_parameters: { name },
    query_parameters: { tenant },
    body: bodyOf(addBody, { examples: { ...addBody.examples, items: exampleSchema } }),
    refusals,
    answer: writtenSchema,
    missing,
    handle: addExamples,
  },
  {
    method: 'put',
    path: '/datasets/{name}/examples/{id}',
    summary: 'Replaces one example, or adds it. The older body stays in its history.',
    may: 'annotate',
    path_parameters: { name, id },
    query_parameters: { tenant },
    body: bodyOf(changeBody, { example: { ...exampleSchema, description: changeBody.example.description } }, ['example']),
    refusals,
    answer: writtenSchema,
    missing,
    handle: changeExample,
  },
  {
    method: 'delete',
    path: '/datasets/{name}/examples/{id}',
    summary: 'Removes an example from the next version. A missing example is not an error, so the request may be repeated.',
    may: 'annotate',
    path_parameters: { name, id },
    query_parameters: { tenant, by },
    refusals: { 409: refusals[409] },
    answer: api.object({ deleted: api.flag, version: { ...api.count, minimum: 1 } }),
    missing,
    handle: removeExample,
  },
  {
    method: 'delete',
    path: '/datasets/{name}',
    summary: 'Deletes a dataset with all its versions. A missing dataset is not an error, so the request may be repeated.',
    may: 'annotate',
    path_parameters: { name },
    query_parameters: { tenant },
    answer: api.object({ deleted: { ...api.flag, description: 'False when there was no such dataset.' } }),
    handle: async ({ store }, query) => ({ deleted: await store.datasets.delete(keyOf(query)) }),
  },
];

function numberAt(query: Parameters, key: string): number | undefined {
  const value = query[key];
  return typeof value === 'number' ? value : undefined;
}
