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
    readonly temperature?: number;
    readonly max_completion_tokens?: number;
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
  body: object = { error: { message: 'secret of the endpoint' } },
): Play {
  return (response) => {
    response.writeHead(code, { 'content-type': 'application/json', ...headers });
    response.end(JSON.stringify(body));
  };
}

/** The vectors of the texts that were sent; the entries in whatever order. */
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

/** Takes formats up to this one. */
export function knows(formats: readonly string[], content: string): Play {
  return (response, request) => {
    const play = formats.includes(request.body.response_format?.type ?? 'text')
      ? says(content)
      : status(400, {}, { object: 'error', message: 'no such format' });
    play(response, request);
  };
}
