/** Certificates for backends, in a whole service: renewed files hold without a restart, for scores and for spans that go on. */
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, expect, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { watchedFile } from '../../src/config/watched-file.ts';
import { tlsOptions } from '../../src/receivers/tls.ts';
import { service } from '../../src/service.ts';
import { familyServer } from '../exporters/family-server.ts';
import { certificateFolder, mutualTls } from '../receivers/certificates.ts';
import { eventually, sample, sendAgentRun } from './running.ts';

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

for (const to of ['span_events', 'forward'] as const) {
  test(`service: ${to}: what waits behind certificates that were wrong goes when they are right, and a file that is broken changes nothing`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tracejury-export-tls-'));
    ends.push(() => rmSync(folder, { recursive: true }));
    const put = (from: string, as: string): void => copyFileSync(join(certificateFolder, from), join(folder, as));
    put('client-ca.pem', 'ca.pem');
    put('client.pem', 'client.pem');
    put('client-key.pem', 'client-key.pem');
    const backend = await familyServer({ isGrpc: false, tls: tlsOptions(mutualTls), answer: () => ({ status: 200 }) });
    ends.push(backend.close);
    const file = join(folder, 'tracejury.yaml');
    writeFileSync(file, `listen: { otlp_http: "127.0.0.1:0", otlp_grpc: "127.0.0.1:0", console: "127.0.0.1:0" }
store: { url: "memory:" }
journal: { url: "memory:" }
closing: { settle: 5ms, quiet: 50ms }
export: [ { to: ${to}, endpoint: "${backend.url}", tls: { ca_file: ca.pem, cert_file: client.pem, key_file: client-key.pem } } ]
`);
    const source = watchedFile({ file, env: {}, evaluators });
    const { config, prints } = await source.read();
    const running = service({ config, prints, source, watchMs: 20, logger: pino({ level: 'silent' }), stopMs: 500 });
    ends.push(() => running.stop());
    const { otlpHttp, console: page } = await running.start();
    const metrics = async (): Promise<string> => (await fetch(`${page}/metrics`)).text();
    await sendAgentRun(otlpHttp);
    const failed = to === 'forward' ? 'tracejury_forward_requests_total' : 'tracejury_exporter_items_total';
    await eventually(async () => ((sample(await metrics(), failed, { tracejury_outcome: 'retried' }) ?? 0) > 0 ? true : undefined), 'a request that fails');
    expect(backend.seen()).toBe(0);
    writeFileSync(join(folder, 'ca.pem'), 'half a certif');
    await eventually(async () => ((sample(await metrics(), 'tracejury_config_reloads_total', { tracejury_outcome: 'refused' }) ?? 0) > 0 ? true : undefined), 'a file that is refused');
    put('cert.pem', 'ca.pem');
    await eventually(() => (backend.seen() > 0 ? true : undefined), 'what waited');
  }, 60_000);
}
