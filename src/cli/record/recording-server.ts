/** OTLP receivers that write every request they take to a file, one JSON request a line, as the Collector's file exporter does. */
import { closeSync, openSync, writeSync } from 'node:fs';
import { writeTracesJson, writeLogsJson } from '../../otlp/write/write.ts';
import { byteBudget } from '../../receivers/byte-budget.ts';
import { otlpGrpcReceiver } from '../../receivers/grpc/otlp-grpc.ts';
import { otlpHttpReceiver } from '../../receivers/http/otlp-http.ts';
import type { ReceiverLogger } from '../../receivers/receiver.ts';
import type { Ingest } from '../../model/ingest.ts';
import { clock } from '../../service/node-runtime.ts';
import { noTelemetry, type Telemetry } from '../../telemetry/telemetry.ts';
import { defaultByteLimits } from '../inspect/bodies.ts';

export interface RecordingServer {
  readonly http: string;
  readonly grpc: string;
  /** Stops both receivers after the requests under way, and closes the file. */
  stop(): Promise<Recording>;
}

export interface Recording {
  readonly spans: number;
  readonly records: number;
  /** Spans and log records that broke the protocol. */
  readonly rejected: number;
  /** The file reached its bound, and later requests were refused. */
  readonly isCut: boolean;
}

interface RecordingOptions {
  readonly file: string;
  /** Of OTLP over HTTP; 0: any free port. */
  readonly port: number;
  readonly logger: ReceiverLogger;
  /** Default: as much as the commands that read recordings take. */
  readonly fileBytesMax?: number;
}

/** Of one request, as the service has them by default. */
const limits = { bodyBytes: 16 * 1024 * 1024, inflatedBytes: 64 * 1024 * 1024 } as const;
const inFlightBytesMax = 4 * limits.inflatedBytes;
const retryAfterSeconds = 1;

/** Rejects where the file cannot be written or the port is taken. */
export async function recordingServer({
  file,
  port,
  logger,
  fileBytesMax = defaultByteLimits.fileBytes,
}: RecordingOptions): Promise<RecordingServer> {
  const output = openSync(file, 'w');
  const counted = { spans: 0, records: 0, rejected: 0, bytes: 0, isCut: false };
  const telemetry: Telemetry = {
    ...noTelemetry,
    add(_metric, by, labels) {
      if (labels?.['tracejury.outcome'] === 'rejected') counted.rejected += by;
    },
  };
  const write = (line: Buffer): void => {
    writeSync(output, Buffer.concat([line, Buffer.from('\n')]));
    counted.bytes += line.length + 1;
  };
  const ingest: Ingest = {
    spans: async (_tenant, spans) => {
      write(writeTracesJson(spans));
      counted.spans += spans.length;
    },
    logs: async (_tenant, records) => {
      write(writeLogsJson(records));
      counted.records += records.length;
    },
    admission: () => {
      if (counted.bytes < fileBytesMax) return 'open';
      counted.isCut = true;
      return { refuse: 'journal_full', retryAfterSeconds };
    },
  };
  const lease = byteBudget({ bytesMax: inFlightBytesMax, telemetry })({ keepFreeBytes: 0 });
  const shared = { host: '127.0.0.1', limits, lease, tokens: [], ingest, telemetry, logger, clock };
  const receivers = [otlpHttpReceiver({ ...shared, port }), otlpGrpcReceiver({ ...shared, port: 0 })] as const;
  const stop = async (): Promise<void> => {
    await Promise.all(receivers.map((receiver) => receiver.stop()));
    closeSync(output);
  };
  try {
    const [http, grpc] = [await receivers[0].listen(), await receivers[1].listen()];
    return {
      http: http.address,
      // Exporters read a scheme-less address as one behind TLS.
      grpc: grpc.address.includes('://') ? grpc.address : `http://${grpc.address}`,
      async stop() {
        await stop();
        return { spans: counted.spans, records: counted.records, rejected: counted.rejected, isCut: counted.isCut };
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
