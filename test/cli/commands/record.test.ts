/** `tracejury record` around a real process, and what it cannot do. */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { recordingServer } from '../../../src/cli/commands/record.ts';
import { agentEnvironment } from '../../../src/cli/record/otlp-receivers.ts';
import { command } from '../../builders/command.ts';
import { recordedAgent } from '../record/recorded-agent.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-record-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('record', () => {
  test('takes the spans of an exporter of the SDK, and `eval` scores the file', async () => {
    const { code, err, file } = await recordedAgent(folder, ['proto', '0']);
    expect([code, err]).toEqual([0, `${file}: 1 spans, 1 agent run; tracejury eval ${file} scores them.`]);
    expect((await command(['inspect', file])).out).toContain('order-agent');
  });

  test('what cannot be done is said with the flag that it belongs to', async () => {
    expect(await command(['record'])).toMatchObject({ code: 2, err: expect.stringContaining('Name the command after --') as string });
    expect(await command(['record', '--output', join(folder, 'spans.jsonl'), '--', join(folder, 'no-such-program')])).toMatchObject({
      code: 2,
      err: expect.stringContaining('cannot be started (ENOENT)') as string,
    });
    expect(await command(['record', '--output', join(folder, 'no', 'folder'), '--', 'true'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--output') as string,
    });
    expect(await command(['record', '--port', '70000', '--', 'true'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--port takes a number') as string,
    });
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    expect(await command(['record', '--output', join(folder, 'taken.jsonl'), '--port', String(port), '--', 'true'])).toMatchObject({
      code: 2,
      err: expect.stringContaining(`--port ${port} cannot be used (EADDRINUSE)`) as string,
    });
    taken.close();
    expect(existsSync(join(folder, 'no'))).toBe(false);
  });

  test('variables that lead elsewhere do not reach the command', () => {
    const env = agentEnvironment(
      {
        PATH: '/bin',
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://a',
        OTEL_EXPORTER_OTLP_LOGS_HEADERS: 'k=v',
        OTEL_EXPORTER_OTLP_CERTIFICATE: 'ca.pem',
        OTEL_SERVICE_NAME: 'mine',
        OTEL_BSP_SCHEDULE_DELAY: '5',
      },
      { http: 'http://h', grpc: 'http://g' },
    );
    expect(env).toEqual({
      PATH: '/bin',
      OTEL_SERVICE_NAME: 'mine',
      OTEL_BSP_SCHEDULE_DELAY: '5',
      OTEL_BLRP_SCHEDULE_DELAY: '200',
      OTEL_METRICS_EXPORTER: 'none',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://h',
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/protobuf',
    });
  });

  test('a full file refuses further requests, and the recording notes it', async () => {
    const server = await recordingServer({ file: join(folder, 'full.jsonl'), port: 0, logger: { warn: () => undefined }, fileBytesMax: 1 });
    const send = async (): Promise<number> =>
      (await fetch(`${server.http}/v1/traces`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: spansJson }))
        .status;
    expect([await send(), await send()]).toEqual([200, 503]);
    expect(await server.stop()).toEqual({ spans: 1, records: 0, rejected: 0, isCut: true });
  });
});

const spansJson = JSON.stringify({
  resourceSpans: [
    {
      scopeSpans: [
        {
          spans: [
            {
              traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
              spanId: '00f067aa0ba902b7',
              name: 'a',
              startTimeUnixNano: '1',
              endTimeUnixNano: '2',
            },
          ],
        },
      ],
    },
  ],
});
