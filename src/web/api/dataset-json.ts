/** Datasets and their examples as JSON of the API, with the schemas of the OpenAPI document. */
import { exampleJson, exampleSchema } from '../../datasets/example-json.ts';
import type { DatasetExample } from '../../model/example.ts';
import type { JsonObject } from '../../model/json.ts';
import {
  type DatasetOutcome,
  type DatasetVersion,
  type ExampleDifference,
  type ExampleRevision,
  leftOutReasons,
  type StoredDataset,
  type StoredExample,
} from '../../model/store/dataset-store.ts';
import { noExampleReasons } from '../../datasets/run-example.ts';
import * as api from '../../model/resource.ts';

const version = { ...api.count, description: 'Numbers from 1.' };
export const example: api.Shape<DatasetExample> = { schema: api.reference('Example'), write: exampleJson };
export const storedExample: api.Shape<StoredExample> = {
  schema: api.reference('StoredExample'),
  write: ({ example: given, since }) => ({ ...exampleJson(given), since }),
};

export const dataset = api.resource<StoredDataset>()('Dataset', {
  name: api.text,
  tenant: api.text,
  version: { ...version, description: 'The newest version.' },
  examples: { ...api.count, description: 'Examples of the newest version.' },
  drafts: { ...api.count, description: 'Examples whose expectation no one has reviewed.' },
  created_at: api.time,
  changed_at: api.time,
});

export const datasetVersion = api.resource<DatasetVersion>()('DatasetVersion', {
  version,
  at: api.time,
  by: { ...api.text, description: 'The person, program or rule that made it.' },
  note: api.textOrNull(),
  added: api.count,
  changed: api.count,
  removed: api.count,
  examples: api.count,
});

export const exampleRevision = api.resource<ExampleRevision>()('ExampleRevision', {
  from: [version, ({ from }) => from.version],
  until: api.orNull(api.integer, 'The version that replaced or removed it; null: the present one.'),
  at: [api.time, ({ from }) => from.at],
  by: [api.text, ({ from }) => from.by],
  note: [api.textOrNull(), ({ from }) => from.note],
  example,
});

export const exampleDifference = api.resource<ExampleDifference>()('ExampleDifference', {
  id: api.text,
  change: [
    { enum: ['added', 'changed', 'removed'] },
    ({ before, after }) => (before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'),
  ],
  before: api.optional(example),
  after: api.optional(example),
});

const written = api.part<Extract<DatasetOutcome, { kind: 'written' }>>()({
  version: { ...api.count, description: 'The newest version; as before when nothing changed.' },
  added: api.count,
  changed: api.count,
  changed_reviewed: { ...api.count, description: 'Examples of `changed` that were reviewed before.' },
  removed: api.count,
  unchanged: { ...api.count, description: 'Written again without a difference in content.' },
  left_out: api.many(api.inline<{ readonly id: string; readonly reason: string }>()({ id: api.text, reason: { enum: leftOutReasons } })),
});

export const writtenJson = written.write;
export const writtenSchema: JsonObject = api.object(written.properties, {
  no_example: api.many(
    api.object({ trace_id: api.text, span_id: api.textOrNull(), reason: { enum: noExampleReasons } }),
    'Runs that make no example.',
  ),
});

export const datasetSchemas: { readonly [name: string]: JsonObject } = {
  ...api.schemasOf(dataset, datasetVersion),
  Example: { ...exampleSchema, required: ['id'] },
  StoredExample: {
    type: 'object',
    required: ['id', 'since'],
    properties: {
      ...exampleSchema.properties,
      since: { ...api.count, description: 'The version that the example has been the same since.' },
    },
  },
  ...api.schemasOf(exampleRevision, exampleDifference),
};
