/** Datasets and their examples as JSON of the API, with the schemas of the OpenAPI document. */
import { exampleJson, exampleSchema } from '../../datasets/example-json.ts';
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
import { type Micros, timeText } from '../../model/timestamp.ts';
import { count, object, text, time } from './route.ts';

export function datasetJson({ tenant, name, version, examples, drafts, createdAt, changedAt }: StoredDataset): JsonObject {
  return { name, tenant, version, examples, drafts, created_at: micros(createdAt), changed_at: micros(changedAt) };
}

export function versionJson({ version, at, by, note, added, changed, removed, examples }: DatasetVersion): JsonObject {
  return { version, at: micros(at), by, note: note ?? null, added, changed, removed, examples };
}

export function storedExampleJson({ example, since }: StoredExample): JsonObject {
  return { ...exampleJson(example), since };
}

export function revisionJson({ from, until, example }: ExampleRevision): JsonObject {
  return {
    from: from.version,
    until: until ?? null,
    at: micros(from.at),
    by: from.by,
    note: from.note ?? null,
    example: exampleJson(example),
  };
}

export function differenceJson({ id, before, after }: ExampleDifference): JsonObject {
  return {
    id,
    change: before === undefined ? 'added' : after === undefined ? 'removed' : 'changed',
    before: before === undefined ? null : exampleJson(before),
    after: after === undefined ? null : exampleJson(after),
  };
}

export function writtenJson({
  version,
  added,
  changed,
  changedReviewed,
  removed,
  unchanged,
  leftOut,
}: Extract<DatasetOutcome, { kind: 'written' }>): JsonObject {
  return {
    version,
    added,
    changed,
    changed_reviewed: changedReviewed,
    removed,
    unchanged,
    left_out: leftOut.map(({ id, reason }) => ({ id, reason })),
  };
}

function micros(at: Micros): string {
  return timeText(BigInt(at) * 1_000n);
}

const version = { ...count, description: 'Numbers from 1.' };
const orNull = (of: JsonObject): JsonObject => ({ anyOf: [of, { type: 'null' }] });
const textOrNull: JsonObject = { type: ['string', 'null'] };
const example: JsonObject = { $ref: '#/components/schemas/Example' };

export const writtenSchema: JsonObject = object(
  {
    version: { ...count, description: 'The newest version; as before when nothing changed.' },
    added: count,
    changed: count,
    changed_reviewed: { ...count, description: 'Of `changed`, examples that were reviewed before.' },
    removed: count,
    unchanged: { ...count, description: 'Written again without a difference in content.' },
    left_out: { type: 'array', items: object({ id: text, reason: { enum: leftOutReasons } }) },
  },
  {
    no_example: {
      type: 'array',
      items: object({ trace_id: text, span_id: textOrNull, reason: { enum: noExampleReasons } }),
      description: 'Runs that make no example.',
    },
  },
);

export const datasetSchemas: { readonly [name: string]: JsonObject } = {
  Dataset: object({
    name: text,
    tenant: text,
    version: { ...version, description: 'The newest version.' },
    examples: { ...count, description: 'Examples of the newest version.' },
    drafts: { ...count, description: 'Examples whose expectation nobody has looked at.' },
    created_at: time,
    changed_at: time,
  }),
  DatasetVersion: object({
    version,
    at: time,
    by: { ...text, description: 'The person, program or rule that made it.' },
    note: textOrNull,
    added: count,
    changed: count,
    removed: count,
    examples: count,
  }),
  Example: { ...exampleSchema, required: ['id'] },
  StoredExample: {
    type: 'object',
    required: ['id', 'since'],
    properties: { ...exampleSchema.properties, since: { ...count, description: 'The version that the example has been the same since.' } },
  },
  ExampleRevision: object({
    from: version,
    until: { type: ['integer', 'null'], description: 'The version that replaced or removed it; null: the present one.' },
    at: time,
    by: text,
    note: textOrNull,
    example,
  }),
  ExampleDifference: object({
    id: text,
    change: { enum: ['added', 'changed', 'removed'] },
    before: orNull(example),
    after: orNull(example),
  }),
};
