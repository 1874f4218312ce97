/** Certificates for connections to backends: of entries of `export`, and of the variables that OTLP exporters know. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ConfigError, type ConfigFault } from '../../src/config/fault.ts';
import { loadConfigWithFiles, type LoadedConfig } from '../../src/config/load.ts';
import type { Environment } from '../../src/config/substitution.ts';
import { certificateFolder } from '../receivers/certificates.ts';
import { members } from './members.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-export-tls-'));
afterAll(() => rmSync(folder, { recursive: true }));
const pem = (name: string): string => readFileSync(join(certificateFolder, `${name}.pem`), 'utf8');
for (const name of ['cert', 'client', 'client-key', 'client-ca', 'key']) copyFileSync(join(certificateFolder, `${name}.pem`), join(folder, `${name}.pem`));
writeFileSync(join(folder, 'text.pem'), 'no certificate');
writeFileSync(join(folder, 'two.pem'), `the backend\n${pem('cert')}and another one\n${pem('client-ca')}`);

const now = Date.UTC(2030, 0, 1);

function load(entry: string, env: Environment = {}, nowMs = now): Promise<LoadedConfig> {
  return loadConfigWithFiles({ file: join(folder, 'a.yaml'), text: `export:\n  - { ${entry} }\n`, env, evaluators: members, nowMs });
}

async function faultsOf(...given: Parameters<typeof load>): Promise<readonly ConfigFault[]> {
  try {
    await load(...given);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

const whole = 'tls: { ca_file: cert.pem, cert_file: client.pem, key_file: client-key.pem }';
const wholeIs = { ca: pem('cert'), cert: pem('client'), key: pem('client-key') };
const at = 'endpoint: "https://backend:4318"';
const entries = [`to: span_events, ${at}`, `to: log_events, ${at}`, `to: forward, ${at}`, `to: span_events, ${at}, protocol: grpc`, `to: phoenix, ${at}`, `to: mlflow, ${at}`, `to: langfuse, ${at}, api_key: k, public_key: p`, `to: webhook, ${at}, secret: 0123456789abcdef01234567`, `to: metrics, ${at}`];
for (const entry of entries) {
  test(`export tls: ${entry}`, async () => {
    const { config: { exporters } } = await load(`${entry}, ${whole}`);
    const [first] = exporters;
    expect(first?.to === 'metrics' ? first.push?.tls : first?.tls).toEqual(wholeIs);
  });
}

test('export tls: what signed itself is trusted, and a list of several', async () => {
  for (const [name, ca] of [['cert.pem', pem('cert')], ['two.pem', readFileSync(join(folder, 'two.pem'), 'utf8')], [join(folder, 'client.pem'), pem('client')]] as const) {
    expect((await load(`to: phoenix, ${at}, tls: { ca_file: "${name}" }`)).config.exporters[0]).toMatchObject({ tls: { ca } });
  }
});

test('export tls: secrets of it are not shown, and a changed file is another configuration', async () => {
  const [one, same] = [await load(`to: phoenix, ${at}, ${whole}`), await load(`to: phoenix, ${at}, ${whole}`)];
  expect(JSON.stringify(one.shown)).not.toContain('PRIVATE KEY');
  const other = await load(`to: phoenix, ${at}, tls: { ca_file: client-ca.pem }`);
  expect(same.prints.sections.get('export')).toBe(one.prints.sections.get('export'));
  expect(other.prints.sections.get('export')).not.toBe(one.prints.sections.get('export'));
  copyFileSync(join(folder, 'two.pem'), join(folder, 'changing.pem'));
  const before = await load(`to: phoenix, ${at}, tls: { ca_file: changing.pem }`);
  copyFileSync(join(folder, 'cert.pem'), join(folder, 'changing.pem'));
  expect((await load(`to: phoenix, ${at}, tls: { ca_file: changing.pem }`)).prints.sections.get('export')).not.toBe(before.prints.sections.get('export'));
});

const inFolder = (name: string): string => join(folder, name);
const fromVariables: readonly { readonly name: string; readonly entry: string; readonly env: Environment; readonly is: object | undefined }[] = [
  { name: 'all three', entry: `to: span_events, ${at}`, env: { OTEL_EXPORTER_OTLP_CERTIFICATE: inFolder('cert.pem'), OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: inFolder('client.pem'), OTEL_EXPORTER_OTLP_CLIENT_KEY: inFolder('client-key.pem') }, is: wholeIs },
  { name: 'those of the signal win', entry: `to: log_events, ${at}`, env: { OTEL_EXPORTER_OTLP_CERTIFICATE: inFolder('gone.pem'), OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE: inFolder('cert.pem') }, is: { ca: pem('cert') } },
  { name: 'those of another signal do not count', entry: `to: span_events, ${at}`, env: { OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE: inFolder('gone.pem') }, is: undefined },
  { name: 'what the entry says wins', entry: `to: span_events, ${at}, tls: { ca_file: two.pem }`, env: { OTEL_EXPORTER_OTLP_CERTIFICATE: inFolder('gone.pem'), OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: inFolder('gone.pem') }, is: { ca: readFileSync(inFolder('two.pem'), 'utf8') } },
  { name: 'without TLS nobody looks', entry: 'to: span_events, endpoint: "http://backend:4318"', env: { OTEL_EXPORTER_OTLP_CERTIFICATE: inFolder('gone.pem') }, is: undefined },
  { name: 'what goes another way does not take them', entry: `to: phoenix, ${at}`, env: { OTEL_EXPORTER_OTLP_CERTIFICATE: inFolder('gone.pem') }, is: undefined },
];
for (const { name, entry, env, is } of fromVariables) {
  test(`export tls: of variables, ${name}`, async () => {
    const [first] = (await load(entry, env)).config.exporters;
    expect(first?.to === 'metrics' ? undefined : first?.tls).toEqual(is);
  });
}

test('export tls: a default configuration takes the variables as well', async () => {
  const env = { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://backend/v1/metrics', OTEL_EXPORTER_OTLP_CERTIFICATE: inFolder('cert.pem') };
  expect((await loadConfigWithFiles({ file: inFolder('a.yaml'), text: '', env, evaluators: members, nowMs: now })).config.exporters).toMatchObject([{ to: 'metrics', push: { tls: { ca: pem('cert') } } }]);
});

const bad: readonly { readonly tls: string; readonly key: string; readonly problem: string; readonly nowMs?: number }[] = [
  { tls: 'ca_file: gone.pem', key: 'tls.ca_file', problem: '"gone.pem" cannot be read (ENOENT)' },
  { tls: 'ca_file: text.pem', key: 'tls.ca_file', problem: '"text.pem" holds no certificate in PEM' },
  { tls: 'ca_file: two.pem', key: 'tls.ca_file', problem: '"two.pem" holds as certificate 1 one that expired on 2126-10-28', nowMs: Date.UTC(2130, 0, 1) },
  { tls: 'cert_file: client.pem, key_file: text.pem', key: 'tls.key_file', problem: '"text.pem" holds no private key in PEM' },
  { tls: 'cert_file: text.pem, key_file: client-key.pem', key: 'tls.cert_file', problem: '"text.pem" holds no certificate in PEM' },
  { tls: 'cert_file: client.pem, key_file: key.pem', key: 'tls.key_file', problem: '"key.pem" does not fit the first certificate of cert_file' },
  { tls: 'cert_file: client.pem', key: 'tls', problem: 'lacks key_file' },
  { tls: 'key_file: client-key.pem', key: 'tls', problem: 'lacks cert_file' },
];
for (const { tls, key, problem, nowMs } of bad) {
  test(`export tls: ${tls}: ${problem}`, async () => {
    const entry = `to: phoenix, ${at}, tls: { ${tls} }`;
    const [fault, ...others] = await faultsOf(entry, {}, nowMs);
    expect(others).toEqual([]);
    const named = key.slice(key.lastIndexOf('.') + 1);
    expect(fault).toMatchObject({ file: join(folder, 'a.yaml'), line: 2, column: 1 + `  - { ${entry}`.indexOf(`${named}: `) + named.length + 2, key: `export[0].${key}`, problem });
    expect(fault?.todo).toMatch(/\w{3}.*\.$/);
    expect(JSON.stringify(fault)).not.toMatch(/MHcC|MIGH/);
  });
}

test('export tls: an endpoint without TLS has no use for it, and a variable is named as what it is', async () => {
  expect(await faultsOf('to: phoenix, endpoint: "http://backend:6006", tls: { ca_file: cert.pem }')).toMatchObject([{ key: 'export[0].tls', problem: 'means nothing for an endpoint that begins with http://' }]);
  expect(await faultsOf('to: metrics, tls: { ca_file: cert.pem }')).toMatchObject([{ key: 'export[0].tls', problem: 'means nothing without endpoint' }]);
  expect(await faultsOf(`to: span_events, ${at}`, { OTEL_EXPORTER_OTLP_CERTIFICATE: inFolder('gone.pem') })).toMatchObject([{ key: 'export[0]', problem: expect.stringMatching(/^is given OTEL_EXPORTER_OTLP_CERTIFICATE, and ".*gone.pem" cannot be read \(ENOENT\)$/) }]);
  expect(await faultsOf(`to: span_events, ${at}`, { OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: inFolder('client-key.pem') })).toMatchObject([{ key: 'export[0]', problem: 'is given OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY alone' }]);
});
