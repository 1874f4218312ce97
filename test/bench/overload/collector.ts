/** The OpenTelemetry Collector as a separate process. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { serverProcess, type ServerProcess } from '../../server-process.ts';

export interface CollectorProcess extends Omit<ServerProcess, 'url'> {
  readonly otlpUrl: string;
}

/** Starts between agents and the service, with the default configuration. `binary` has the receiver `otlp` and the exporter `otlp_grpc`. */
export function plainCollector(binary: string, to: { readonly grpcAddress: string }): Promise<CollectorProcess> {
  return collectorProcess(
    binary,
    (own) => `receivers: { otlp: { protocols: { http: { endpoint: "${own}" } } } }
exporters: { otlp_grpc: { endpoint: "${to.grpcAddress}", tls: { insecure: true } } }
service: { telemetry: { metrics: { level: none } }, pipelines: { traces: { receivers: [otlp], exporters: [otlp_grpc] } } }
`,
  );
}

/** `config`: its file, where it is to take spans over HTTP at that address. */
export async function collectorProcess(binary: string, config: (address: string) => string): Promise<CollectorProcess> {
  const { url, ...started } = await serverProcess({
    command: binary,
    args({ port, folder }) {
      const file = join(folder, 'collector.yaml');
      writeFileSync(file, config(`127.0.0.1:${port}`));
      return ['--config', file];
    },
    probe: { path: '/v1/traces', method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' },
    withinMs: 10_000,
  });
  return { ...started, otlpUrl: url };
}
