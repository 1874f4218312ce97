/** The OpenAPI document, made from the routes that are served. */
import type { JsonObject } from '../../model/json.ts';
import { annotatorKinds } from '../../model/store/annotation-store.ts';
import { contentGoneWords } from '../../model/store/store.ts';
import { verdictWords } from '../../model/verdict.ts';
import { driftSchemas } from './drift-json.ts';
import { exportSchemas } from './exports-json.ts';
import { figureSchemas } from './figures-json.ts';
import type { Route } from './route.ts';

const orNull = (type: string, description?: string): JsonObject => ({
  type: [type, 'null'],
  ...(description === undefined ? {} : { description }),
});
const time: JsonObject = { type: 'string', format: 'date-time' };
const text: JsonObject = { type: 'string' };
const count: JsonObject = { type: 'integer', minimum: 0 };

const schemas: { readonly [name: string]: JsonObject } = {
  Run: object(
    {
      trace_id: text,
      span_id: text,
      tenant: text,
      agent: orNull('string'),
      service: orNull('string'),
      version: orNull('string'),
      session_id: orNull('string'),
      model: orNull('string'),
      started_at: time,
      ended_at: time,
      completeness: { enum: ['complete', 'partial', 'abandoned', 'evicted'] },
      status: { enum: ['ok', 'error'] },
      revision: count,
      verdicts: { type: 'array', items: { $ref: '#/components/schemas/Verdict' } },
    },
    {
      input: orNull('string', 'Of one run only.'),
      final_response: { description: 'Of one run only.' },
      tool_calls: { type: ['array', 'null'], items: { type: 'object' }, description: 'Of one run only.' },
      content_kept: {
        type: 'boolean',
        description: 'False: texts, arguments and results are not kept, and their fields are left out. Of one run only.',
      },
      content_gone: {
        anyOf: [{ $ref: '#/components/schemas/Gone' }, { type: 'null' }],
        description: 'Why the content is not kept. Of one run only.',
      },
      spans_kept: { ...count, description: 'Spans of its trace that are kept. Of one run only.' },
      spans_gone: { anyOf: [{ $ref: '#/components/schemas/Gone' }, { type: 'null' }], description: 'Why none are. Of one run only.' },
      part_of: orNull('string', 'The run, as trace/span, that this one turned out to be a part of. Of one run only.'),
      decisions: { type: 'array', items: { $ref: '#/components/schemas/Decision' }, description: 'Of one run only.' },
      annotations: {
        type: 'array',
        items: { $ref: '#/components/schemas/Annotation' },
        description: 'What people and other programs say of it. Of one run only.',
      },
    },
  ),
  Verdict: object(
    {
      name: text,
      evaluator: text,
      version: count,
      revision: count,
      status: { enum: ['scored', 'skipped', 'failed'] },
      score: { type: ['number', 'null'], minimum: 0, maximum: 1 },
      label: text,
      passed: orNull('boolean', 'Null: there is no threshold, or no score.'),
      reason: orNull('string', 'Why it was skipped, or which error it ended in.'),
    },
    {
      explanation: { type: 'string', description: 'Of one run only.' },
      evidence: { type: 'array', items: text, description: 'Span ids. Of one run only.' },
      details: { type: 'object', description: 'Of one run only.' },
      sample_probability: { type: 'number', description: 'Of one run only.' },
      judge_trace: {
        anyOf: [object({ trace_id: text, span_id: text }), { type: 'null' }],
        description:
          'The trace, and its first span, in which a backend is told what judges were asked for it (`judge_calls` of the exporter). Null: nobody was asked. Of one run only.',
      },
    },
  ),
  WorstTurn: object({
    name: text,
    scored_turns: { ...count, description: 'Turns that the evaluator scored.' },
    worst_turn: {
      type: ['integer', 'null'],
      minimum: 1,
      description: 'Number of the turn with the lowest score, the earliest of equal ones. Null: the evaluator scored none.',
    },
    score: { type: ['number', 'null'], minimum: 0, maximum: 1 },
    passed: orNull('boolean', 'Null: there is no threshold, or no score.'),
    trace_id: orNull('string'),
    span_id: orNull('string'),
  }),
  Decision: object(
    {
      name: text,
      evaluator: text,
      revision: count,
      decision: { enum: ['scored', 'skipped', 'filtered', 'sampled_out', 'over_budget', 'overload', 'failed'] },
      reason: orNull('string'),
    },
    { trace_id: text, span_id: text, tenant: text },
  ),
  Annotation: object({
    id: text,
    tool_call: orNull('string', 'The tool call that it is about; null: the run as a whole.'),
    name: text,
    by: text,
    kind: { enum: annotatorKinds },
    label: orNull('string'),
    score: { type: ['number', 'null'], minimum: 0, maximum: 1 },
    passed: orNull('boolean'),
    explanation: text,
    at: time,
  }),
  AnnotationResult: object({
    id: orNull('string', 'By which it can be taken back; null: it is not kept.'),
    trace_id: orNull('string'),
    span_id: orNull('string'),
    name: orNull('string'),
    by: orNull('string'),
    status: {
      enum: ['attached', 'waiting', 'outdated', 'refused'],
      description: '`attached`: its run is stored. `waiting`: not yet. `outdated`: a newer one of the same annotator is there, and stays.',
    },
    error: { anyOf: [object({ code: { enum: ['bad_annotation', 'too_many', 'full'] }, message: text, todo: text }), { type: 'null' }] },
  }),
  Span: object({
    trace_id: text,
    span_id: text,
    parent_span_id: orNull('string'),
    of_run: { type: 'boolean', description: 'True: it is the run’s span, or hangs on it.' },
    name: text,
    kind: { enum: ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] },
    started_at: time,
    ended_at: time,
    status: object({ code: { enum: ['unset', 'ok', 'error'] }, message: text }),
    service: orNull('string'),
    scope: text,
    attributes: { type: 'object' },
    events: { type: 'array', items: object({ name: text, at: time, attributes: { type: 'object' } }) },
    links: { type: 'array', items: object({ trace_id: text, span_id: text }) },
    cut: { type: 'array', items: text, description: 'Attributes that are cut short here; `otlp` has them whole.' },
  }),
  Gone: object({ reason: { enum: [...contentGoneWords, 'not_stored'] }, explanation: text }),
  SummaryRow: object({
    at: { ...time, description: 'Start of the step.' },
    name: text,
    verdict: { enum: verdictWords },
    count,
    mean_score: orNull('number'),
  }),
  Tool: object({
    agent: orNull('string'),
    name: text,
    calls: count,
    errors: count,
    not_executed: { ...count, description: 'Asked for by a model, with no sign that it ran.' },
    mean_seconds: orNull('number'),
  }),
  UnrecognisedService: object({
    service: text,
    scope: text,
    spans: { ...count, description: 'That were looked at.' },
    names: { type: 'array', items: text, description: 'Of spans, some.' },
    keys: { type: 'array', items: text, description: 'Of attributes, some.' },
    dialects: { type: 'array', items: text },
    missing: text,
    todo: text,
  }),
  EvaluabilityRow: object({
    agent: text,
    dialect: text,
    name: text,
    outcome: text,
    reason: orNull('string'),
    need: orNull('string'),
    count,
  }),
  ...exportSchemas,
  ...figureSchemas,
  ...driftSchemas,
  Error: object({ error: object({ code: text, message: text, todo: text }) }),
};

export function openApiDocument(routes: readonly Route[]): JsonObject {
  return {
    openapi: '3.1.0',
    info: { title: 'tracejury', version: '1', description: 'Runs of agents, the verdicts on them, and where these go.' },
    servers: [{ url: '/api/v1' }],
    security: [{}, { token: [] }],
    paths: Object.fromEntries(routes.map((route) => [route.path, { [route.method]: operation(route) }])),
    components: {
      schemas,
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description:
            'A token of listen.tokens that may read; for a POST or DELETE, one that may do what it is for: `operate`, or `annotate`.',
        },
      },
    },
  };
}

function operation({
  method,
  summary,
  may,
  body,
  statuses,
  path_parameters: inPath,
  query_parameters: inQuery,
  answer,
  file,
}: Route): JsonObject {
  const hasPath = Object.keys(inPath).length > 0;
  return {
    summary,
    parameters: [
      ...Object.entries(inPath).map(([name, schema]) => parameter('path', name, schema)),
      ...Object.entries(inQuery).map(([name, schema]) => parameter('query', name, schema)),
    ],
    ...(body === undefined ? {} : { requestBody: { required: true, content: { 'application/json': { schema: body.schema } } } }),
    responses: {
      200: { description: 'What was asked for.', content: { [file?.type ?? 'application/json']: { schema: answer } } },
      400: error('The query cannot be read.'),
      401: error(`The token is missing or may not ${method === 'get' ? 'read' : (may ?? 'operate')}.`),
      ...(method === 'get' ? {} : { 403: error('The request comes from a page of another site.') }),
      ...(body === undefined ? {} : { 413: error(`The body is larger than ${body.bytesMax} bytes.`) }),
      ...Object.fromEntries(
        Object.entries(statuses?.meanings ?? {}).map(([status, description]) => [
          status,
          { description, content: { 'application/json': { schema: answer } } },
        ]),
      ),
      ...(hasPath ? { 404: error('There is no such thing.') } : {}),
    },
  };
}

function parameter(place: 'path' | 'query', name: string, { description, ...schema }: JsonObject): JsonObject {
  return { name, in: place, required: place === 'path', ...(description === undefined ? {} : { description }), schema };
}

function error(description: string): JsonObject {
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } };
}

function object(properties: JsonObject, more: JsonObject = {}): JsonObject {
  return { type: 'object', required: Object.keys(properties), properties: { ...properties, ...more } };
}
