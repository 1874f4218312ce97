/** A backend with a score API, on loopback: the rules of its interface are handed in, and faults can be put before them. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { run } from '../builders/scored-run.ts';

export interface NativeServerRequest {
  readonly method: string;
  /** The path with the query. */
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  /** The JSON; undefined when there is none. */
  readonly body: unknown;
}

export interface NativeServerAnswer {
  readonly status: number;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: unknown;
}

/** A score as the backend shows it. */
export interface ShownScore {
  readonly name: string;
  /** `trace`, or `trace <id>` for one that is not that of `run()`; `span <id>`, `session <id>`. */
  readonly at: string;
  readonly score?: number;
  readonly label?: string;
  readonly explanation?: string;
}

/** The content of a backend, and its answers. A new one is empty. */
export interface NativeRules {
  /** Spans have come, or not: without them a backend that looks for them refuses. */
  hasSpans: boolean;
  answer(request: NativeServerRequest): NativeServerAnswer;
  scores(): readonly ShownScore[];
}

/** The form in which a trace is shown. */
export function traceAt(id: string): string {
  return id === run().traceId ? 'trace' : `trace ${id}`;
}

export interface NativeServer {
  readonly url: string;
  readonly requests: readonly NativeServerRequest[];
  /** Answers this once instead of what the rules say. */
  next: NativeServerAnswer | undefined;
  close(): Promise<void>;
}

export async function nativeServer(rules: NativeRules): Promise<NativeServer> {
  const requests: NativeServerRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString();
      const whole = {
        method: request.method ?? '',
        path: request.url ?? '',
        headers: request.headers,
        body: text === '' ? undefined : (JSON.parse(text) as unknown),
      };
      requests.push(whole);
      const { status, headers = {}, body } = own.next ?? rules.answer(whole);
      own.next = undefined;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(body === undefined ? undefined : JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const own: NativeServer = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    next: undefined,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return own;
}
