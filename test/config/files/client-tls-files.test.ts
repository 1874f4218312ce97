/** Certificates for connections that the service opens: of entries of `export`, of judges and of endpoints, and of the variables that OTLP exporters know. */
import { expect, test } from 'vitest';
import type { Config } from '../../../src/config/config.ts';
import type { Environment } from '../../../src/config/document.ts';
import { expectFault, pemFolder } from '../pem-folder.ts';

const folder = pemFolder();
const { pem, at: inFolder } = folder;
folder.put('text.pem', 'no certificate');
folder.put('two.pem', `the backend\n${pem('cert.pem')}and another one\n${pem('client-ca.pem')}`);

const exportOf = (entry: string): string => `export:\n  - { ${entry} }\n`;

const whole = 'tls: { ca_file: cert.pem, cert_file: client.pem, key_file: client-key.pem }';
const wholeIs = { ca: pem('cert.pem'), cert: pem('client.pem'), key: pem('client-key.pem') };
const at = 'endpoint: "https://backend:4318"';
const entries = [
  `to: span_events, ${at}`,
  `to: log_events, ${at}`,
  `to: forward, ${at}`,
  `to: span_events, ${at}, protocol: grpc`,
  `to: phoenix, ${at}`,
  `to: mlflow, ${at}`,
  `to: langfuse, ${at}, api_key: k, public_key: p`,
  `to: webhook, ${at}, secret: 0123456789abcdef01234567`,
  `to: metrics, ${at}`,
];
for (const entry of entries) {
  test(`client tls: ${entry}`, async () => {
    const {
      config: { exporters },
    } = await folder.load(exportOf(`${entry}, ${whole}`));
    const [first] = exporters;
    expect(first?.to === 'metrics' ? first.push?.tls : first?.tls).toEqual(wholeIs);
  });
}

test('client tls: what signed itself is trusted, and a list of several', async () => {
  for (const [name, ca] of [
    ['cert.pem', pem('cert.pem')],
    ['two.pem', pem('two.pem')],
    [inFolder('client.pem'), pem('client.pem')],
  ] as const) {
    expect((await folder.load(exportOf(`to: phoenix, ${at}, tls: { ca_file: "${name}" }`))).config.exporters[0]).toMatchObject({
      tls: { ca },
    });
  }
});

const places: readonly {
  readonly name: string;
  readonly head: string;
  readonly key: string;
  readonly line: (tls: string) => string;
  readonly tlsOf: (config: Config) => unknown;
}[] = [
  {
    name: 'a backend',
    head: 'export:',
    key: 'export[0]',
    line: (tls) => `  - { to: phoenix, ${at}, ${tls} }`,
    tlsOf: ({ exporters: [first] }) => (first?.to === 'metrics' ? undefined : first?.tls),
  },
  {
    name: 'a judge',
    head: 'judges:',
    key: 'judges.main',
    line: (tls) => `  main: { base_url: "https://judge/v1", model: m, ${tls} }`,
    tlsOf: ({ judges: [first] }) => first?.tls,
  },
  {
    name: 'an endpoint',
    head: 'evaluators:',
    key: 'evaluators[0]',
    line: (tls) => `  - { use: http, name: own, options: { url: "https://own/evaluate" }, ${tls} }`,
    tlsOf: ({ evaluators: [first] }) => (first?.configured.kind === 'http' ? first.configured.tls : undefined),
  },
];
for (const { name, head, line, tlsOf } of places) {
  test(`client tls: of ${name} it is read, secrets of it are not printed, and a changed file is another configuration`, async () => {
    const load = (tls: string) => folder.load(`${head}\n${line(`tls: { ${tls} }`)}\n`);
    const section = head.slice(0, -1);
    const [one, same] = [await folder.load(`${head}\n${line(whole)}\n`), await folder.load(`${head}\n${line(whole)}\n`)];
    expect(tlsOf(one.config)).toEqual(wholeIs);
    expect(JSON.stringify(one.printed)).not.toContain('PRIVATE KEY');
    expect(JSON.stringify(one.printed)).toContain('"key_file":"client-key.pem"');
    expect(same.fingerprints.sections.get(section)).toBe(one.fingerprints.sections.get(section));
    folder.put('changing.pem', pem('two.pem'));
    const before = await load('ca_file: changing.pem');
    folder.put('changing.pem', pem('cert.pem'));
    const after = await load('ca_file: changing.pem');
    expect(after.fingerprints.sections.get(section)).not.toBe(before.fingerprints.sections.get(section));
    expect(
      [...after.fingerprints.sections].filter(([key, print]) => before.fingerprints.sections.get(key) !== print).map(([key]) => key),
    ).toEqual([section]);
  });
}

const fromVariables: readonly {
  readonly name: string;
  readonly entry: string;
  readonly env: Environment;
  readonly is: object | undefined;
}[] = [
  {
    name: 'all three',
    entry: `to: span_events, ${at}`,
    env: {
      OTEL_EXPORTER_OTLP_CERTIFICATE: inFolder('cert.pem'),
      OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: inFolder('client.pem'),
      OTEL_EXPORTER_OTLP_CLIENT_KEY: inFolder('client-key.pem'),
    },
    is: wholeIs,
  },
  {
    name: 'those of the signal win',
    entry: `to: log_events, ${at}`,
    env: { OTEL_EXPORTER_OTLP_CERTIFICATE: inFolder('gone.pem'), OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE: inFolder('cert.pem') },
    is: { ca: pem('cert.pem') },
  },
  {
    name: 'those of another signal do not count',
    entry: `to: span_events, ${at}`,
    env: { OTEL_EXPORTER_OTLP_LOGS_CERTIFICATE: inFolder('gone.pem') },
    is: undefined,
  },
  {
    name: 'the value of the entry wins',
    entry: `to: span_events, ${at}, tls: { ca_file: two.pem }`,
    env: { OTEL_EXPORTER_OTLP_CERTIFICATE: inFolder('gone.pem'), OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE: inFolder('gone.pem') },
    is: { ca: pem('two.pem') },
  },
  {
    name: 'without TLS no file is read',
    entry: 'to: span_events, endpoint: "http://backend:4318"',
    env: { OTEL_EXPORTER_OTLP_CERTIFICATE: inFolder('gone.pem') },
    is: undefined,
  },
  {
    name: 'what goes another way does not take them',
    entry: `to: phoenix, ${at}`,
    env: { OTEL_EXPORTER_OTLP_CERTIFICATE: inFolder('gone.pem') },
    is: undefined,
  },
];
for (const { name, entry, env, is } of fromVariables) {
  test(`client tls: of variables, ${name}`, async () => {
    const [first] = (await folder.load(exportOf(entry), { env })).config.exporters;
    expect(first?.to === 'metrics' ? undefined : first?.tls).toEqual(is);
  });
}

test('client tls: a default configuration takes the variables as well', async () => {
  const env = { OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://backend/v1/metrics', OTEL_EXPORTER_OTLP_CERTIFICATE: inFolder('cert.pem') };
  expect((await folder.load('', { env })).config.exporters).toMatchObject([{ to: 'metrics', push: { tls: { ca: pem('cert.pem') } } }]);
});

const bad: readonly { readonly tls: string; readonly key: string; readonly problem: string; readonly nowMs?: number }[] = [
  { tls: 'ca_file: gone.pem', key: 'tls.ca_file', problem: '"gone.pem" cannot be read (ENOENT)' },
  { tls: 'ca_file: text.pem', key: 'tls.ca_file', problem: '"text.pem" has no certificate in PEM' },
  {
    tls: 'ca_file: two.pem',
    key: 'tls.ca_file',
    problem: '"two.pem" has a certificate that expired on 2126-10-28 (number 1)',
    nowMs: Date.UTC(2130, 0, 1),
  },
  { tls: 'cert_file: client.pem, key_file: text.pem', key: 'tls.key_file', problem: '"text.pem" has no private key in PEM' },
  { tls: 'cert_file: text.pem, key_file: client-key.pem', key: 'tls.cert_file', problem: '"text.pem" has no certificate in PEM' },
  {
    tls: 'cert_file: client.pem, key_file: key.pem',
    key: 'tls.key_file',
    problem: '"key.pem" does not match the first certificate of cert_file',
  },
  { tls: 'cert_file: client.pem', key: 'tls', problem: 'lacks key_file' },
  { tls: 'key_file: client-key.pem', key: 'tls', problem: 'lacks cert_file' },
];
for (const { name, head, key: entry, line } of places) {
  for (const { tls, key, problem, nowMs } of bad) {
    test(`client tls: ${name}, ${tls}: ${problem}`, async () => {
      const written = line(`tls: { ${tls} }`);
      expectFault(await folder.faultsOf(`${head}\n${written}\n`, { nowMs }), { line: written, key: `${entry}.${key}`, problem });
    });
  }
}

test('client tls: an endpoint without TLS has no use for it, and a variable is named as what it is', async () => {
  expect(await folder.faultsOf(exportOf('to: phoenix, endpoint: "http://backend:6006", tls: { ca_file: cert.pem }'))).toMatchObject([
    { key: 'export[0].tls', problem: 'has no effect for an endpoint that begins with http://' },
  ]);
  expect(await folder.faultsOf(exportOf('to: metrics, tls: { ca_file: cert.pem }'))).toMatchObject([
    { key: 'export[0].tls', problem: 'has no effect without endpoint' },
  ]);
  expect(
    await folder.faultsOf(exportOf(`to: span_events, ${at}`), { env: { OTEL_EXPORTER_OTLP_CERTIFICATE: inFolder('gone.pem') } }),
  ).toMatchObject([
    {
      key: 'export[0]',
      problem: expect.stringMatching(/^has OTEL_EXPORTER_OTLP_CERTIFICATE, and ".*gone.pem" cannot be read \(ENOENT\)$/),
    },
  ]);
  expect(
    await folder.faultsOf(exportOf(`to: span_events, ${at}`), {
      env: { OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY: inFolder('client-key.pem') },
    }),
  ).toMatchObject([{ key: 'export[0]', problem: 'has OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY only' }]);
});

test('client tls: it is for entries with their own endpoint over HTTPS', async () => {
  expect(await folder.faultsOf('judges: { main: { base_url: "http://judge/v1", model: m, tls: { ca_file: cert.pem } } }')).toMatchObject([
    { key: 'judges.main.tls', problem: 'has no effect for an endpoint that begins with http://' },
  ]);
  expect(
    await folder.faultsOf('evaluators: [ { use: http, name: own, options: { url: "http://own/x" }, tls: { ca_file: cert.pem } } ]'),
  ).toMatchObject([{ key: 'evaluators[0].tls', problem: 'has no effect for an endpoint that begins with http://' }]);
  expect(await folder.faultsOf('evaluators: [ { use: tool_error, tls: { ca_file: cert.pem } } ]')).toMatchObject([
    { key: 'evaluators[0].tls', problem: 'is not for tool_error, which has no endpoint', todo: 'Leave it out.' },
  ]);
  expect(
    await folder.faultsOf(
      'judges: { main: { model: m } }\nevaluators: [ { use: task_completion, judge: main, tls: { ca_file: cert.pem } } ]',
    ),
  ).toMatchObject([{ key: 'evaluators[0].tls', todo: 'Write it under the judge.' }]);
});

test('client tls: what waits for an endpoint is not asked otherwise because of its certificates', async () => {
  const text = (tls: string): string => `evaluators: [ { use: http, name: own, options: { url: "https://own/x" }${tls} } ]`;
  const [plain, guarded] = await Promise.all([folder.load(text('')), folder.load(text(', tls: { ca_file: cert.pem }'))]);
  expect(guarded.config.evaluators[0]?.configured.optionsHash).toBe(plain.config.evaluators[0]?.configured.optionsHash);
});
