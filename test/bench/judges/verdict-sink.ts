/** A tracing backend that notes when the verdict of an evaluator on a run came. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { traceRequest } from '../../otlp/descriptors.ts';

interface Value {
  readonly stringValue?: string;
}

interface Decoded {
  readonly resourceSpans?: readonly {
    readonly scopeSpans?: readonly {
      readonly spans?: readonly {
        readonly traceId: Buffer;
        readonly events?: readonly { readonly attributes?: readonly { readonly key: string; readonly value?: Value }[] }[];
      }[];
    }[];
  }[];
}

export interface VerdictSink {
  readonly endpoint: string;
  /** When the first verdict of this evaluator on the trace came, in milliseconds of `performance.now`. */
  cameMs(traceId: string): number | undefined;
  /** Traces with such a verdict. */
  count(): number;
  close(): Promise<void>;
}

export async function verdictSink(evaluator: string): Promise<VerdictSink> {
  const came = new Map<string, number>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const nowMs = performance.now();
      const { resourceSpans = [] } = traceRequest.decode(Buffer.concat(chunks)) as Decoded;
      for (const { traceId, events = [] } of resourceSpans
        .flatMap(({ scopeSpans = [] }) => scopeSpans)
        .flatMap(({ spans = [] }) => spans)) {
        const trace = Buffer.from(traceId).toString('hex');
        const isMeant = events.some(({ attributes = [] }) =>
          attributes.some(({ key, value }) => key === 'gen_ai.evaluation.name' && value?.stringValue === evaluator),
        );
        if (isMeant && !came.has(trace)) came.set(trace, nowMs);
      }
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cameMs: (traceId) => came.get(traceId),
    count: () => came.size,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
