import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ended } from '../ended-process.ts';

test('serve: ends after its stop, although something still holds the process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-stopping-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const config = join(folder, 'tracejury.yaml');
  writeFileSync(
    config,
    'listen: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }\nstore: { url: "memory:" }\njournal: { url: "memory:" }\n',
  );
  const holds = ['--import', 'data:text/javascript,setInterval(() => undefined, 1_000)'];
  const service = spawn(process.execPath, [...holds, join(import.meta.dirname, '../../src/cli/main.ts'), 'serve', '-c', config], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(async () => void (await ended(service, 'SIGKILL')));
  for (let said = ''; !said.includes('Evaluators');) said += String(await once(service.stdout, 'data'));
  expect(await ended(service, 'SIGTERM')).toBe(0);
});
