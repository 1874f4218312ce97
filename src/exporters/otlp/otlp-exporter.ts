/** Spans and records over OTLP. Whether and when to send again is the queue's to say. */
import { JsonLogsSerializer, JsonTraceSerializer, ProtobufLogsSerializer, ProtobufTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { OtlpSignal } from '../../otlp/write/responses.ts';
import type { ExportOutcome, PlannedRequest } from '../exporter.ts';
import { exportOutcome, refusalNamed } from '../delivery/export-outcome.ts';
import { rejectedFault } from '../delivery/failure-reason.ts';
import type { OtlpProtocol, ExporterSettings } from '../settings.ts';
import { otlpWire } from './otlp-transport.ts';
import type { Answer } from '../delivery/http-request.ts';
import type { SentRecord, OtlpWriter, SentSpan } from '../../otlp/write/outgoing-items.ts';
import { microBatcher } from '../delivery/micro-batcher.ts';
import { jsonRecords, jsonSpans } from '../../otlp/write/write-outgoing-json.ts';
import { protobufRecords, protobufSpans } from '../../otlp/write/write-outgoing-protobuf.ts';
import { chunks } from '../../model/chunks.ts';
import { parseJson } from '../../model/json.ts';

export interface OtlpExporter<Item> {
  /** In one request, taken or refused as one. Resolves; rejects only when an item cannot be written. */
  send(items: readonly Item[]): Promise<ExportOutcome>;
  /** A request with nothing in it. Resolves, never rejects. */
  probe(): Promise<ExportOutcome>;
  /** What each run is sent as → the requests. */
  plan(runs: readonly (readonly Item[])[]): readonly PlannedRequest[];
  /** Ends the connections. */
  stop(): void;
}

/** What is sent of a run takes some kilobytes: a request stays far below what backends take. */
const itemsPerRequest = 32;
const requestsMax = 4;
/** Under way at one time: a backlog fills every request. */
export const itemsAtOnce = itemsPerRequest * requestsMax;

/** How a signal is written, and how many of its items an answer says were not taken. */
interface Encoding<Item> {
  readonly writer: () => OtlpWriter<Item>;
  readonly rejected: (answer: Buffer) => number | string | undefined;
}

type Encodings<Item> = { readonly [protocol in OtlpProtocol]: Encoding<Item> } & { readonly signal: OtlpSignal };

const spansInProtobuf: Encoding<SentSpan> = {
  writer: protobufSpans,
  rejected: (answer) => ProtobufTraceSerializer.deserializeResponse(answer).partialSuccess?.rejectedSpans,
};
const recordsInProtobuf: Encoding<SentRecord> = {
  writer: protobufRecords,
  rejected: (answer) => ProtobufLogsSerializer.deserializeResponse(answer).partialSuccess?.rejectedLogRecords,
};

export const spanEncodings: Encodings<SentSpan> = {
  signal: 'traces',
  'http/protobuf': spansInProtobuf,
  grpc: spansInProtobuf,
  'http/json': { writer: jsonSpans, rejected: (answer) => JsonTraceSerializer.deserializeResponse(answer).partialSuccess?.rejectedSpans },
};

export const recordEncodings: Encodings<SentRecord> = {
  signal: 'logs',
  'http/protobuf': recordsInProtobuf,
  grpc: recordsInProtobuf,
  'http/json': {
    writer: jsonRecords,
    rejected: (answer) => JsonLogsSerializer.deserializeResponse(answer).partialSuccess?.rejectedLogRecords,
  },
};

export function otlpExporter<Item>(url: string, settings: ExporterSettings, encodings: Encodings<Item>): OtlpExporter<Item> {
  const { writer: made, rejected } = encodings[settings.protocol ?? 'http/protobuf'];
  const writer = made();
  const wire = otlpWire({ ...settings, urls: { traces: url, logs: url } });

  async function send(parts: readonly Buffer[]): Promise<ExportOutcome> {
    const answer = await wire.send(encodings.signal, writer.contentType, writer.request(parts));
    return isRefused(answer, rejected)
      ? { kind: 'failed', retryable: false, error: rejectedFault }
      : refusalNamed(exportOutcome(answer), ['a key in headers']);
  }

  const sendTogether = microBatcher({ itemsMax: itemsPerRequest, requestsMax, send });
  return {
    send: async (items) => sendTogether(writer.write(...items)),
    probe: () => send([]),
    plan: (runs) =>
      otlpPlan({
        url: wire.url(encodings.signal),
        headers: { ...settings.headers, 'content-type': writer.contentType },
        runs,
        runsMax: itemsPerRequest,
        json: encodings['http/json'].writer(),
      }),
    stop: wire.stop,
  };
}

/** A backend that has taken the request and not the item says so in its answer. One whose answer cannot be read has taken it. */
function isRefused(answer: Answer, rejected: Encoding<unknown>['rejected']): boolean {
  if (answer.kind === 'unanswered' || answer.status >= 300 || answer.isPage === true || answer.body.length === 0) return false;
  try {
    return Number(rejected(answer.body) ?? 0) > 0;
  } catch {
    return false;
  }
}

/** Requests over OTLP as they would be sent, their bodies as JSON whatever the encoding. */
export interface OtlpPlan<Item> {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  /** What each run is sent as. */
  readonly runs: readonly (readonly Item[])[];
  /** Of one request. */
  readonly runsMax: number;
  readonly json: OtlpWriter<Item>;
}

export function otlpPlan<Item>({ url, headers, runs, runsMax, json }: OtlpPlan<Item>): readonly PlannedRequest[] {
  const told = runs.filter((items) => items.length > 0);
  return chunks(told, runsMax).map((some) => ({
    method: 'POST',
    url,
    headers,
    body: parseJson(json.request(some.map((items) => json.write(...items))).toString()) ?? null,
  }));
}
