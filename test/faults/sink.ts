/** A tracing backend over OTLP/HTTP that keeps the ids of what it took, and behaves as the test wants. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { traceRequest } from '../otlp/descriptors.ts';

export type Behaviour =
  | 'well'
  /** The connection is cut before an answer. */
  | 'down'
  /** Every answer takes a while. */
  | 'slow'
  /** It takes the spans, and then denies it, answers nonsense, or cuts the connection, by turns. */
  | 'lying'
  /** It refuses, in the words that ask to come again. */
  | 'busy';

export interface Sink {
  readonly endpoint: string;
  behave(behaviour: Behaviour): void;
  /** Ids of the spans that came, by their trace; the same span sent again is one. */
  taken(): ReadonlyMap<string, ReadonlySet<string>>;
  stop(): Promise<void>;
}

const slowMs = 300;

export async function openSink(): Promise<Sink> {
  const spans = new Map<string, Set<string>>();
  let behaviour: Behaviour = 'well';
  let requests = 0;
  const server = createServer((request, response) => void answer(request, response));

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    if (behaviour === 'down') return void request.socket.destroy();
    if (behaviour === 'busy') return void response.writeHead(503, { 'retry-after': '0' }).end();
    keep(Buffer.concat(chunks));
    if (behaviour === 'slow') setTimeout(() => told(response), slowMs);
    else if (behaviour === 'lying') lie(request, response);
    else told(response);
  }

  function keep(body: Buffer): void {
    const { resourceSpans = [] } = traceRequest.decode(body) as {
      readonly resourceSpans?: readonly {
        readonly scopeSpans?: readonly { readonly spans?: readonly { readonly traceId: Buffer; readonly spanId: Buffer }[] }[];
      }[];
    };
    for (const { traceId, spanId } of resourceSpans
      .flatMap(({ scopeSpans = [] }) => scopeSpans)
      .flatMap(({ spans: found = [] }) => found)) {
      const trace = Buffer.from(traceId).toString('hex');
      spans.set(trace, (spans.get(trace) ?? new Set()).add(Buffer.from(spanId).toString('hex')));
    }
  }

  function lie(request: IncomingMessage, response: ServerResponse): void {
    switch (requests++ % 3) {
      case 0:
        return void response.writeHead(503).end();
      case 1:
        return void request.socket.destroy();
      default:
        return void response.writeHead(429, { 'content-type': 'text/html' }).end('<html>no');
    }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    endpoint: `http://127.0.0.1:${typeof address === 'object' ? (address?.port ?? 0) : 0}`,
    behave: (next) => void (behaviour = next),
    taken: () => spans,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function told(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
}
