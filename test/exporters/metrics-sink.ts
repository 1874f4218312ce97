/** A metrics backend on loopback, read with the published messages. */
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { metricsRequest } from '../otlp/descriptors.ts';

interface Pair {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}
interface SinkPoint {
  readonly attributes?: readonly Pair[];
  readonly startTimeUnixNano?: string;
  readonly timeUnixNano: string;
  readonly asDouble?: number;
  readonly count?: string;
  readonly sum?: number;
  readonly bucketCounts?: readonly string[];
  readonly explicitBounds?: readonly number[];
  readonly exemplars?: readonly {
    readonly traceId: Buffer;
    readonly spanId: Buffer;
    readonly asDouble: number;
    readonly timeUnixNano: string;
  }[];
}
interface SinkData {
  readonly dataPoints: readonly SinkPoint[];
  readonly aggregationTemporality?: number;
  readonly isMonotonic?: boolean;
}
export interface SinkMetric {
  readonly name: string;
  readonly description: string;
  readonly unit: string;
  readonly gauge?: SinkData;
  readonly sum?: SinkData;
  readonly histogram?: SinkData;
}
interface SinkRequest {
  readonly resourceMetrics: readonly {
    readonly resource: { readonly attributes: readonly Pair[] };
    readonly scopeMetrics: readonly { readonly scope: { readonly name: string }; readonly metrics: readonly SinkMetric[] }[];
  }[];
}

export interface MetricsPushed {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly resource: { readonly [key: string]: string | undefined };
  readonly scope: string | undefined;
  readonly metrics: readonly SinkMetric[];
}

export interface MetricsSink {
  readonly url: string;
  readonly pushed: readonly MetricsPushed[];
  close(): Promise<void>;
}

/** `answer`: what it does with the n-th request, from 0. */
export async function metricsSink(
  answer: (response: ServerResponse, at: number) => void = (response) => void response.end(),
): Promise<MetricsSink> {
  const pushed: MetricsPushed[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { resourceMetrics } = metricsRequest.decode(Buffer.concat(chunks)) as unknown as SinkRequest;
      const [block] = resourceMetrics;
      pushed.push({
        path: request.url ?? '',
        headers: request.headers,
        resource: labelsOf(block?.resource.attributes),
        scope: block?.scopeMetrics[0]?.scope.name,
        metrics: block?.scopeMetrics[0]?.metrics ?? [],
      });
      answer(response, pushed.length - 1);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/v1/metrics`,
    pushed,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function labelsOf(pairs: readonly Pair[] = []): { readonly [key: string]: string | undefined } {
  return Object.fromEntries(pairs.map(({ key, value }) => [key, value.stringValue]));
}
