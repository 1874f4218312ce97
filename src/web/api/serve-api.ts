/** The read API under /api/v1 of the console listener. */
import type { FastifyInstance } from 'fastify';
import type { Tenant } from '../../model/ids.ts';
import { isJsonObject, jsonText, type JsonObject, type JsonValue } from '../../model/json.ts';
import { openApiDocument } from './openapi.ts';
import { NotKept, QueryFault, type Parameters } from './query.ts';
import { routes } from './routes.ts';
import type { ApiDeps, Route } from './route.ts';

export const apiPrefix = '/api/v1';

/** The one tenant that the bearer of an Authorization header sees; undefined: all of them. */
export type OnlyTenant = (authorization: string | undefined) => Tenant | undefined;

export function serveApi(app: FastifyInstance, parts: ApiDeps, onlyTenant: OnlyTenant): void {
  const document = openApiDocument(routes);
  app.get(`${apiPrefix}/openapi.json`, { config: { isOfTenants: true } }, async () => document);
  for (const route of routes) serveRoute(app, route, { parts, onlyTenant });
}

interface Serving {
  readonly parts: ApiDeps;
  readonly onlyTenant: OnlyTenant;
}

function serveRoute(
  app: FastifyInstance,
  { method, path, may, body, statuses, path_parameters: inPath, query_parameters: inQuery, file, ofAllTenants = [], handle }: Route,
  { parts, onlyTenant }: Serving,
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
      config: { may: may ?? 'operate', isOfTenants: Object.hasOwn(inQuery, 'tenant') },
      ...(body === undefined ? {} : { bodyLimit: body.bytesMax }),
    },
    async (request, reply) => {
      try {
        const given: Parameters = { ...(request.query as Parameters), ...(request.params as Parameters) };
        const only = onlyTenant(request.headers.authorization);
        if (only !== undefined && given['tenant'] !== undefined && given['tenant'] !== only)
          return await reply
            .code(403)
            .send(
              failure(
                'other_tenant',
                'The token sees its own tenant alone.',
                'Leave tenant out, or use a token of listen.tokens that sees all tenants.',
              ),
            );
        const told = await handle(parts, only === undefined ? given : { ...given, tenant: only }, (request.body ?? null) as JsonValue);
        const found =
          only !== undefined && isJsonObject(told ?? null)
            ? { ...(told as JsonObject), ...Object.fromEntries(ofAllTenants.map((key) => [key, []])) }
            : told;
        if (found === undefined)
          return await reply
            .code(404)
            .send(failure('not_found', 'The store holds no such run.', 'It may be too old for store.keep, or not scored yet.'));
        if (file !== undefined)
          return await reply.type(file.type).header('content-disposition', `attachment; filename="run.${file.ending}"`).send(found);
        // Whole numbers beyond 2^53 are written as they came.
        if (statuses !== undefined && isJsonObject(found)) reply.code(statuses.of(found));
        return await reply
          .type('application/json; charset=utf-8')
          .serializer((value: JsonValue) => jsonText(value))
          .send(found);
      } catch (error) {
        if (error instanceof QueryFault) return await reply.code(400).send(failure('bad_request', error.message, error.todo));
        if (error instanceof NotKept)
          return await reply.code(404).send(failure('not_kept', error.message, 'store.content and store.keep say what is kept.'));
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
