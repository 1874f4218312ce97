/** OTLP receivers on loopback for the length of a command, and the environment that leads an agent to them. */
import type { Environment } from '../../config/document.ts';
import type { Ingest } from '../../model/ingest.ts';
import { byteBudget } from '../../receivers/byte-budget.ts';
import { otlpGrpcReceiver } from '../../receivers/grpc/otlp-grpc.ts';
import { otlpHttpReceiver } from '../../receivers/http/otlp-http.ts';
import type { ReceiverLogger } from '../../receivers/receiver.ts';
import { clock } from '../../service/node-runtime.ts';
import type { Telemetry } from '../../telemetry/telemetry.ts';

export interface OtlpAddresses {
  readonly http: string;
  readonly grpc: string;
}

interface OtlpReceivers extends OtlpAddresses {
  /** Stops both receivers after the requests in flight. */
  stop(): Promise<void>;
}

interface OtlpReceiversOptions {
  readonly ingest: Ingest;
  readonly telemetry: Telemetry;
  readonly logger: ReceiverLogger;
  /** Port of OTLP over HTTP; 0 takes any free port. */
  readonly port: number;
}

/** Limits of one request: the defaults of the service. */
const limits = { bodyBytes: 16 * 1024 * 1024, inflatedBytes: 64 * 1024 * 1024 } as const;
const inFlightBytesMax = 4 * limits.inflatedBytes;

/** Rejects when the port is in use. */
export async function otlpReceivers({ ingest, telemetry, logger, port }: OtlpReceiversOptions): Promise<OtlpReceivers> {
  const lease = byteBudget({ bytesMax: inFlightBytesMax, telemetry })({ keepFreeBytes: 0 });
  const shared = { host: '127.0.0.1', limits, lease, tokens: [], ingest, telemetry, logger, clock };
  const receivers = [otlpHttpReceiver({ ...shared, port }), otlpGrpcReceiver({ ...shared, port: 0 })] as const;
  const stop = async (): Promise<void> => {
    await Promise.all(receivers.map((receiver) => receiver.stop()));
  };
  try {
    const [http, grpc] = [await receivers[0].listen(), await receivers[1].listen()];
    return {
      http: http.address,
      // Exporters use TLS for an address without a scheme.
      grpc: grpc.address.includes('://') ? grpc.address : `http://${grpc.address}`,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Standard variables with which an exporter would send to another endpoint or expect a certificate. */
const misleading =
  /^OTEL_EXPORTER_OTLP_(?:(?:TRACES|LOGS|METRICS)_)?(?:ENDPOINT|PROTOCOL|HEADERS|CERTIFICATE|CLIENT_KEY|CLIENT_CERTIFICATE|INSECURE)$/;
/** Short, because some SDKs send nothing at the exit of their process. */
const batchDelayMs = 200;
/**
 * Sets the standard variables to the endpoint. A command with `OTEL_EXPORTER_OTLP_PROTOCOL=grpc` gets gRPC, any other one HTTP with protobuf.
 * It switches metrics off, for the receiver does not accept them.
 */
export function agentEnvironment(env: Environment, { http, grpc }: OtlpAddresses): Environment {
  const isGrpc = (env['OTEL_EXPORTER_OTLP_TRACES_PROTOCOL'] ?? env['OTEL_EXPORTER_OTLP_PROTOCOL']) === 'grpc';
  const kept = Object.fromEntries(Object.entries(env).filter(([name]) => !misleading.test(name)));
  return {
    OTEL_BSP_SCHEDULE_DELAY: String(batchDelayMs),
    OTEL_BLRP_SCHEDULE_DELAY: String(batchDelayMs),
    ...kept,
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_EXPORTER_OTLP_ENDPOINT: isGrpc ? grpc : http,
    OTEL_EXPORTER_OTLP_PROTOCOL: isGrpc ? 'grpc' : 'http/protobuf',
  };
}
