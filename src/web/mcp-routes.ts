/** The routes of MCP on the console listener. The server and its SDK load with the first message. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { schemaChecker } from '../../evaluators/configuration/options.ts';
import { IncomingMessage } from '../http/node-http.ts';
import { jsonText, type JsonValue, parseJson } from '../model/json.ts';
import { apiPrefix, failure } from './api/serve-api.ts';
import { routes } from './api/routes.ts';
import type { ApiRequest } from './mcp/api-request.ts';
import type { McpEndpoint } from './mcp/endpoint.ts';
import type { CallOutcome } from './mcp/server.ts';
import { present } from '../model/present.ts';

export const mcpPath = '/mcp';
/** A whole example has a megabyte at most. */
export const messageBytesMax = 1024 * 1024;

export interface McpOptions {
  /** Version of the program. */
  readonly version: string;
  readonly secret: () => string;
  /** Called after each call of a tool. */
  readonly onMcpCall?: ((tool: string, outcome: CallOutcome) => void) | undefined;
  readonly onFault: (error: Error) => void;
}

export function serveMcp(app: FastifyInstance, { version, secret, onMcpCall, onFault }: McpOptions): void {
  // Tools only read, unless the API grants the caller more.
  const config = { may: 'read', isOfTenants: true };
  let opened: Promise<McpEndpoint> | undefined;
  const open = async (): Promise<McpEndpoint> => {
    const { mcpEndpoint } = await import('./mcp/endpoint.ts');
    return mcpEndpoint(present({ routes, compile: schemaChecker, version, mark: secret, onFault, onCall: onMcpCall }));
  };
  app.post(mcpPath, { bodyLimit: messageBytesMax, config }, async (request, reply) => {
    opened ??= open();
    const endpoint = await opened;
    const { status, contentType, text } = await endpoint({ message: request.body as JsonValue, headers: request.headers }, (asked) =>
      answerOfApi(app, request, asked),
    );
    if (contentType !== undefined) reply.type(contentType);
    return reply.code(status).send(text);
  });
  app.route({
    method: ['GET', 'DELETE'],
    url: mcpPath,
    config,
    exposeHeadRoute: false,
    handler: async (_request, reply) =>
      reply
        .code(405)
        .header('allow', 'POST')
        .send(failure('not_allowed', 'The MCP server keeps no sessions and begins no messages.', `Send messages with POST ${mcpPath}.`)),
  });
}

/** Headers that say who asks. Requests of tools pass the same checks as those of the caller. */
const identity = ['host', 'origin', 'authorization', 'cookie', 'x-anti-forgery', 'sec-fetch-site'] as const;

async function answerOfApi(
  app: FastifyInstance,
  { headers, ip }: FastifyRequest,
  { method, path, body }: ApiRequest,
): Promise<{ readonly status: number; readonly body: JsonValue }> {
  const given = identity.flatMap((name) => {
    const value = headers[name];
    return typeof value === 'string' ? [[name, value] as const] : [];
  });
  const answer = await app.inject({
    method,
    url: `${apiPrefix}${path}`,
    headers: { ...Object.fromEntries(given), ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
    remoteAddress: ip,
    ...(body === undefined ? {} : { payload: jsonText(body) }),
  });
  return { status: answer.statusCode, body: parseJson(answer.body) ?? null };
}

/** True for requests of tools. They belong to the answer in progress of their message, which has its room. */
export function isOfTool({ raw }: FastifyRequest): boolean {
  return !(raw instanceof IncomingMessage);
}
