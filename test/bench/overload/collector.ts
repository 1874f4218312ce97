/** The OpenTelemetry Collector as a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface CollectorProcess {
  readonly pid: number;
  readonly otlpUrl: string;
  stop(): Promise<void>;
}

const startAttempts = 100;

/** Between agents and the service, as it is configured when nothing is said. `binary`: one with the receiver `otlp` and the exporter `otlp_grpc`. */
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
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-collector-'));
  const port = await freePort();
  const file = join(folder, 'collector.yaml');
  writeFileSync(file, config(`127.0.0.1:${port}`));
  const child = spawn(binary, ['--config', file], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = `${said}${chunk.toString()}`.slice(-4_000)));
  const otlpUrl = `http://127.0.0.1:${port}`;
  for (let attempt = 0; ; attempt++) {
    if (child.exitCode !== null || attempt === startAttempts) throw new Error(`the Collector did not start: ${said}`);
    const answer = await fetch(`${otlpUrl}/v1/traces`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }).catch(() => undefined);
    if (answer?.ok === true) break;
    await pause(100);
  }
  return {
    pid: child.pid ?? 0,
    otlpUrl,
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const at = server.address();
      server.close(() => (at === null || typeof at === 'string' ? reject(new Error('no port')) : resolve(at.port)));
    });
  });
}
