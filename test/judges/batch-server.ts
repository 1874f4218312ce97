/** An endpoint on loopback that speaks the Batch API of OpenAI's protocol; the test decides when a batch is done, and with what. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ChatRequest, Play } from './chat-server.ts';

export interface BatchLine {
  readonly custom_id: string;
  readonly method: string;
  readonly url: string;
  readonly body: ChatRequest['body'];
}

export interface ServedBatch {
  readonly id: string;
  readonly lines: readonly BatchLine[];
  readonly body: {
    readonly input_file_id: string;
    readonly endpoint: string;
    readonly completion_window: string;
    readonly metadata: { readonly [key: string]: string };
  };
  readonly idempotencyKey: string | undefined;
  status: string;
  files: { output_file_id?: string; error_file_id?: string };
}

export interface BatchServer {
  readonly baseUrl: string;
  readonly batches: readonly ServedBatch[];
  /** Questions that came by themselves. */
  readonly direct: readonly ChatRequest[];
  /** Every request: method and path. */
  readonly seen: readonly string[];
  /** Files that are still there. */
  readonly files: ReadonlyMap<string, string>;
  /** Ends a batch with these texts as its files. */
  finish(batch: ServedBatch, given: { readonly output?: string; readonly errors?: string; readonly status?: string }): void;
  /** Handles a request before the endpoint; true when it has answered, or will. */
  instead: ((request: { readonly method: string; readonly path: string }, response: ServerResponse) => boolean) | undefined;
  /** The answer to a created batch, once it is there. */
  afterCreation: ((response: ServerResponse) => boolean) | undefined;
  close(): Promise<void>;
}

/** `play` answers questions that come by themselves. `tls`: over HTTPS. */
export async function batchServer(play: Play, tls?: https.ServerOptions): Promise<BatchServer> {
  const [batches, direct, seen, files] = [[] as ServedBatch[], [] as ChatRequest[], [] as string[], new Map<string, string>()];
  let ids = 0;
  const made: Omit<BatchServer, 'baseUrl'> = {
    batches,
    direct,
    seen,
    files,
    instead: undefined,
    afterCreation: undefined,
    finish(batch, { output, errors, status = 'completed' }) {
      for (const [name, text] of [
        ['output_file_id', output],
        ['error_file_id', errors],
      ] as const) {
        if (text === undefined) continue;
        const id = `file-${++ids}`;
        files.set(id, text);
        batch.files[name] = id;
      }
      batch.status = status;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };

  function shown({ id, status, files: own, body: { metadata, input_file_id } }: ServedBatch): object {
    return {
      id,
      object: 'batch',
      endpoint: '/v1/chat/completions',
      completion_window: '24h',
      created_at: 0,
      status,
      metadata,
      input_file_id,
      ...own,
    };
  }

  function answer(request: IncomingMessage, response: ServerResponse, bytes: Buffer): void {
    const [method, path] = [request.method ?? '', (request.url ?? '').replace(/\?.*/, '').replace(/^\/v1/, '')];
    seen.push(`${method} ${path}`);
    if (made.instead?.({ method, path }, response) === true) return;
    const json = (status: number, value: object): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    const [, kind, id = '', more] = path.split('/');
    const batch = batches.find((one) => one.id === id);
    if (kind === 'chat') {
      const asked = { headers: request.headers, url: request.url ?? '', body: JSON.parse(bytes.toString()) as ChatRequest['body'] };
      direct.push(asked);
      return play(response, asked);
    }
    if (kind === 'files' && method === 'POST') {
      files.set(`file-${++ids}`, fileIn(bytes.toString()));
      return json(200, { id: `file-${ids}`, object: 'file', purpose: 'batch' });
    }
    if (kind === 'files' && files.has(id)) {
      if (method === 'GET' && more === 'content')
        return void response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(files.get(id));
      files.delete(id);
      return json(200, { id, object: 'file', deleted: true });
    }
    if (kind === 'batches' && method === 'POST' && id === '') {
      const body = JSON.parse(bytes.toString()) as ServedBatch['body'];
      const lines = (files.get(body.input_file_id) ?? '')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as BatchLine);
      const own: ServedBatch = {
        id: `batch_${++ids}`,
        lines,
        body,
        idempotencyKey: request.headers['idempotency-key']?.toString(),
        status: 'validating',
        files: {},
      };
      batches.push(own);
      if (made.afterCreation?.(response) === true) return;
      return json(200, shown(own));
    }
    if (kind === 'batches' && id === '') return json(200, { object: 'list', data: batches.map(shown).reverse(), has_more: false });
    if (kind === 'batches' && batch !== undefined) {
      if (more === 'cancel') batch.status = 'cancelling';
      return json(200, shown(batch));
    }
    return json(404, { error: { message: 'no such thing' } });
  }

  const listener = (request: IncomingMessage, response: ServerResponse): void => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => answer(request, response, Buffer.concat(chunks)));
  };
  const server = tls === undefined ? createServer(listener) : https.createServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return Object.assign(made, { baseUrl: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/v1` });
}

/** The lines of a form with a file that are questions. */
function fileIn(form: string): string {
  return form
    .split(/\r?\n/)
    .filter((line) => line.startsWith('{"'))
    .join('\n');
}

/** A line of a file of answers. */
/** `called`: the content is the arguments of a call of this function. */
export function answerLine(
  custom: string,
  content: string,
  { tokens = { prompt_tokens: 70, completion_tokens: 7 }, called }: { readonly tokens?: object; readonly called?: string } = {},
): string {
  const said =
    called === undefined
      ? { content }
      : { content: null, tool_calls: [{ id: 'c', type: 'function', function: { name: called, arguments: content } }] };
  const body = {
    id: 'b',
    object: 'chat.completion',
    model: 'm-2026',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', refusal: null, ...said } }],
    usage: tokens,
  };
  return JSON.stringify({ id: 'r', custom_id: custom, response: { status_code: 200, request_id: 'q', body }, error: null });
}

export function errorLine(custom: string, error: { readonly code: string } | { readonly status: number }): string {
  return JSON.stringify({
    id: 'r',
    custom_id: custom,
    ...('code' in error
      ? { response: null, error: { code: error.code, message: 'secret of the endpoint' } }
      : { response: { status_code: error.status, body: { error: { message: 'secret of the endpoint' } } }, error: null }),
  });
}
