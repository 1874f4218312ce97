/** The OpenTelemetry Collector between agents and the service, as it is configured when nothing is said. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

export interface CollectorProcess {
  readonly otlpUrl: string;
  stop(): Promise<void>;
}

const startAttempts = 100;

/** `binary`: one with the receiver `otlp` and the exporter `otlp_grpc`. */
export async function collectorProcess(binary: string, to: { readonly grpcAddress: string }): Promise<CollectorProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-collector-'));
  const port = await freePort();
  const file = join(folder, 'collector.yaml');
  writeFileSync(
    file,
    `receivers: { otlp: { protocols: { http: { endpoint: "127.0.0.1:${port}" } } } }
exporters: { otlp_grpc: { endpoint: "${to.grpcAddress}", tls: { insecure: true } } }
service: { telemetry: { metrics: { level: none } }, pipelines: { traces: { receivers: [otlp], exporters: [otlp_grpc] } } }
`,
  );
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
