/** The JSON form of an example in files and in the API: snake_case, times in RFC 3339. */
import { schemaChecker } from '../../evaluators/configuration/options.ts';
import type { Fault } from '../../evaluators/evaluator.ts';
import { readExpectation } from '../../evaluators/expectation/expectation.ts';
import type { DatasetExample, ExampleOrigin } from '../model/example.ts';
import { parseSpanId, parseTraceId } from '../model/ids.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue, member } from '../model/json.ts';
import { parseTimeText, timeText } from '../model/timestamp.ts';
import { present } from '../model/present.ts';

/** The remedy for a file that holds no dataset. */
export const datasetForms = 'docs/guides/datasets.md lists the forms of a dataset.';

/** Characters of an id, a tag, a split and a name in the origin. */
const nameCharsMax = 200;
const evaluatorsMax = 500;
const tagsMax = 100;
/** A day: the limit of one run of an agent. */
const timeoutSecondsMax = 86_400;

const text = { type: 'string', minLength: 1 } as const;
const name = { ...text, maxLength: nameCharsMax } as const;

/** Schema of an example in a file, whose id and input are optional. */
export const exampleSchema = {
  type: 'object',
  additionalProperties: false,
  properties: {
    id: { type: ['string', 'number'], maxLength: nameCharsMax, description: 'Unique in its dataset.' },
    input: { description: 'A text, the conversation so far as messages in the OpenAI form, or an object of named inputs.' },
    expect: { type: 'object', description: 'The expectation of the run.' },
    tasks: { type: 'array', items: text },
    constraints: text,
    tools: { type: 'array', description: 'Definitions of tools.' },
    tags: { type: 'array', maxItems: tagsMax, items: text },
    split: { ...name, description: 'Part of the dataset, such as `train` or `test`.' },
    evaluators: {
      type: 'array',
      minItems: 1,
      maxItems: evaluatorsMax,
      items: { type: ['string', 'object'] },
      description: 'Entries as in the configuration, which replace the configured evaluators.',
    },
    timeout_seconds: { type: 'number', exclusiveMinimum: 0, maximum: timeoutSecondsMax, description: 'Limit of one run of the agent.' },
    metadata: { description: 'A note for people; no evaluator reads it.' },
    review: { enum: ['draft', 'reviewed'], description: '`draft`: no one has reviewed the expectation. Default: `reviewed`.' },
    origin: {
      type: 'object',
      additionalProperties: false,
      description: 'Origin of the example.',
      properties: {
        trace_id: { type: 'string', pattern: '^[0-9a-fA-F]{32}$' },
        span_id: { type: 'string', pattern: '^[0-9a-fA-F]{16}$' },
        by: name,
        rule: name,
        file: { ...text, maxLength: 1_000 },
        at: { type: 'string', description: 'A time in RFC 3339.' },
      },
    },
  },
} as const;

/** In the order in which people read it. */
export function exampleJson({ id, input, expect, tasks, constraints, tools, tags, split, ...rest }: DatasetExample): JsonObject {
  const { evaluators, timeoutSeconds, metadata, review, origin } = rest;
  return present({
    id,
    input: input === null ? undefined : input,
    expect,
    tasks,
    constraints,
    tools,
    tags,
    split,
    evaluators,
    timeout_seconds: timeoutSeconds,
    metadata,
    review,
    origin: origin === undefined ? undefined : originJson(origin),
  });
}

function originJson({ traceId, spanId, by, rule, file, at }: ExampleOrigin): JsonObject {
  return present({ trace_id: traceId, span_id: spanId, by, rule, file, at: at === undefined ? undefined : timeText(BigInt(at) * 1_000n) });
}

export interface ReadExample {
  readonly example: DatasetExample;
  readonly faults: readonly Fault[];
}

/** Checks examples against `exampleSchema`. */
export type ExampleChecker = (value: JsonValue) => readonly Fault[];

/** Made once for many examples. */
export function exampleChecker(): ExampleChecker {
  return schemaChecker(exampleSchema);
}

/** Without an id the example gets `idDefault`. Entries of `evaluators` are checked against a configuration, not here. */
export function readExample(value: JsonValue, idDefault: string, check = exampleChecker()): ReadExample {
  const object = isJsonObject(value) ? value : {};
  const [id, expect, tasks, constraints, tools, tags, split, evaluators, timeout, metadata, review] = [
    'id',
    'expect',
    'tasks',
    'constraints',
    'tools',
    'tags',
    'split',
    'evaluators',
    'timeout_seconds',
    'metadata',
    'review',
  ].map((key) => member(object, key));
  const faults: readonly Fault[] = [
    ...check(value),
    ...(isJsonObject(expect) ? readExpectation(expect).faults.map(({ path, problem }) => ({ path: ['expect', ...path], problem })) : []),
    ...timeFaults(member(object, 'origin')),
  ];
  const origin = originOf(member(object, 'origin'));
  return {
    faults,
    example: {
      id: id === undefined || typeof id === 'object' ? idDefault : String(id),
      input: member(object, 'input') ?? null,
      ...(isJsonObject(expect) ? { expect } : {}),
      ...(isJsonArray(tasks) ? { tasks: tasks.map(String) } : {}),
      ...(typeof constraints === 'string' ? { constraints } : {}),
      ...(isJsonArray(tools) ? { tools } : {}),
      ...(isJsonArray(tags) ? { tags: tags.map(String) } : {}),
      ...(typeof split === 'string' ? { split } : {}),
      ...(isJsonArray(evaluators) ? { evaluators } : {}),
      ...(typeof timeout === 'number' ? { timeoutSeconds: timeout } : {}),
      ...(metadata === undefined ? {} : { metadata }),
      ...(origin === undefined ? {} : { origin }),
      ...(review === 'draft' || review === 'reviewed' ? { review } : {}),
    },
  };
}

function timeFaults(origin: JsonValue | undefined): readonly Fault[] {
  const at = isJsonObject(origin) ? member(origin, 'at') : undefined;
  return typeof at === 'string' && parseTimeText(at) === undefined
    ? [{ path: ['origin', 'at'], problem: 'must be a time in RFC 3339, as 2026-11-21T09:30:00Z' }]
    : [];
}

function originOf(value: JsonValue | undefined): ExampleOrigin | undefined {
  if (!isJsonObject(value)) return undefined;
  const given = (key: string): string | undefined => {
    const one = member(value, key);
    return typeof one === 'string' ? one : undefined;
  };
  const [traceId, spanId, at] = [parseTraceId(given('trace_id') ?? ''), parseSpanId(given('span_id') ?? ''), given('at')];
  const [by, rule, file, micros] = [given('by'), given('rule'), given('file'), at === undefined ? undefined : parseTimeText(at)];
  return present({ traceId, spanId, by, rule, file, at: micros });
}
