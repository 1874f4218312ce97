/** Spans and records over OTLP. Whether and when to send again is the queue's to say. */
import type { OtlpSignal } from '../../otlp/write/responses.ts';
import type { ExportOutcome, PlannedRequest } from '../exporter.ts';
import { exportOutcome, refusalNamed, rejectedFault } from '../delivery/export-outcome.ts';
import type { ExporterSettings } from '../settings.ts';
import { otlpTransport, rejectedIn } from './otlp-transport.ts';
import {
  type OutgoingLog,
  type OtlpWriter,
  type OutgoingSpan,
  jsonRecords,
  jsonSpans,
  protobufRecords,
  protobufSpans,
} from '../../otlp/write/outgoing-items.ts';
import { microBatcher } from '../delivery/micro-batcher.ts';
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

/** An item takes some kilobytes, so a request stays far below the limits of backends. */
const itemsPerRequest = 32;
const requestsMax = 4;
/** Under way at one time: a backlog fills every request. */
export const itemsAtOnce = itemsPerRequest * requestsMax;

/** How the items of a signal are written, by encoding. */
interface Writers<Item> {
  readonly signal: OtlpSignal;
  readonly protobuf: () => OtlpWriter<Item>;
  readonly json: () => OtlpWriter<Item>;
}

export const spanWriters: Writers<OutgoingSpan> = { signal: 'traces', protobuf: protobufSpans, json: jsonSpans };
export const recordWriters: Writers<OutgoingLog> = { signal: 'logs', protobuf: protobufRecords, json: jsonRecords };

export function otlpExporter<Item>(url: string, settings: ExporterSettings, writers: Writers<Item>): OtlpExporter<Item> {
  const { signal } = writers;
  const encoding = settings.protocol === 'http/json' ? 'json' : 'protobuf';
  const writer = writers[encoding]();
  const wire = otlpTransport({ ...settings, urls: { traces: url, logs: url } });

  async function send(parts: readonly Buffer[]): Promise<ExportOutcome> {
    const answer = await wire.send(signal, writer.contentType, writer.request(parts));
    // A backend that takes the request and not the item says so in its answer.
    return rejectedIn(answer, signal, encoding) > 0
      ? { kind: 'failed', retryable: false, error: rejectedFault }
      : refusalNamed(exportOutcome(answer), ['a key in headers']);
  }

  const sendTogether = microBatcher({ itemsMax: itemsPerRequest, requestsMax, send });
  return {
    send: async (items) => sendTogether(writer.write(...items)),
    probe: () => send([]),
    plan: (runs) =>
      otlpDryRun({
        url: wire.url(signal),
        headers: { ...settings.headers, 'content-type': writer.contentType },
        runs,
        runsMax: itemsPerRequest,
        json: writers.json(),
      }),
    stop: wire.stop,
  };
}

/** Requests over OTLP as they would be sent, their bodies as JSON whatever the encoding. */
export interface OtlpDryRun<Item> {
  readonly url: string;
  readonly headers: { readonly [name: string]: string };
  /** What each run is sent as. */
  readonly runs: readonly (readonly Item[])[];
  /** Of one request. */
  readonly runsMax: number;
  readonly json: OtlpWriter<Item>;
}

export function otlpDryRun<Item>({ url, headers, runs, runsMax, json }: OtlpDryRun<Item>): readonly PlannedRequest[] {
  const outgoing = runs.filter((items) => items.length > 0);
  return chunks(outgoing, runsMax).map((some) => ({
    method: 'POST',
    url,
    headers,
    body: parseJson(json.request(some.map((items) => json.write(...items))).toString()) ?? null,
  }));
}
