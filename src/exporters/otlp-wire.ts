/** Requests over OTLP: to a URL of each signal, or to methods of gRPC at one host. */
import http from 'node:http';
import https from 'node:https';
import { gzip } from 'node:zlib';
import type { OtlpSignal } from '../otlp/responses.ts';
import { grpcClient } from './grpc-client.ts';
import { post, type Answer } from './post.ts';
import type { ExporterSettings } from './settings.ts';

/** How spans are encoded, and what carries them. */
export const otlpProtocols = ['http/protobuf', 'http/json', 'grpc'] as const;
export type OtlpProtocol = (typeof otlpProtocols)[number];

export interface OtlpWireSettings extends Pick<ExporterSettings, 'headers' | 'protocol' | 'tls' | 'timeoutMs'> {
  /** The whole URL of each signal. Of gRPC only the host and the port of the first count. */
  readonly urls: { readonly [signal in OtlpSignal]: string };
  readonly compression?: 'none' | 'gzip';
}

export interface OtlpWire {
  /** Sends one request; resolves, never rejects. What gRPC answers is told as the HTTP status that says the same. */
  send(signal: OtlpSignal, contentType: string, body: Buffer): Promise<Answer>;
  /** Where such requests go: of gRPC host, port and method. */
  url(signal: OtlpSignal): string;
  /** Ends the connections. */
  stop(): void;
}

const timeoutMsDefault = 10_000;
/** The fastest: what stands between agents and a backend must cost little. */
const gzipLevel = 1;

export function otlpWire(settings: OtlpWireSettings): OtlpWire {
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

function overHttp({ urls, headers, tls, timeoutMs = timeoutMsDefault }: OtlpWireSettings): Carried {
  const isTls = urls.traces.startsWith('https:');
  const agent = isTls ? new https.Agent({ keepAlive: true, ...tls }) : new http.Agent({ keepAlive: true });
  const common = { timeoutMs, request: isTls ? https.request : http.request, agent };
  return {
    send: ({ signal, contentType, isGzip }, body) => post({ ...common, url: urls[signal], headers: { ...headers, 'content-type': contentType, ...(isGzip ? { 'content-encoding': 'gzip' } : {}) } }, body),
    stop: () => agent.destroy(),
  };
}

const methods: { readonly [signal in OtlpSignal]: string } = {
  traces: '/opentelemetry.proto.collector.trace.v1.TraceService/Export',
  logs: '/opentelemetry.proto.collector.logs.v1.LogsService/Export',
};

function overGrpc({ urls, headers = {}, tls, timeoutMs = timeoutMsDefault }: OtlpWireSettings): Carried {
  const client = grpcClient({ origin: new URL(urls.traces).origin, headers, timeoutMs, ...(tls === undefined ? {} : { tls }) });
  return { send: ({ signal, isGzip }, body) => client.call({ method: methods[signal], isGzip }, body), stop: client.stop };
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
