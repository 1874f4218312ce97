/** Serves the API under /api/v1 of the console listener, and its OpenAPI document. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { runStatuses } from '../../model/agent-trace.ts';
import { isJsonObject, type JsonObject, jsonText, type JsonValue } from '../../model/json.ts';
import { annotatorKinds } from '../../model/store/annotation-store.ts';
import { contentGoneWords, revisionChangeKinds, rowLabelsMax } from '../../model/store/store.ts';
import { verdictWords } from '../../model/verdict.ts';
import type { EventSource } from '../event-streams.ts';
import { datasetSchemas } from './dataset-json.ts';
import { experimentSchemas } from './experiment-schemas.ts';
import { evaluatorSchemas } from './evaluators.ts';
import { exportSchemas } from './exports.ts';
import { driftSchemas, figureSchemas } from './figures.ts';
import { spanKinds } from './json.ts';
import { runContentMembers, runContentSchemas } from './run-schema.ts';
import { runSpanSchemas } from './run-spans.ts';
import { callSchemas } from './calls.ts';
import { noticeSchemas } from './notices.ts';
import { overviewSchemas } from './overview.ts';
import { judgeTrafficSchemas } from './judge-traffic.ts';
import { processSchemas } from './processes.ts';
import { queueSchemas } from './queue-json.ts';
import {
  type ApiDeps,
  count,
  FileAnswer,
  NotKept,
  object,
  type Parameters,
  QueryFault,
  Refusal,
  type Route,
  text,
  time,
  type Visit,
} from './route.ts';
import { routes } from './routes.ts';
import { sessionSchemas } from './sessions.ts';
import { replicaSchemas } from './replicas.ts';
import { settingsSchemas } from './settings.ts';
import { toolCallSchemas } from './tool-calls.ts';
import { alertSchemas } from './alerts.ts';
import { versionSchemas } from './versions.ts';

export const apiPrefix = '/api/v1';

/** Who makes a request, and what changes its session. */
export type VisitOf = (request: FastifyRequest, reply: FastifyReply) => Visit;

/** Answers a request with a stream of events. */
export type SendEvents = (reply: FastifyReply, source: EventSource) => Promise<unknown>;

interface Serving {
  readonly parts: ApiDeps;
  readonly visitOf: VisitOf;
  readonly sendEvents: SendEvents;
}

export function serveApi(app: FastifyInstance, serving: Serving): void {
  const document = openApiDocument(routes);
  app.get(`${apiPrefix}/openapi.json`, { config: { isOfTenants: true } }, async () => document);
  for (const route of routes) serveRoute(app, route, serving);
}

const noRun = { message: 'The store has no such run.', todo: 'It may be too old for store.keep, or not scored yet.' };

function serveRoute(
  app: FastifyInstance,
  {
    method,
    path,
    may,
    isOpen,
    isOfTenants,
    body,
    statuses,
    missing = noRun,
    path_parameters: inPath,
    query_parameters: inQuery,
    file,
    formats = {},
    fileName,
    ofAllTenants = [],
    events,
    handle,
  }: Route,
  { parts, visitOf, sendEvents }: Serving,
): void {
  const schema = {
    params: { type: 'object', properties: inPath, required: Object.keys(inPath) },
    querystring: { type: 'object', additionalProperties: false, properties: inQuery },
    ...(body === undefined ? {} : { body: body.taken }),
  };
  app[method](
    `${apiPrefix}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    {
      schema,
      config: {
        may: may ?? 'operate',
        isOfTenants: isOfTenants === true || Object.hasOwn(inQuery, 'tenant'),
        isStream: events !== undefined,
        ...(isOpen === true ? { isOpen: () => true } : {}),
      },
      exposeHeadRoute: events === undefined,
      ...(body === undefined ? {} : { bodyLimit: body.bytesMax }),
    },
    async (request, reply) => {
      try {
        const requested: Parameters = { ...(request.query as Parameters), ...(request.params as Parameters) };
        const visit = visitOf(request, reply);
        const only = visit.tenant;
        if (only !== undefined && requested['tenant'] !== undefined && requested['tenant'] !== only)
          return await reply
            .code(403)
            .send(
              failure(
                'other_tenant',
                'The token sees its own tenant alone.',
                'Leave tenant out, or use a token of listen.tokens that sees all tenants.',
              ),
            );
        const parameters = only === undefined ? requested : { ...requested, tenant: only };
        if (events !== undefined) {
          const lastId = request.headers['last-event-id'];
          return await sendEvents(reply, events(parts, parameters, typeof lastId === 'string' ? lastId : undefined));
        }
        const given = await handle(parts, parameters, (request.body ?? null) as JsonValue, visit);
        const answer = given instanceof FileAnswer ? given.text : given;
        if (given instanceof FileAnswer) reply.headers(given.headers);
        const found =
          only !== undefined && isJsonObject(answer ?? null)
            ? { ...(answer as JsonObject), ...Object.fromEntries(ofAllTenants.map((key) => [key, []])) }
            : answer;
        if (found === undefined) return await reply.code(404).send(failure('not_found', missing.message, missing.todo));
        const format = Object.hasOwn(formats, String(requested['format'])) ? formats[String(requested['format'])] : undefined;
        if (format !== undefined)
          return await reply
            .type(format.type)
            .header('content-disposition', `attachment; filename="${fileName?.(requested) ?? path.split('/')[1]}.${format.ending}"`)
            .send(found);
        if (file !== undefined)
          return await reply.type(file.type).header('content-disposition', `attachment; filename="run.${file.ending}"`).send(found);
        // `jsonText` writes whole numbers beyond 2^53 exactly.
        if (statuses !== undefined && isJsonObject(found)) reply.code(statuses.of(found));
        return await reply
          .type('application/json; charset=utf-8')
          .serializer((value: JsonValue) => jsonText(value))
          .send(found);
      } catch (error) {
        if (error instanceof QueryFault) return await reply.code(400).send(failure('bad_request', error.message, error.todo));
        if (error instanceof Refusal) return await reply.code(error.status).send(failure(error.code, error.message, error.todo));
        if (error instanceof NotKept)
          return await reply
            .code(404)
            .send(failure('not_kept', error.message, 'store.content and store.keep decide what the store keeps.'));
        throw error;
      }
    },
  );
}

/** Errors of every route of the listener have this form. */
export function failure(
  code: string,
  message: string,
  todo: string,
): { readonly error: { readonly code: string; readonly message: string; readonly todo: string } } {
  return { error: { code, message, todo } };
}

const orNull = (type: string, description?: string): JsonObject => ({
  type: [type, 'null'],
  ...(description === undefined ? {} : { description }),
});
/** Where figures are split, the value of the split. */
const splitMembers: JsonObject = {
  version: orNull('string', 'With `by=version`.'),
  model: orNull('string', 'With `by=model`.'),
  prompt: orNull('string', 'With `by=prompt`: hash of the system prompt.'),
};

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
      status: {
        enum: runStatuses,
        description: '`error`: the run ended in one. `paused`: it waits for a person or another program.',
      },
      revision: count,
      duration_seconds: { type: 'number', minimum: 0 },
      input_tokens: orNull('integer', 'Of all model calls; null: unknown.'),
      output_tokens: orNull('integer', 'Of all model calls; null: unknown.'),
      cost_usd: orNull('number', 'Of all model calls; null: the cost of one of them is unknown.'),
      input_excerpt: orNull('string', 'The first characters of the input on one line; null: the store has no texts of the run.'),
      labels: {
        type: 'array',
        items: object({ name: text, label: text }),
        description: `Labels of annotations, newest first, at most ${rowLabelsMax}.`,
      },
      verdicts: { type: 'array', items: { $ref: '#/components/schemas/Verdict' } },
    },
    {
      ...runContentMembers,
      content_kept: {
        type: 'boolean',
        description: 'False: the store has no texts, arguments and results, and their fields are absent. Of one run only.',
      },
      content_gone: {
        anyOf: [{ $ref: '#/components/schemas/Gone' }, { type: 'null' }],
        description: 'Why the store has no content. Of one run only.',
      },
      spans_kept: { ...count, description: 'Stored spans of its trace. Of one run only.' },
      spans_gone: {
        anyOf: [{ $ref: '#/components/schemas/Gone' }, { type: 'null' }],
        description: 'Why the store has no spans. Of one run only.',
      },
      revisions: {
        type: 'array',
        items: object({
          revision: count,
          changes: {
            type: 'array',
            items: object({
              of: { enum: revisionChangeKinds },
              name: orNull('string', 'Of the tool or the evaluator.'),
              before: { type: ['string', 'number', 'null'] },
              after: { type: ['string', 'number', 'null'] },
            }),
          },
        }),
        description: 'What revisions after the first changed, oldest first. Of one run only.',
      },
      task: orNull('string', 'By `groups.task_key`. Of one run only.'),
      part_of: orNull('string', 'The run, as trace/span, that this one is a part of. Of one run only.'),
      decisions: { type: 'array', items: { $ref: '#/components/schemas/Decision' }, description: 'Of one run only.' },
      annotations: {
        type: 'array',
        items: { $ref: '#/components/schemas/Annotation' },
        description: 'Verdicts of people and other programs. Of one run only.',
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
      reason: orNull('string', 'Why the evaluator skipped the run, or its error.'),
    },
    {
      explanation: { type: 'string', description: 'Of one run only.' },
      evidence: { type: 'array', items: text, description: 'Span ids. Of one run only.' },
      details: { type: 'object', description: 'Of one run only.' },
      sample_probability: { type: 'number', description: 'Of one run only.' },
      threshold: orNull('number', 'From which score on the run passes; null: there is none, or it is not known. Of one run only.'),
      judge_trace: {
        anyOf: [object({ trace_id: text, span_id: text }), { type: 'null' }],
        description:
          'The trace of the judge calls in a backend, and its first span (`judge_calls` of the exporter). Null: no judge was asked. Of one run only.',
      },
    },
  ),
  WorstTurn: object({
    name: text,
    scored_turns: { ...count, description: 'Turns that the evaluator scored.' },
    worst_turn: {
      type: ['integer', 'null'],
      minimum: 1,
      description: 'Number of the turn with the lowest score; the first one of equal scores. Null: the evaluator scored none.',
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
    {
      trace_id: text,
      span_id: text,
      tenant: text,
      missing: {
        anyOf: [
          object({
            need: text,
            name: { ...text, description: 'The missing data in words.' },
            todo: orNull('string', 'The setting of the SDK or of the configuration that brings it; null: none is known.'),
            places: { type: 'array', items: text, description: 'Attributes, events and log records that would carry it.' },
          }),
          { type: 'null' },
        ],
        description: 'What the evaluator lacks; null: the run has nothing to evaluate, or was not skipped. Of one run only.',
      },
    },
  ),
  Annotation: object({
    id: text,
    tool_call: orNull('string', 'The tool call that it is about; null: the whole run.'),
    name: text,
    by: text,
    kind: { enum: annotatorKinds },
    label: orNull('string'),
    score: { type: ['number', 'null'], minimum: 0, maximum: 1 },
    passed: orNull('boolean'),
    explanation: text,
    at: time,
    probability: orNull('number', 'With which the random order of a queue came to the run, of the judged ones; null: it was chosen.'),
  }),
  AnnotationResult: object({
    id: orNull('string', 'For a DELETE request; null: it is not stored.'),
    trace_id: orNull('string'),
    span_id: orNull('string'),
    name: orNull('string'),
    by: orNull('string'),
    status: {
      enum: ['attached', 'waiting', 'outdated', 'refused'],
      description: '`attached`: its run is stored. `waiting`: not yet. `outdated`: the store has a newer one of the same annotator.',
    },
    error: { anyOf: [object({ code: { enum: ['bad_annotation', 'too_many', 'full'] }, message: text, todo: text }), { type: 'null' }] },
  }),
  Span: object({
    trace_id: text,
    span_id: text,
    parent_span_id: orNull('string'),
    of_run: { type: 'boolean', description: 'True: it is the run’s span or a descendant.' },
    name: text,
    kind: { enum: spanKinds },
    started_at: time,
    ended_at: time,
    status: object({ code: { enum: ['unset', 'ok', 'error'] }, message: text }),
    service: orNull('string'),
    scope: text,
    attributes: { type: 'object' },
    events: { type: 'array', items: object({ name: text, at: time, attributes: { type: 'object' } }) },
    links: { type: 'array', items: object({ trace_id: text, span_id: text }) },
    cut: { type: 'array', items: text, description: 'Shortened attributes; `otlp` has their full text.' },
  }),
  Gone: object({ reason: { enum: [...contentGoneWords, 'not_stored'] }, explanation: text }),
  SummaryRow: object(
    {
      at: { ...time, description: 'Start of the step.' },
      name: text,
      verdict: { enum: verdictWords },
      count,
      mean_score: orNull('number'),
    },
    splitMembers,
  ),
  Tool: object(
    {
      agent: orNull('string'),
      name: text,
      calls: count,
      errors: count,
      error_rate: {
        $ref: '#/components/schemas/Estimate',
        description: 'Of the calls that ran, with a 95 % interval as if they were independent.',
      },
      not_executed: { ...count, description: 'Requested by a model without a sign that it ran.' },
      mean_seconds: orNull('number'),
      p50_seconds: orNull('number', 'Median, to 2 % of its value.'),
      p95_seconds: orNull('number', 'To 2 % of its value.'),
      argument_failures: {
        type: 'array',
        items: object({
          path: { ...text, description: 'Of the argument, with dots; `[]`: a place in a list. Empty: the arguments as a whole.' },
          keyword: { ...text, description: 'Keyword of the JSON Schema of the tool.' },
          count: { ...count, description: 'Calls.' },
        }),
        description: 'Arguments that the schema of the tool refuses, as `tool_call_validity` found them, most first.',
      },
    },
    splitMembers,
  ),
  UnrecognisedService: object({
    service: text,
    scope: text,
    spans: { ...count, description: 'Number of read spans.' },
    names: { type: 'array', items: text, description: 'Some names of spans.' },
    keys: { type: 'array', items: text, description: 'Some keys of attributes.' },
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
    missing: orNull('string', 'What is missing, in words. Null: nothing.'),
    todo: orNull('string', 'The setting that supplies it: of the SDK of the dialect, or of this service. Null: no setting is known.'),
    count,
  }),
  ...runContentSchemas,
  ...runSpanSchemas,
  ...toolCallSchemas,
  ...exportSchemas,
  ...datasetSchemas,
  ...versionSchemas,
  ...alertSchemas,
  ...experimentSchemas,
  ...evaluatorSchemas,
  ...figureSchemas,
  ...judgeTrafficSchemas,
  ...driftSchemas,
  ...processSchemas,
  ...sessionSchemas,
  ...queueSchemas,
  ...overviewSchemas,
  ...callSchemas,
  ...settingsSchemas,
  ...replicaSchemas,
  ...noticeSchemas,
  Error: object({ error: object({ code: text, message: text, todo: text }) }),
};

export function openApiDocument(routes: readonly Route[]): JsonObject {
  return {
    openapi: '3.1.0',
    info: { title: 'tracejury', version: '1', description: 'Runs of agents, their verdicts, and the exports.' },
    servers: [{ url: '/api/v1' }],
    security: [{}, { token: [] }],
    paths: Object.fromEntries(
      [...Map.groupBy(routes, ({ path }) => path)].map(([path, methods]) => [
        path,
        Object.fromEntries(methods.map((route) => [route.method, operation(route)])),
      ]),
    ),
    components: {
      schemas,
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'bearer',
          description: 'A token of listen.tokens that may `read`; for POST, PUT and DELETE, one that may `operate` or `annotate`.',
        },
      },
    },
  };
}

function operation({
  method,
  summary,
  may,
  isOpen,
  body,
  statuses,
  refusals = {},
  path_parameters: inPath,
  query_parameters: inQuery,
  answer,
  file,
  formats = {},
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
      200: { description: 'The answer.', content: contentOf(answer, file, formats) },
      400: error('The query cannot be read.'),
      ...(isOpen === true ? {} : { 401: error(`The token is missing or may not ${method === 'get' ? 'read' : (may ?? 'operate')}.`) }),
      ...(method === 'get'
        ? {}
        : { 403: error('The request comes from a page of another site, or carries a cookie without `X-Anti-Forgery`.') }),
      ...(body === undefined ? {} : { 413: error(`The body is larger than ${body.bytesMax} bytes.`) }),
      ...Object.fromEntries(
        Object.entries(statuses?.meanings ?? {}).map(([status, description]) => [
          status,
          { description, content: { 'application/json': { schema: answer } } },
        ]),
      ),
      ...Object.fromEntries(Object.entries(refusals).map(([status, description]) => [status, error(description)])),
      ...(hasPath ? { 404: error('The store has no such entry.') } : {}),
    },
  };
}

function contentOf(answer: JsonObject, file: Route['file'], formats: NonNullable<Route['formats']>): JsonObject {
  const texts = Object.values(formats).map(({ type }) => [type, { schema: text }] as const);
  return { [file?.type ?? 'application/json']: { schema: answer }, ...Object.fromEntries(texts) };
}

function parameter(place: 'path' | 'query', name: string, { description, ...schema }: JsonObject): JsonObject {
  return { name, in: place, required: place === 'path', ...(description === undefined ? {} : { description }), schema };
}

function error(description: string): JsonObject {
  return { description, content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } } };
}
