/** The demonstration of the README, against a service on free ports: it prints what the README shows. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../builders/free-port.ts';
import { serverProcess } from '../server-process.ts';
import { commandsOf } from './console-block.ts';

const top = join(import.meta.dirname, '../..');
const startWithinMs = 60_000;

test('README: the demonstration prints what the README shows', async () => {
  const [, block = ''] = /^```console\n([\s\S]*?)^```$/m.exec(readFileSync(join(top, 'README.md'), 'utf8')) ?? [];
  const [{ command, output } = { command: '', output: /^$/ }, ...others] = commandsOf(block);
  expect([command, others]).toEqual(['npm run demo', []]);
  const [http, grpc] = [await freePort(), await freePort()];
  const service = await serverProcess({
    command: process.execPath,
    args: () => [join(top, 'src/cli/main.ts'), 'serve'],
    env: ({ port }) => ({
      TRACEJURY_LISTEN_OTLP_HTTP: `127.0.0.1:${http}`,
      TRACEJURY_LISTEN_OTLP_GRPC: `127.0.0.1:${grpc}`,
      TRACEJURY_LISTEN_CONSOLE: `127.0.0.1:${port}`,
    }),
    probe: { path: '/readyz' },
    withinMs: startWithinMs,
  });
  try {
    const args = ['demo', '--endpoint', `http://127.0.0.1:${http}`, '--console', service.url];
    const { stdout } = spawnSync(process.execPath, [join(top, 'src/cli/main.ts'), ...args], { encoding: 'utf8' });
    expect(`$ ${command}\n${stdout.replace(`127.0.0.1:${http}`, '127.0.0.1:4318')}`).toMatch(output);
  } finally {
    await service.stop();
  }
});
