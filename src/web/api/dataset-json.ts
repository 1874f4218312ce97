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
import {
  count,
  inline,
  integer,
  many,
  object,
  optional,
  orNull,
  part,
  reference,
  resource,
  schemasOf,
  type Shape,
  text,
  textOrNull,
  time,
} from '../../model/resource.ts';

const version = { ...count, description: 'Numbers from 1.' };
export const example: Shape<DatasetExample> = { schema: reference('Example'), write: exampleJson };
export const storedExample: Shape<StoredExample> = {
  schema: reference('StoredExample'),
  write: ({ example: given, since }) => ({ ...exampleJson(given), since }),
};

export const dataset = resource<StoredDataset>()('Dataset', {
  name: text,
  tenant: text,
  version: { ...version, description: 'The newest version.' },
  examples: { ...count, description: 'Examples of the newest version.' },
  drafts: { ...count, description: 'Examples whose expectation nobody has looked at.' },
  created_at: time,
  changed_at: time,
});

export const datasetVersion = resource<DatasetVersion>()('DatasetVersion', {
  version,
  at: time,
  by: { ...text, description: 'The person, program or rule that made it.' },
  note: textOrNull(),
  added: count,
  changed: count,
  removed: count,
  examples: count,
});

export const exampleRevision = resource<ExampleRevision>()('ExampleRevision', {
  from: [version, ({ from }) => from.version],
  until: orNull(integer, 'The version that replaced or removed it; null: the present one.'),
  at: [time, ({ from }) => from.at],
  by: [text, ({ from }) => from.by],
  note: [textOrNull(), ({ from }) => from.note],
  example,
});

export const exampleDifference = resource<ExampleDifference>()('ExampleDifference', {
  id: text,
  change: [
    { enum: ['added', 'changed', 'removed'] },
    ({ before, after }) => (before === undefined ? 'added' : after === undefined ? 'removed' : 'changed'),
  ],
  before: optional(example),
  after: optional(example),
});

const written = part<Extract<DatasetOutcome, { kind: 'written' }>>()({
  version: { ...count, description: 'The newest version; as before when nothing changed.' },
  added: count,
  changed: count,
  changed_reviewed: { ...count, description: 'Of `changed`, examples that were reviewed before.' },
  removed: count,
  unchanged: { ...count, description: 'Written again without a difference in content.' },
  left_out: many(inline<{ readonly id: string; readonly reason: string }>()({ id: text, reason: { enum: leftOutReasons } })),
});

export const writtenJson = written.write;
export const writtenSchema: JsonObject = object(written.properties, {
  no_example: many(object({ trace_id: text, span_id: textOrNull(), reason: { enum: noExampleReasons } }), 'Runs that make no example.'),
});

export const datasetSchemas: { readonly [name: string]: JsonObject } = {
  ...schemasOf(dataset, datasetVersion),
  Example: { ...exampleSchema, required: ['id'] },
  StoredExample: {
    type: 'object',
    required: ['id', 'since'],
    properties: { ...exampleSchema.properties, since: { ...count, description: 'The version that the example has been the same since.' } },
  },
  ...schemasOf(exampleRevision, exampleDifference),
};
