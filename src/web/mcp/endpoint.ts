/** MCP over HTTP without sessions: each request has its own server, so any replica answers, and nothing is kept between requests. */
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { isJsonArray, type JsonObject, type JsonValue } from '../../model/json.ts';
import type { Route } from '../api/route.ts';
import type { AskApi } from './api-request.ts';
import { type Check, type McpParts, mcpServer, type McpServing } from './server.ts';
import type { Tool } from './tool.ts';
import { toolsOf } from './tools.ts';

export interface McpRequest {
  /** The message as JSON. */
  readonly message: JsonValue;
  readonly headers: { readonly [name: string]: string | readonly string[] | undefined };
}

export interface McpResponse {
  readonly status: number;
  readonly contentType: string | undefined;
  readonly text: string;
}

/** The headers that the protocol reads. */
const headersRead = ['accept', 'content-type', 'mcp-protocol-version'] as const;

export interface McpEndpointOptions extends Omit<McpParts, 'tools' | 'checkOf'> {
  /** The routes of the API. */
  readonly routes: readonly Route[];
  /** Compiles a schema, which takes milliseconds. */
  readonly compile: (schema: JsonObject) => Check;
}

/** Answers messages. `ask`: with the rights of the caller. */
export type McpEndpoint = (request: McpRequest, ask: AskApi) => Promise<McpResponse>;

export function mcpEndpoint({ routes, compile, ...parts }: McpEndpointOptions): McpEndpoint {
  const tools = toolsOf(routes);
  const checks = new Map<Tool, Check>();
  const checkOf = (tool: Tool): Check => {
    const check = checks.get(tool) ?? compile(tool.input);
    checks.set(tool, check);
    return check;
  };
  return (request, ask) => answered(request, { ...parts, tools, checkOf, ask });
}

async function answered({ message, headers }: McpRequest, serving: McpServing): Promise<McpResponse> {
  // The protocol has no batches since 2025-06-18, and a batch would be many calls in the room of one.
  if (isJsonArray(message)) return refusal('A request carries one message: batches are not supported.');
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  const server = mcpServer(serving);
  await server.connect(transport);
  try {
    const given = headersRead.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value] as [string, string]] : [];
    });
    const request = new Request('http://localhost/mcp', { method: 'POST', headers: given });
    const response = await transport.handleRequest(request, { parsedBody: message });
    return { status: response.status, contentType: response.headers.get('content-type') ?? undefined, text: await response.text() };
  } finally {
    await server.close();
  }
}

function refusal(message: string): McpResponse {
  return {
    status: 400,
    contentType: 'application/json',
    text: JSON.stringify({ jsonrpc: '2.0', error: { code: -32_600, message }, id: null }),
  };
}
