/** Certificates for backends, judges and endpoints of evaluators, in a whole service: renewed files hold without a restart. */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { watchedFile } from '../../src/config/files/watched-file.ts';
import { tlsOptions } from '../../src/receivers/tls.ts';
import { service } from '../../src/service.ts';
import { familyServer } from '../exporters/family-server.ts';
import { says, tlsChatServer } from '../judges/chat-server.ts';
import { certificateFolder, mutualTls } from '../receivers/certificates.ts';
import { eventually, sample, sendAgentRun } from './running.ts';

const ends: (() => Promise<unknown> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

interface Bench {
  readonly otlp: string;
  /** 0: it was not counted yet. */
  metric(name: string, labels: { readonly [label: string]: string }): Promise<number>;
  put(from: string, as: string): void;
  write(name: string, text: string): void;
}

const tls = 'tls: { ca_file: ca.pem, cert_file: client.pem, key_file: client-key.pem }';

/** The service with this besides, in whose folder the authority is the wrong one. */
async function bench(yaml: string): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), 'tracejury-client-tls-'));
  ends.push(() => rmSync(folder, { recursive: true }));
  const put = (from: string, as: string): void => copyFileSync(join(certificateFolder, from), join(folder, as));
  put('client-ca.pem', 'ca.pem');
  put('client.pem', 'client.pem');
  put('client-key.pem', 'client-key.pem');
  const file = join(folder, 'tracejury.yaml');
  writeFileSync(
    file,
    `listen: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }
store: { url: "memory:" }
journal: { url: "memory:" }
closing: { settle: 5ms, quiet: 50ms }
${yaml}
`,
  );
  const source = watchedFile({ file, env: {}, evaluators });
  const { config, fingerprints } = await source.read();
  const running = service({ config, fingerprints, source, watchMs: 20, logger: pino({ level: 'silent' }), stopMs: 500 });
  ends.push(() => running.stop());
  const { otlpHttp, console: page } = await running.start();
  return {
    otlp: otlpHttp,
    put,
    write: (name, text) => writeFileSync(join(folder, name), text),
    metric: async (name, labels) => sample(await (await fetch(`${page}/metrics`)).text(), name, labels) ?? 0,
  };
}

const reloads = 'tracejury_config_reloads_total';

for (const to of ['span_events', 'forward'] as const) {
  test(`service: ${to}: what waits behind certificates that were wrong goes when they are right, and a file that is broken changes nothing`, async () => {
    const backend = await familyServer({ isGrpc: false, tls: tlsOptions(mutualTls), answer: () => ({ status: 200 }) });
    ends.push(backend.close);
    const own = await bench(`export: [ { to: ${to}, endpoint: "${backend.url}", ${tls} } ]`);
    await sendAgentRun(own.otlp);
    const failed = to === 'forward' ? 'tracejury_forward_requests_total' : 'tracejury_exporter_items_total';
    await eventually(
      async () => ((await own.metric(failed, { tracejury_outcome: 'retried' })) > 0 ? true : undefined),
      'a request that fails',
    );
    expect(backend.seen()).toBe(0);
    own.write('ca.pem', 'half a certif');
    await eventually(
      async () => ((await own.metric(reloads, { tracejury_outcome: 'refused' })) > 0 ? true : undefined),
      'a file that is refused',
    );
    own.put('cert.pem', 'ca.pem');
    await eventually(() => (backend.seen() > 0 ? true : undefined), 'what waited');
  });
}

const asked: readonly {
  readonly who: string;
  readonly answer: string;
  readonly counted: string;
  readonly yaml: (baseUrl: string) => string;
}[] = [
  {
    who: 'judge',
    answer: '{"tasks":[{"number":1,"explanation":"It says so.","completed":true}]}',
    counted: 'main',
    yaml: (url) =>
      `judges: { main: { base_url: "${url}", model: m, ${tls} } }\nevaluators: [ { use: task_completion, judge: main, sample: { rate: 1 }, expect: { tasks: [ "find it" ] } } ]`,
  },
  {
    who: 'endpoint',
    answer: '',
    counted: 'http:own',
    yaml: (url) => `evaluators: [ { use: http, name: own, options: { url: "${url}/evaluate" }, ${tls} } ]`,
  },
];
for (const { who, answer, counted, yaml } of asked) {
  test(`service: ${who}: certificates that were wrong are replaced without a restart, and it is asked from then on`, async () => {
    const server = await tlsChatServer(
      tlsOptions(mutualTls),
      who === 'judge' ? says(answer) : (response) => void response.end('{"status":"scored","score":1,"explanation":"Fine."}'),
    );
    ends.push(server.close);
    const own = await bench(yaml(server.baseUrl));
    await sendAgentRun(own.otlp);
    await eventually(
      async () =>
        (await own.metric('tracejury_judge_requests_total', { tracejury_judge: counted, tracejury_outcome: 'retried' })) > 0
          ? true
          : undefined,
      'a request that fails',
    );
    expect(server.requests).toHaveLength(0);
    own.put('cert.pem', 'ca.pem');
    await eventually(
      async () => ((await own.metric(reloads, { tracejury_outcome: 'applied' })) > 0 ? true : undefined),
      'the new certificates',
    );
    await sendAgentRun(own.otlp);
    await eventually(
      async () =>
        (await own.metric('tracejury_judge_requests_total', { tracejury_judge: counted, tracejury_outcome: 'answered' })) > 0
          ? true
          : undefined,
      'an answer',
    );
  });
}
