/** Certificates and keys beside the configuration. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { generateKeyPairSync } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { ConfigError, type ConfigFault } from '../../src/config/fault.ts';
import { loadConfigWithFiles, type LoadedConfig } from '../../src/config/load.ts';
import { members } from './members.ts';

const folder = mkdtempSync(join(tmpdir(), 'tracejury-tls-files-'));
afterAll(() => rmSync(folder, { recursive: true }));

const fixtures = join(import.meta.dirname, '../fixtures/tls');
const pem = (name: string): string => readFileSync(join(fixtures, name), 'utf8');
for (const name of ['cert.pem', 'key.pem', 'client-ca.pem', 'client.pem', 'client-key.pem']) copyFileSync(join(fixtures, name), join(folder, name));

const files: { readonly [name: string]: string } = {
  'chain.pem': `the service\n${pem('cert.pem')}its authority\n${pem('client-ca.pem')}`,
  'both.pem': `${pem('cert.pem')}${pem('key.pem')}`,
  'wrong-order.pem': `${pem('client-ca.pem')}${pem('cert.pem')}`,
  'text.pem': 'not a certificate',
  'cut.pem': pem('cert.pem').slice(0, 200),
  'second-cut.pem': `${pem('cert.pem')}${pem('client-ca.pem').slice(0, 200)}`,
  'cut-key.pem': pem('key.pem').slice(0, 100),
  'locked-key.pem': generateKeyPairSync('ec', { namedCurve: 'prime256v1', privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 's3cret' }, publicKeyEncoding: { type: 'spki', format: 'pem' } }).privateKey,
  'huge.pem': 'x'.repeat(300 * 1024),
};
for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);

const now = Date.UTC(2030, 0, 1);

function load(tls: string, nowMs = now): Promise<LoadedConfig> {
  return loadConfigWithFiles({ file: join(folder, 'a.yaml'), text: `listen:\n  tls: { ${tls} }\n`, env: {}, evaluators: members, nowMs });
}

const good: readonly { readonly name: string; readonly tls: string; readonly is: object }[] = [
  { name: 'a certificate and its key', tls: 'cert_file: cert.pem, key_file: key.pem', is: { cert: pem('cert.pem'), key: pem('key.pem') } },
  { name: 'with authorities of clients', tls: 'cert_file: cert.pem, key_file: key.pem, client_ca_file: client-ca.pem', is: { cert: pem('cert.pem'), key: pem('key.pem'), clientCa: pem('client-ca.pem') } },
  { name: 'a chain with words in between', tls: 'cert_file: chain.pem, key_file: key.pem', is: { cert: files['chain.pem'], key: pem('key.pem') } },
  { name: 'both in one file', tls: 'cert_file: both.pem, key_file: both.pem', is: { cert: files['both.pem'], key: files['both.pem'] } },
  { name: 'by an absolute path', tls: `cert_file: ${join(folder, 'cert.pem')}, key_file: ${join(folder, 'key.pem')}`, is: { cert: pem('cert.pem'), key: pem('key.pem') } },
];
for (const { name, tls, is } of good) test(`tls files: ${name}`, async () => expect((await load(tls)).config.listen.tls).toEqual(is));

const bad: readonly { readonly tls: string; readonly key: string; readonly problem: string; readonly column?: number; readonly nowMs?: number }[] = [
  { tls: 'cert_file: gone.pem, key_file: key.pem', key: 'cert_file', problem: '"gone.pem" cannot be read (ENOENT)' },
  { tls: 'cert_file: ., key_file: key.pem', key: 'cert_file', problem: '"." cannot be read (EISDIR)' },
  { tls: 'cert_file: huge.pem, key_file: key.pem', key: 'cert_file', problem: '"huge.pem" is too large for a configuration' },
  { tls: 'cert_file: text.pem, key_file: key.pem', key: 'cert_file', problem: '"text.pem" holds no certificate in PEM' },
  { tls: 'cert_file: key.pem, key_file: key.pem', key: 'cert_file', problem: '"key.pem" holds no certificate in PEM' },
  { tls: 'cert_file: cut.pem, key_file: key.pem', key: 'cert_file', problem: '"cut.pem" holds a certificate that cannot be read, number 1' },
  { tls: 'cert_file: second-cut.pem, key_file: key.pem', key: 'cert_file', problem: '"second-cut.pem" holds a certificate that cannot be read, number 2' },
  { tls: 'cert_file: cert.pem, key_file: key.pem', key: 'cert_file', problem: '"cert.pem" holds as certificate 1 one that expired on 2126-10-28', nowMs: Date.UTC(2126, 9, 29) },
  { tls: 'cert_file: cert.pem, key_file: key.pem', key: 'cert_file', problem: '"cert.pem" holds as certificate 1 one that is not valid before 2026-11-21', nowMs: Date.UTC(2026, 10, 20) },
  { tls: 'cert_file: cert.pem, key_file: gone.pem', key: 'key_file', problem: '"gone.pem" cannot be read (ENOENT)' },
  { tls: 'cert_file: cert.pem, key_file: cert.pem', key: 'key_file', problem: '"cert.pem" holds no private key in PEM' },
  { tls: 'cert_file: cert.pem, key_file: cut-key.pem', key: 'key_file', problem: '"cut-key.pem" holds a private key that cannot be read' },
  { tls: 'cert_file: cert.pem, key_file: locked-key.pem', key: 'key_file', problem: '"locked-key.pem" is locked with a passphrase' },
  { tls: 'cert_file: cert.pem, key_file: client-key.pem', key: 'key_file', problem: 'does not fit the first certificate of cert_file' },
  { tls: 'cert_file: wrong-order.pem, key_file: key.pem', key: 'key_file', problem: 'does not fit the first certificate of cert_file' },
  { tls: 'cert_file: cert.pem, key_file: key.pem, client_ca_file: gone.pem', key: 'client_ca_file', problem: '"gone.pem" cannot be read (ENOENT)' },
  { tls: 'cert_file: cert.pem, key_file: key.pem, client_ca_file: client.pem', key: 'client_ca_file', problem: '"client.pem" holds as certificate 1 one that may sign no others' },
  { tls: 'cert_file: client.pem, key_file: client-key.pem, client_ca_file: cert.pem', key: 'client_ca_file', problem: '"cert.pem" holds as certificate 1 one that expired on 2126-10-28', nowMs: Date.UTC(2126, 9, 28, 12) },
];
for (const { tls, key, problem, nowMs } of bad) {
  test(`tls files: ${key} ${problem}`, async () => {
    const [fault, ...others] = await faultsOf(tls, nowMs);
    expect(others).toEqual([]);
    expect(fault).toMatchObject({ line: 2, column: 1 + `  tls: { ${tls}`.indexOf(`${key}: `) + key.length + 2, key: `listen.tls.${key}`, problem });
    expect(fault?.todo).toMatch(/\w{3}.*\.$/);
    expect(JSON.stringify(fault)).not.toMatch(/s3cret|MHcC|MIGH/);
  });
}

test('tls files: all of them are told at once', async () => {
  expect((await faultsOf('cert_file: text.pem, key_file: text.pem, client_ca_file: text.pem')).map(({ key }) => key)).toEqual(['listen.tls.cert_file', 'listen.tls.key_file', 'listen.tls.client_ca_file']);
});

async function faultsOf(tls: string, nowMs?: number): Promise<readonly ConfigFault[]> {
  try {
    await load(tls, nowMs);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}
