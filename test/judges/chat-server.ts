/** An endpoint for chat completions and embeddings on loopback that plays a script. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';

export interface ChatRequest {
  readonly headers: IncomingMessage['headers'];
  readonly url: string;
  readonly body: {
    readonly model: string;
    readonly messages: readonly { readonly role: string; readonly content: string }[];
    readonly response_format?: {
      readonly type: string;
      readonly json_schema?: { readonly name: string; readonly strict: boolean; readonly schema: object };
    };
    readonly tools?: readonly { readonly type: string; readonly function: { readonly name: string; readonly parameters: object } }[];
    readonly tool_choice?: { readonly type: string; readonly function: { readonly name: string } };
    readonly temperature?: number;
    readonly max_completion_tokens?: number;
    readonly max_tokens?: number;
    readonly reasoning_effort?: string;
    readonly input?: readonly string[];
    readonly encoding_format?: string;
  };
}

export type Play = (response: ServerResponse, request: ChatRequest) => void;

export interface ChatServer {
  readonly baseUrl: string;
  readonly requests: readonly ChatRequest[];
  close(): Promise<void>;
}

/** Plays one entry a request; the last one again and again. */
export async function chatServer(...script: readonly Play[]): Promise<ChatServer> {
  return await playing(script);
}

/** The same over HTTPS. */
export async function tlsChatServer(tls: https.ServerOptions, ...script: readonly Play[]): Promise<ChatServer> {
  return await playing(script, tls);
}

async function playing(script: readonly Play[], tls?: https.ServerOptions): Promise<ChatServer> {
  const requests: ChatRequest[] = [];
  const listener = (incoming: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const request = {
        headers: incoming.headers,
        url: incoming.url ?? '',
        body: JSON.parse(Buffer.concat(chunks).toString()) as ChatRequest['body'],
      };
      requests.push(request);
      (script[requests.length - 1] ?? script.at(-1))?.(response, request);
    });
  };
  const server = tls === undefined ? createServer(listener) : https.createServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/v1`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A completion with this text. */
export function says(
  content: string | null,
  choice: object = {},
  usage: object = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 },
): Play {
  return (response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        id: 'c',
        object: 'chat.completion',
        created: 0,
        model: 'm',
        choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content, refusal: null }, ...choice }],
        usage,
      }),
    );
  };
}

export function status(
  code: number,
  headers: { readonly [name: string]: string } = {},
  body: object | string = '<p>secret of the endpoint</p>',
): Play {
  return (response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

/** The vectors of the texts that were sent; the entries in any order. */
export function embeds(vectorOf: (text: string) => unknown, { reversed = false }: { readonly reversed?: boolean } = {}): Play {
  return (response, request) => {
    const entries = (request.body.input ?? []).map((text, index) => ({ object: 'embedding', index, embedding: vectorOf(text) }));
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        object: 'list',
        model: 'm',
        data: reversed ? entries.toReversed() : entries,
        usage: { prompt_tokens: 5, total_tokens: 5 },
      }),
    );
  };
}

/** The format in which a question asks for its answer. */
export function formatOf({ body }: ChatRequest): string {
  return body.tools === undefined ? (body.response_format?.type ?? 'text') : 'tool_call';
}

/** A completion that calls the function of the request, or this one, once with each of these arguments. */
export function calls(
  given: readonly unknown[],
  { name, content = null }: { readonly name?: string; readonly content?: string | null } = {},
): Play {
  return (response, request) => {
    const function_ = name ?? request.body.tool_choice?.function.name ?? '';
    const toolCalls = given.map((one, at) => ({ id: `c${at}`, type: 'function', function: { name: function_, arguments: one } }));
    says(null, { finish_reason: 'tool_calls', message: { role: 'assistant', content, tool_calls: toolCalls } })(response, request);
  };
}

/** Takes these formats. */
export function knows(formats: readonly string[], content: string): Play {
  return (response, request) => {
    const format = formatOf(request);
    const answer = format === 'tool_call' ? calls([content]) : says(content);
    const play = formats.includes(format) ? answer : status(400, {}, { object: 'error', message: 'no such format' });
    play(response, request);
  };
}
