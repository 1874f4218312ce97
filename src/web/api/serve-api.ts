/** Serves the API under /api/v1 of the console listener, and its OpenAPI document. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isJsonObject, type JsonObject, jsonText, type JsonValue } from '../../model/json.ts';
import * as api from '../../model/resource.ts';
import type { EventSource } from '../event-streams.ts';
import { alertSchemas } from './alerts.ts';
import { issueDifferenceSchemas } from './issue-differences.ts';
import { issueSchemas } from './issues.ts';
import { annotationResult } from './annotations.ts';
import { callSchemas, tool } from './calls.ts';
import { datasetSchemas } from './dataset-json.ts';
import { estimate } from './estimate-json.ts';
import { evaluabilitySchemas } from './evaluability.ts';
import { evaluator } from './evaluators.ts';
import { experimentSchemas } from './experiments.ts';
import { exportSchemas } from './exports.ts';
import { drift, driftMeasurement } from './judge-drift.ts';
import { judgeLatency, judgeTraffic } from './judge-traffic.ts';
import { budgetFigures, judgeDay, judgeFigures, peopleFigures } from './judges.ts';
import { noticeSchemas } from './notices.ts';
import { overviewSchemas } from './overview.ts';
import { processSchemas } from './processes.ts';
import { queueSchemas } from './queue-json.ts';
import { rate } from './rates.ts';
import { replica } from './replicas.ts';
import { type ApiDeps, FileAnswer, NotKept, type Parameters, QueryFault, Refusal, type Route, type Visit } from './route.ts';
import { routes } from './routes.ts';
import { annotation, decision, gone, run, runIssue, verdict } from './run-json.ts';
import { runContentSchemas } from './run-schema.ts';
import { runSpanSchemas } from './run-spans.ts';
import { sessionSchemas, worstTurn } from './sessions.ts';
import { settingsSchemas } from './settings.ts';
import { spanResource } from './span-json.ts';
import { summaryRow } from './summary.ts';
import { placedToolCall } from './tool-calls.ts';
import { versionSchemas } from './versions.ts';

export const apiPrefix = '/api/v1';

/** The caller of a request, and changes of its session. */
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
                'The token sees only its own tenant.',
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

const schemas: { readonly [name: string]: JsonObject } = {
  ...api.schemasOf(run, runIssue, verdict, worstTurn, decision, annotation, annotationResult, spanResource, gone, summaryRow, tool),
  ...evaluabilitySchemas,
  ...runContentSchemas,
  ...runSpanSchemas,
  ...api.schemasOf(placedToolCall),
  ...exportSchemas,
  ...datasetSchemas,
  ...versionSchemas,
  ...alertSchemas,
  ...issueSchemas,
  ...issueDifferenceSchemas,
  ...experimentSchemas,
  ...api.schemasOf(
    evaluator,
    estimate,
    rate,
    judgeFigures,
    budgetFigures,
    peopleFigures,
    judgeTraffic,
    judgeLatency,
    judgeDay,
    drift,
    driftMeasurement,
  ),
  ...processSchemas,
  ...sessionSchemas,
  ...queueSchemas,
  ...overviewSchemas,
  ...callSchemas,
  ...settingsSchemas,
  ...api.schemasOf(replica),
  ...noticeSchemas,
  Error: api.object({ error: api.object({ code: api.text, message: api.text, todo: api.text }) }),
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
          description: 'A token of listen.tokens that may `read`; for POST, PUT, PATCH and DELETE, one that may `operate` or `annotate`.',
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
  const texts = Object.values(formats).map(({ type }) => [type, { schema: api.text }] as const);
  return { [file?.type ?? 'application/json']: { schema: answer }, ...Object.fromEntries(texts) };
}

function parameter(place: 'path' | 'query', name: string, { description, ...schema }: JsonObject): JsonObject {
  return { name, in: place, required: place === 'path', ...(description === undefined ? {} : { description }), schema };
}

function error(description: string): JsonObject {
  return { description, content: { 'application/json': { schema: api.reference('Error') } } };
}
