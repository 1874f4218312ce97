/** Sends spans and records over OTLP. The queue decides about retries. */
import type { OtlpSignal } from '../../otlp/write/responses.ts';
import type { Exporter, ExportOutcome } from '../exporter.ts';
import type { ExportItem } from '../../model/scored-run.ts';
import { exportOutcome, refusalNamed, rejectedFault, unexpectedFailure } from '../delivery/export-outcome.ts';
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

/** An item takes some kilobytes, so a request stays far below the limits of backends. */
const itemsPerRequest = 32;
/** Requests in progress; a backlog fills each of them. */
const requestsMax = 4;

/** Writers of the items of one signal, by encoding. */
interface Writers<Item> {
  readonly signal: OtlpSignal;
  readonly protobuf: () => OtlpWriter<Item>;
  readonly json: () => OtlpWriter<Item>;
}

export const spanWriters: Writers<OutgoingSpan> = { signal: 'traces', protobuf: protobufSpans, json: jsonSpans };
export const recordWriters: Writers<OutgoingLog> = { signal: 'logs', protobuf: protobufRecords, json: jsonRecords };

/** `of`: the items of a scored run. A run without items is not sent. */
export function otlpExporter<Item>(
  url: string,
  settings: ExporterSettings,
  { signal, of, ...writers }: Writers<Item> & { readonly of: (item: ExportItem) => readonly Item[] },
): Omit<Exporter, 'id'> {
  const encoding = settings.protocol === 'http/json' ? 'json' : 'protobuf';
  const writer = writers[encoding]();
  const wire = otlpTransport({ ...settings, urls: { traces: url, logs: url } });

  async function send(parts: readonly Buffer[]): Promise<ExportOutcome> {
    const answer = await wire.send(signal, writer.contentType, writer.request(parts));
    // A partial success accepts the request and rejects the item.
    return rejectedIn(answer, signal, encoding) > 0
      ? { kind: 'failed', retryable: false, error: rejectedFault }
      : refusalNamed(exportOutcome(answer), ['a key in headers']);
  }

  const sendTogether = microBatcher({ itemsMax: itemsPerRequest, requestsMax, send });
  return {
    itemsAtOnce: itemsPerRequest * requestsMax,
    async send(item) {
      try {
        const items = of(item);
        return items.length === 0 ? { kind: 'sent' } : await sendTogether(writer.write(...items));
      } catch (error) {
        return unexpectedFailure(error);
      }
    },
    probe: () => send([]),
    plan: async (items) => {
      const json = writers.json();
      return chunks(
        items.map(of).filter((own) => own.length > 0),
        itemsPerRequest,
      ).map((some) => ({
        method: 'POST',
        url: wire.url(signal),
        headers: { ...settings.headers, 'content-type': writer.contentType },
        body: parseJson(json.request(some.map((own) => json.write(...own))).toString()) ?? null,
      }));
    },
    async stop() {
      wire.stop();
    },
  };
}
