/** `tracejury record` around real processes with the exporters of the OpenTelemetry SDK. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { command } from '../../builders/command.ts';
import { freePort } from '../../builders/free-port.ts';
import { recordedAgent } from '../record/recorded-agent.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-record-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('record', () => {
  test.each([
    { kind: 'json', env: {} },
    { kind: 'grpc', env: { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' } },
    { kind: 'proto', env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/v1/traces', OTEL_EXPORTER_OTLP_HEADERS: 'a=b' } },
  ])('takes the spans of an exporter of the SDK ($kind, $env), and `eval` scores the file', async ({ kind, env }) => {
    const { code, err, file } = await recordedAgent(folder, [kind, '0'], { env });
    expect([code, err]).toEqual([0, `${file}: 1 spans, 1 agent run; tracejury eval ${file} scores them.`]);
    expect((await command(['inspect', file])).out).toContain('order-agent');
  });

  test('exits as its command, and keeps the spans of one that failed', async () => {
    const { code, file } = await recordedAgent(folder, ['proto', '7']);
    expect(code).toBe(7);
    expect(readFileSync(file, 'utf8')).toContain('order-agent');
  });

  test('a command that sends nothing is not a success, and the reader learns what is missing', async () => {
    const { code, err } = await recordedAgent(folder, ['none', '0']);
    expect(code).toBe(1);
    expect(err).toContain('No span arrived');
    expect((await recordedAgent(folder, ['none', '3'])).code).toBe(3);
  });

  test('--port takes spans of an agent that reads no variable', async () => {
    const port = await freePort();
    const { code } = await recordedAgent(folder, ['proto', '0', `http://127.0.0.1:${port}/v1/traces`], {
      options: ['--port', String(port)],
    });
    expect(code).toBe(0);
  });
});
