/** A backend on loopback that takes OTLP over HTTP as a Collector sends it, and keeps the spans. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { wire } from '../../src/model/attributes.ts';
import { readLogs, readTraces } from '../../src/otlp/read/read.ts';

interface Place {
  readonly traceId: string;
  readonly spanId: string;
}

export interface Backend {
  readonly port: number;
  /** Spans that are not of ours. */
  readonly agents: readonly Place[];
  readonly carriers: readonly (Place & { readonly results: number })[];
  /** Results as log records of ours. */
  readonly records: readonly Place[];
  /** Requests that could not be read. */
  unreadable(): number;
  close(): Promise<void>;
}

export async function backend(): Promise<Backend> {
  const agents: Place[] = [];
  const carriers: (Place & { readonly results: number })[] = [];
  const records: Place[] = [];
  let unreadable = 0;

  function take(url: string, body: Buffer): void {
    if (url === '/v1/traces') {
      for (const span of readTraces(body, 'protobuf').spans) {
        const { traceId, spanId, events } = span;
        if (span.attribute(wire.generated) === true) carriers.push({ traceId, spanId, results: events.length });
        else agents.push({ traceId, spanId });
      }
    } else {
      for (const record of readLogs(body, 'protobuf').records)
        if (record.eventName === wire.evaluationEvent) records.push({ traceId: record.traceId, spanId: record.spanId ?? '' });
    }
  }

  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      try {
        const body = Buffer.concat(chunks);
        take(request.url ?? '', request.headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body);
      } catch {
        unreadable++;
      }
      response.writeHead(200, { 'content-type': 'application/x-protobuf' }).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    agents,
    carriers,
    records,
    unreadable: () => unreadable,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
