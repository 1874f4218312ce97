/** Sends spans and log records by OTLP over HTTP or gRPC. */
import type { OtlpEncoding } from '../../otlp/read/read.ts';
import type { ClientTls } from '../../model/client-tls.ts';
import { exportOutcome, refusalNamed } from '../delivery/export-outcome.ts';
import type { ExportOutcome } from '../exporter.ts';
import { logsUrl, otlpTransport, rejectedIn } from '../otlp/otlp-transport.ts';

export type DestinationSettings = {
  /** The whole URL for spans; log records go to `/v1/logs` beside it. Of gRPC only the host and the port count. */
  readonly tracesEndpoint: string;
  /** Values are secret. */
  readonly headers: { readonly [name: string]: string };
  readonly protocol: 'http/protobuf' | 'grpc';
  readonly compression: 'none' | 'gzip';
  readonly tls?: ClientTls;
};

export type ForwardOutcome = ExportOutcome & {
  /** Spans or records that a partial success rejects. */
  readonly rejected: number;
};

export interface Destination {
  /** True: log records in JSON must be encoded as protobuf. */
  readonly isProtobufOnly: boolean;
  /** Resolves, never rejects. */
  send(signal: 'traces' | 'logs', encoding: OtlpEncoding, body: Buffer): Promise<ForwardOutcome>;
  /** Ends the connections. */
  stop(): void;
}

/** Many tracing backends refuse log records; spans must not wait for them. */
const noLogs: ReadonlySet<number> = new Set([404, 405, 501]);

export function destination(settings: DestinationSettings): Destination {
  const wire = otlpTransport({ ...settings, urls: { traces: settings.tracesEndpoint, logs: logsUrl(settings.tracesEndpoint) } });
  return {
    isProtobufOnly: settings.protocol === 'grpc',
    async send(signal, encoding, body) {
      const answer = await wire.send(signal, encoding === 'json' ? 'application/json' : 'application/x-protobuf', body);
      if (signal === 'logs' && answer.kind === 'answered' && noLogs.has(answer.status))
        return { kind: 'failed', retryable: false, error: `status ${answer.status}`, rejected: 0 };
      return { ...refusalNamed(exportOutcome(answer), ['a key in headers']), rejected: rejectedIn(answer, signal, encoding) };
    },
    stop: wire.stop,
  };
}
