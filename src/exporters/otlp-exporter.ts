/** Spans over OTLP/HTTP: written as OpenTelemetry's own serializers do, with scores as doubles, and sent without their retries, which are the queue's. */
import http from 'node:http';
import https from 'node:https';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan } from '@opentelemetry/sdk-trace-base';
import type { ExportOutcome } from './exporter.ts';
import { exportOutcome } from './export-outcome.ts';
import { post, type Answer } from './post.ts';
import { doublesInJson, doublesInProtobuf } from './score-doubles.ts';
import type { ExporterSettings } from './settings.ts';
import { together } from './together.ts';

export interface OtlpExporter {
  /** Resolves, never rejects. */
  send(span: ReadableSpan): Promise<ExportOutcome>;
  /** Ends the connections. */
  stop(): void;
}

const timeoutMsDefault = 10_000;
/** A carrier takes some kilobytes: a request stays far below what backends take. */
const spansPerRequest = 32;
const requestsMax = 4;
/** Spans under way at one time: a backlog fills every request. */
export const spansAtOnce = spansPerRequest * requestsMax;

/** Serializers by protocol, with the Content-Type of each. */
const protocols = {
  'http/protobuf': { contentType: 'application/x-protobuf', serializer: ProtobufTraceSerializer, doubles: doublesInProtobuf },
  'http/json': { contentType: 'application/json', serializer: JsonTraceSerializer, doubles: doublesInJson },
} as const;

type Serializer = (typeof protocols)[keyof typeof protocols]['serializer'];

export function otlpExporter(url: string, settings: ExporterSettings): OtlpExporter {
  const { contentType, serializer, doubles } = protocols[settings.protocol ?? 'http/protobuf'];
  const isTls = url.startsWith('https:');
  const agent = isTls ? new https.Agent({ keepAlive: true, ...settings.tls }) : new http.Agent({ keepAlive: true });
  const options = { url, headers: { ...settings.headers, 'content-type': contentType }, timeoutMs: settings.timeoutMs ?? timeoutMsDefault, request: isTls ? https.request : http.request, agent };

  async function send(spans: readonly ReadableSpan[]): Promise<ExportOutcome> {
    const request = serializer.serializeRequest([...spans]);
    if (request === undefined) return { kind: 'failed', retryable: false, error: 'unwritable' };
    const answer = await post(options, doubles(request));
    return isRefused(answer, serializer) ? { kind: 'failed', retryable: false, error: 'refused by a partial success' } : exportOutcome(answer);
  }

  return {
    send: together({ itemsMax: spansPerRequest, requestsMax, send }),
    stop: () => agent.destroy(),
  };
}

/** A backend that has taken the request and not the span says so in its answer. One whose answer cannot be read has taken it. */
function isRefused(answer: Answer, serializer: Serializer): boolean {
  if (answer.kind === 'unanswered' || answer.status >= 300 || answer.body.length === 0) return false;
  try {
    return Number(serializer.deserializeResponse(answer.body).partialSuccess?.rejectedSpans ?? 0) > 0;
  } catch {
    return false;
  }
}
