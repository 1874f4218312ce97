/** A whole service over TLS: every listener, the demonstration, and the image's health check. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { credentials } from '@grpc/grpc-js';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { loadConfigWithFiles } from '../../src/config/load.ts';
import { watchedFile } from '../../src/config/files/watched-file.ts';
import { service } from '../../src/service.ts';
import { certificateFolder, knownClient, trust } from '../receivers/certificates.ts';
import { grpcClient } from '../receivers/grpc-client.ts';
import { goodBody } from '../receivers/otlp-http/table.ts';
import { eventually } from './running.ts';
import { validators } from '../builders/validators.ts';

const stops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await Promise.all(stops.splice(0).map((stop) => stop()));
});

const oneWay = 'tls: { cert_file: cert.pem, key_file: key.pem }';
const mutual = 'tls: { cert_file: cert.pem, key_file: key.pem, client_ca_file: client-ca.pem }';

async function started(
  tls: string,
  listen = '',
): Promise<{ readonly otlpHttp: string; readonly otlpGrpc: string; readonly console: string }> {
  const text = `listen: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0", ${tls}${listen} }\nstore: { url: "memory:" }\njournal: { url: "memory:" }\nclosing: { settle: 5ms, quiet: 50ms }\n`;
  const { config } = await loadConfigWithFiles({ validators, file: join(certificateFolder, 'tracejury.yaml'), text, env: {}, evaluators });
  const running = service({ config, logger: pino({ level: 'silent' }), stopMs: 500 });
  stops.push(() => running.stop());
  return running.start();
}

test('service: over TLS, every address begins with https, and is answered there', async () => {
  const { otlpHttp, otlpGrpc, console: page } = await started(oneWay);
  expect([otlpHttp, otlpGrpc, page].map((address) => address.replace(/\d+$/, '0'))).toEqual([
    'https://127.0.0.1:0',
    'https://127.0.0.1:0',
    'https://127.0.0.1:0',
  ]);
  expect(await post(otlpHttp)).toBe(200);
  expect(await grpcCode(otlpGrpc)).toBe('OK');
  expect(await got(`${page}/livez`)).toBe('{"status":"ok"}');
  expect(await got(`${page}/plain`)).toContain(`OTEL_EXPORTER_OTLP_ENDPOINT=${otlpHttp}`);
  expect(await got(`${page}/metrics`)).toMatch(/tracejury_receiver_requests_total\{tracejury_transport="grpc".* 1/);
});

test('service: client certificates are asked for by the OTLP listeners, and not by the console', async () => {
  const { otlpHttp, otlpGrpc, console: page } = await started(mutual);
  await expect(post(otlpHttp)).rejects.toThrow();
  expect(await grpcCode(otlpGrpc)).not.toBe('OK');
  expect(await post(otlpHttp, knownClient)).toBe(200);
  expect(await grpcCode(otlpGrpc, knownClient)).toBe('OK');
  expect(await got(`${page}/metrics`)).toMatch(/connections_ended_total\{tracejury_transport="http",tracejury_reason="tls_handshake"\} 1/);
});

test('service: beyond loopback, client certificates guard OTLP, and the console still wants a token', async () => {
  const text = (console: string): string => `listen: { otlp_http: "0.0.0.0:0", otlp_grpc: "[::]:0", console: "${console}", ${mutual} }`;
  const load = async (console: string): Promise<unknown> =>
    loadConfigWithFiles({ validators, file: join(certificateFolder, 'tracejury.yaml'), text: text(console), env: {}, evaluators });
  await expect(load('127.0.0.1:0')).resolves.toBeDefined();
  await expect(load('0.0.0.0:0')).rejects.toThrow(/listen.console: "0.0.0.0:0" is open to other machines/);
});

test('service: certificates that are renewed are served to new connections by every listener, and clients are asked for theirs as before', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-renewed-'));
  stops.push(async () => rmSync(folder, { recursive: true }));
  for (const name of ['cert', 'key', 'client-ca']) copyFileSync(join(certificateFolder, `${name}.pem`), join(folder, `${name}.pem`));
  const file = join(folder, 'tracejury.yaml');
  writeFileSync(
    file,
    `listen: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0", ${mutual} }\nstore: { url: "memory:" }\njournal: { url: "memory:" }\n`,
  );
  const source = watchedFile({ file, env: {}, evaluators });
  const { config, fingerprints } = await source.read();
  const running = service({ config, fingerprints, source, watchMs: 20, logger: pino({ level: 'silent' }), stopMs: 500 });
  stops.push(() => running.stop());
  const { otlpHttp, otlpGrpc, console: page } = await running.start();
  const shown = (): Promise<readonly string[]> => Promise.all([otlpHttp, otlpGrpc, page].map(subjectAt));
  expect(await shown()).toEqual(['localhost', 'localhost', 'localhost']);
  copyFileSync(join(certificateFolder, 'client.pem'), join(folder, 'cert.pem'));
  copyFileSync(join(certificateFolder, 'client-key.pem'), join(folder, 'key.pem'));
  await eventually(async () => ((await shown()).every((name) => name === 'agents') ? true : undefined), 'the new certificate everywhere');
  await expect(post(otlpHttp, { rejectUnauthorized: false })).rejects.toThrow();
  expect(await post(otlpHttp, { ...knownClient, rejectUnauthorized: false })).toBe(200);
});

/** The owner of the certificate that a client gets. */
async function subjectAt(address: string): Promise<string> {
  const { hostname: host, port } = new URL(address);
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false, ALPNProtocols: ['h2', 'http/1.1'], ...clientOnly });
  await once(socket, 'secureConnect');
  const { CN } = socket.getPeerCertificate().subject;
  socket.destroy();
  return String(CN);
}

const clientOnly = { cert: knownClient.cert, key: knownClient.key };

test('service: the demonstration reaches it over TLS, when its authority is known', async () => {
  const { otlpHttp, console: page } = await started(oneWay);
  const { code, said } = await run(
    [join(import.meta.dirname, '../../src/cli/main.ts'), 'demo', '--endpoint', otlpHttp, '--console', page, '--runs', '3'],
    { NODE_EXTRA_CA_CERTS: join(certificateFolder, 'cert.pem') },
  );
  expect(said).toMatch(/^Scored \d+ runs/m);
  expect(code).toBe(0);
});

const healthCheck =
  /^HEALTHCHECK [\s\S]*?CMD (\["node".*\])$/m.exec(readFileSync(join(import.meta.dirname, '../../docker/Dockerfile'), 'utf8'))?.[1] ?? '[]';

test.each([
  ['without TLS', ''],
  ['over TLS', oneWay],
  ['over TLS with client certificates', mutual],
])("docker: the image's health check finds a service %s, and none that is gone", async (_how, tls) => {
  const { console: page } = await started(tls);
  const [, ...command] = (JSON.parse(healthCheck) as readonly string[]).map((part) =>
    part.replaceAll(':4380', page.slice(page.lastIndexOf(':'))),
  );
  expect((await run(command)).code).toBe(0);
  await stops.pop()?.();
  expect((await run(command)).code).toBe(1);
});

async function run(
  command: readonly string[],
  env: { readonly [name: string]: string } = {},
): Promise<{ readonly code: unknown; readonly said: string }> {
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  let said = '';
  child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()));
  const [code] = (await once(child, 'close')) as readonly unknown[];
  return { code, said };
}

function post(otlp: string, identity: object = trust): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sent = request(
      `${otlp}/v1/traces`,
      { method: 'POST', headers: { 'content-type': 'application/x-protobuf' }, agent: false, ...identity },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    sent.on('error', reject);
    sent.end(goodBody);
  });
}

async function grpcCode(
  address: string,
  { ca, cert, key }: { readonly ca: string; readonly cert?: string; readonly key?: string } = trust,
): Promise<unknown> {
  const identity = cert === undefined || key === undefined ? [] : ([Buffer.from(key), Buffer.from(cert)] as const);
  const client = grpcClient(Number(address.slice(address.lastIndexOf(':') + 1)), {
    channel: credentials.createSsl(Buffer.from(ca), ...identity),
  });
  const { code } = await client.send({ message: goodBody });
  client.close();
  return code;
}

function got(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    request(url, { ...trust, agent: false }, (response) => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => (text += chunk))
        .on('end', () => resolve(text));
    })
      .on('error', reject)
      .end();
  });
}
