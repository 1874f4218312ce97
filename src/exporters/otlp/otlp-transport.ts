/** Requests over OTLP: to a URL of each signal, or to methods of gRPC at one host. */
import { gzip } from 'node:zlib';
import type { OtlpEncoding } from '../../otlp/read/read.ts';
import { rejectedItems } from '../../otlp/read/responses.ts';
import type { OtlpSignal } from '../../otlp/write/responses.ts';
import type { ClientTls } from '../../model/client-tls.ts';
import { grpcClient } from '../delivery/grpc-client.ts';
import { httpClient, timeoutMsDefault, type Answer } from '../delivery/http-client.ts';
import type { OtlpProtocol } from '../settings.ts';

export interface OtlpTransportSettings {
  /** The whole URL of each signal. Of gRPC only the host and the port of the first count. */
  readonly urls: { readonly [signal in OtlpSignal]: string };
  readonly headers?: { readonly [name: string]: string };
  readonly protocol?: OtlpProtocol;
  readonly compression?: 'none' | 'gzip';
  readonly tls?: ClientTls;
  /** Longest time for one request. */
  readonly timeoutMs?: number;
}

export interface OtlpTransport {
  /** Sends one request; resolves, never rejects. Maps a gRPC status to the equivalent HTTP status. */
  send(signal: OtlpSignal, contentType: string, body: Buffer): Promise<Answer>;
  /** Where such requests go: of gRPC host, port and method. */
  url(signal: OtlpSignal): string;
  /** Ends the connections. */
  stop(): void;
}

/** The fastest: what stands between agents and a backend must cost little. */
const gzipLevel = 1;

export function otlpTransport(settings: OtlpTransportSettings): OtlpTransport {
  const { urls, protocol, compression } = settings;
  const { send, stop } = protocol === 'grpc' ? overGrpc(settings) : overHttp(settings);
  const url = (signal: OtlpSignal): string => (protocol === 'grpc' ? new URL(methods[signal], urls.traces).href : urls[signal]);
  if (compression !== 'gzip') return { send: (signal, contentType, body) => send({ signal, contentType, isGzip: false }, body), url, stop };
  return { send: async (signal, contentType, body) => await send({ signal, contentType, isGzip: true }, await zipped(body)), url, stop };
}

interface Sent {
  readonly signal: OtlpSignal;
  readonly contentType: string;
  readonly isGzip: boolean;
}

interface Carried {
  send(request: Sent, body: Buffer): Promise<Answer>;
  stop(): void;
}

function overHttp({ urls, headers, tls, timeoutMs }: OtlpTransportSettings): Carried {
  const client = httpClient({ tls, timeoutMs });
  return {
    send: ({ signal, contentType, isGzip }, body) =>
      client.send(
        { url: urls[signal], headers: { ...headers, 'content-type': contentType, ...(isGzip ? { 'content-encoding': 'gzip' } : {}) } },
        body,
      ),
    stop: client.stop,
  };
}

const methods: { readonly [signal in OtlpSignal]: string } = {
  traces: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  logs: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
};

function overGrpc({ urls, headers = {}, tls, timeoutMs = timeoutMsDefault }: OtlpTransportSettings): Carried {
  const client = grpcClient({ origin: new URL(urls.traces).origin, headers, timeoutMs, ...(tls === undefined ? {} : { tls }) });
  return { send: ({ signal, isGzip }, body) => client.call({ method: methods[signal], isGzip }, body), stop: client.stop };
}

/** How many items the backend rejected in an answer that takes the request. */
export function rejectedIn(answer: Answer, signal: OtlpSignal, encoding: OtlpEncoding): number {
  if (answer.kind === 'unanswered' || answer.status >= 300 || answer.isPage === true) return 0;
  return rejectedItems(answer.body, signal, encoding);
}

/** Where log records go, beside the spans. A URL that does not end as that of spans does is taken for both. */
export function logsUrl(tracesUrl: string): string {
  const url = new URL(tracesUrl);
  url.pathname = url.pathname.replace(/\/v1\/traces$/, '/v1/logs');
  return url.href;
}

/** Beside the main thread. */
function zipped(body: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    gzip(body, { level: gzipLevel }, (error, bytes) => (error === null ? resolve(bytes) : reject(error)));
  });
}
