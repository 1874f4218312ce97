/** OpenTelemetry's own OTLP exporter over HTTP, put together as its packages for spans do, with scores written as doubles. */
import http from 'node:http';
import https from 'node:https';
import { OTLPExporterBase } from '@opentelemetry/otlp-exporter-base';
import { createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http';
import { JsonTraceSerializer, ProtobufTraceSerializer, TraceExporterMetricsHelper } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { ExportOutcome } from './exporter.ts';
import { exportOutcome } from './export-outcome.ts';
import { doublesInJson, doublesInProtobuf } from './score-doubles.ts';
import type { ExporterSettings } from './settings.ts';

export interface OtlpExporter {
  /** Resolves, never rejects. */
  send(span: ReadableSpan): Promise<ExportOutcome>;
  /** Ends the connections. */
  stop(): void;
}

type TraceSerializer = typeof ProtobufTraceSerializer;

const timeoutMsDefault = 10_000;
/** A backend that sends its answer byte by byte never runs into the time-out of the request: after this much more it is cut off. */
const graceMs = 1000;
const requestsMax = 30;

/** Serializers by protocol, with the Content-Type of each. */
const protocols = {
  'http/protobuf': { contentType: 'application/x-protobuf', serializer: ProtobufTraceSerializer, doubles: doublesInProtobuf },
  'http/json': { contentType: 'application/json', serializer: JsonTraceSerializer, doubles: doublesInJson },
} as const;

export function otlpExporter(url: string, settings: ExporterSettings): OtlpExporter {
  const timeoutMillis = settings.timeoutMs ?? timeoutMsDefault;
  const { contentType, serializer, doubles } = protocols[settings.protocol ?? 'http/protobuf'];
  const agent = url.startsWith('https:') ? new https.Agent({ keepAlive: true, ...settings.tls }) : new http.Agent({ keepAlive: true });
  const exact: TraceSerializer = {
    serializeRequest(spans) {
      const request = serializer.serializeRequest(spans);
      return request === undefined ? undefined : doubles(request);
    },
    deserializeResponse: (data) => serializer.deserializeResponse(data),
  };
  const options = {
    url,
    headers: async () => ({ ...settings.headers, 'Content-Type': contentType }),
    timeoutMillis,
    concurrencyLimit: requestsMax,
    compression: 'none' as const,
    agentFactory: () => agent,
  };
  const exporter = new OTLPExporterBase(createOtlpHttpExportDelegate(options, exact, 'otlp_http_span_exporter', TraceExporterMetricsHelper, undefined));
  return {
    send: (span) =>
      new Promise((resolve) => {
        const deadlineMs = timeoutMillis + graceMs;
        const timer = setTimeout(() => {
          agent.destroy();
          resolve({ kind: 'failed', retryable: true, error: `no answer within ${deadlineMs} ms` });
        }, deadlineMs);
        exporter.export([span], (result) => {
          clearTimeout(timer);
          resolve(exportOutcome(result));
        });
      }),
    stop: () => agent.destroy(),
  };
}
