/** `tracejury record` around real processes with the exporters of the OpenTelemetry SDK. */
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { commands } from '../../../src/cli/commands/index.ts';
import { recordingServer } from '../../../src/cli/commands/record.ts';
import { agentEnvironment } from '../../../src/cli/record/otlp-receivers.ts';
import { runCommandLine } from '../../../src/cli/run.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-record-'));
afterAll(() => rmSync(folder, { recursive: true }));
const agent = join(import.meta.dirname, '../record/agent.ts');
let files = 0;

interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
  readonly file: string;
}

async function tracejury(
  words: readonly string[],
  env: { readonly [name: string]: string | undefined } = {},
): Promise<Omit<Outcome, 'file'>> {
  const [out, err] = [[] as string[], [] as string[]];
  const code = await runCommandLine({
    words,
    commands,
    version: '',
    env: { PATH: process.env['PATH'], ...env },
    say: (text) => out.push(text),
    complain: (text) => err.push(text),
  });
  return { code, out: out.join('\n'), err: err.join('\n') };
}

async function record(
  words: readonly string[],
  env?: { readonly [name: string]: string },
  options: readonly string[] = [],
): Promise<Outcome> {
  const file = join(folder, `${++files}.jsonl`);
  return { ...(await tracejury(['record', '--output', file, ...options, '--', process.execPath, ...words], env)), file };
}

describe('record', () => {
  test.each([
    { kind: 'proto', env: {} },
    { kind: 'json', env: {} },
    { kind: 'grpc', env: { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' } },
    { kind: 'proto', env: { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/v1/traces', OTEL_EXPORTER_OTLP_HEADERS: 'a=b' } },
  ])('takes the spans of an exporter of the SDK ($kind, $env), and `eval` scores the file', async ({ kind, env }) => {
    const { code, err, file } = await record([agent, kind, '0'], env);
    expect([code, err]).toEqual([0, `${file}: 1 spans, 1 agent run; tracejury eval ${file} scores them.`]);
    expect((await tracejury(['inspect', file])).out).toContain('order-agent');
  });

  test('exits as its command, and keeps the spans of one that failed', async () => {
    const { code, file } = await record([agent, 'proto', '7']);
    expect(code).toBe(7);
    expect(readFileSync(file, 'utf8')).toContain('order-agent');
  });

  test('a command that sends nothing is no success, and the reader is told what is missing', async () => {
    const { code, err } = await record([agent, 'none', '0']);
    expect(code).toBe(1);
    expect(err).toContain('No span arrived');
    expect((await record([agent, 'none', '3'])).code).toBe(3);
  });

  test('--port takes spans of an agent that reads no variable', async () => {
    const port = await freePort();
    const { code } = await record([agent, 'proto', '0', `http://127.0.0.1:${port}/v1/traces`], {}, ['--port', String(port)]);
    expect(code).toBe(0);
  });

  test('what cannot be done is said with the flag that it belongs to', async () => {
    expect(await tracejury(['record'])).toMatchObject({ code: 2, err: expect.stringContaining('Name the command after --') as string });
    expect(await tracejury(['record', '--output', join(folder, 'spans.jsonl'), '--', join(folder, 'no-such-program')])).toMatchObject({
      code: 2,
      err: expect.stringContaining('cannot be started (ENOENT)') as string,
    });
    expect(await tracejury(['record', '--output', join(folder, 'no', 'folder'), '--', 'true'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--output') as string,
    });
    expect(await tracejury(['record', '--port', '70000', '--', 'true'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('--port takes a number') as string,
    });
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const { port } = taken.address() as AddressInfo;
    expect(await tracejury(['record', '--output', join(folder, 'taken.jsonl'), '--port', String(port), '--', 'true'])).toMatchObject({
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

  test('a full file refuses further requests, and the recording says so', async () => {
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

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
