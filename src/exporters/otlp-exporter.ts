/** Spans over OTLP/HTTP. Whether and when to send again is the queue's to say. */
import http from 'node:http';
import https from 'node:https';
import { JsonTraceSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ExportOutcome } from './exporter.ts';
import { exportOutcome } from './export-outcome.ts';
import { post, type Answer } from './post.ts';
import type { SentSpan } from './sent-span.ts';
import type { ExporterSettings } from './settings.ts';
import { together } from './together.ts';
import { jsonSpans } from './write-sent-json.ts';
import { protobufSpans } from './write-sent-protobuf.ts';

export interface OtlpExporter {
  /** In one request, taken or refused as one. Resolves; rejects only when a span cannot be written. */
  send(spans: readonly SentSpan[]): Promise<ExportOutcome>;
  /** Ends the connections. */
  stop(): void;
}

const timeoutMsDefault = 10_000;
/** A carrier takes some kilobytes: a request stays far below what backends take. */
const spansPerRequest = 32;
const requestsMax = 4;
/** Spans under way at one time: a backlog fills every request. */
export const spansAtOnce = spansPerRequest * requestsMax;

/** Writers by protocol, with who reads the answers. */
const protocols = {
  'http/protobuf': { spans: protobufSpans, answers: ProtobufTraceSerializer },
  'http/json': { spans: jsonSpans, answers: JsonTraceSerializer },
} as const;

type Answers = (typeof protocols)[keyof typeof protocols]['answers'];

export function otlpExporter(url: string, settings: ExporterSettings): OtlpExporter {
  const { spans, answers } = protocols[settings.protocol ?? 'http/protobuf'];
  const writer = spans();
  const isTls = url.startsWith('https:');
  const agent = isTls ? new https.Agent({ keepAlive: true, ...settings.tls }) : new http.Agent({ keepAlive: true });
  const options = { url, headers: { ...settings.headers, 'content-type': writer.contentType }, timeoutMs: settings.timeoutMs ?? timeoutMsDefault, request: isTls ? https.request : http.request, agent };

  async function send(parts: readonly Buffer[]): Promise<ExportOutcome> {
    const answer = await post(options, writer.request(parts));
    return isRefused(answer, answers) ? { kind: 'failed', retryable: false, error: 'refused by a partial success' } : exportOutcome(answer);
  }

  const sendTogether = together({ itemsMax: spansPerRequest, requestsMax, send });
  return {
    send: async (spans) => sendTogether(writer.write(...spans)),
    stop: () => agent.destroy(),
  };
}

/** A backend that has taken the request and not the span says so in its answer. One whose answer cannot be read has taken it. */
function isRefused(answer: Answer, answers: Answers): boolean {
  if (answer.kind === 'unanswered' || answer.status >= 300 || answer.body.length === 0) return false;
  try {
    return Number(answers.deserializeResponse(answer.body).partialSuccess?.rejectedSpans ?? 0) > 0;
  } catch {
    return false;
  }
}
