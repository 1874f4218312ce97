/** Certificates and keys beside the configuration. */
import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { expectFault, pemFolder } from '../pem-folder.ts';

const folder = pemFolder();
const { pem } = folder;

const files: { readonly [name: string]: string } = {
  'chain.pem': `the service\n${pem('cert.pem')}its authority\n${pem('client-ca.pem')}`,
  'both.pem': `${pem('cert.pem')}${pem('key.pem')}`,
  'wrong-order.pem': `${pem('client-ca.pem')}${pem('cert.pem')}`,
  'text.pem': 'not a certificate',
  'cut.pem': pem('cert.pem').slice(0, 200),
  'second-cut.pem': `${pem('cert.pem')}${pem('client-ca.pem').slice(0, 200)}`,
  'cut-key.pem': pem('key.pem').slice(0, 100),
  'locked-key.pem': generateKeyPairSync('ec', {
    namedCurve: 'prime256v1',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 's3cret' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey,
  'huge.pem': 'x'.repeat(300 * 1024),
};
for (const [name, text] of Object.entries(files)) folder.put(name, text);

const lineOf = (tls: string): string => `  tls: { ${tls} }`;
const textOf = (tls: string): string => `listen:\n${lineOf(tls)}\n`;

const good: readonly { readonly name: string; readonly tls: string; readonly is: object }[] = [
  { name: 'a certificate and its key', tls: 'cert_file: cert.pem, key_file: key.pem', is: { cert: pem('cert.pem'), key: pem('key.pem') } },
  {
    name: 'with authorities of clients',
    tls: 'cert_file: cert.pem, key_file: key.pem, client_ca_file: client-ca.pem',
    is: { cert: pem('cert.pem'), key: pem('key.pem'), clientCa: pem('client-ca.pem') },
  },
  {
    name: 'a chain with words in between',
    tls: 'cert_file: chain.pem, key_file: key.pem',
    is: { cert: files['chain.pem'], key: pem('key.pem') },
  },
  { name: 'both in one file', tls: 'cert_file: both.pem, key_file: both.pem', is: { cert: files['both.pem'], key: files['both.pem'] } },
  {
    name: 'by an absolute path',
    tls: `cert_file: ${folder.at('cert.pem')}, key_file: ${folder.at('key.pem')}`,
    is: { cert: pem('cert.pem'), key: pem('key.pem') },
  },
];
for (const { name, tls, is } of good)
  test(`tls files: ${name}`, async () => expect((await folder.load(textOf(tls))).config.listen.tls).toEqual(is));

const bad: readonly { readonly tls: string; readonly key: string; readonly problem: string; readonly nowMs?: number }[] = [
  { tls: 'cert_file: gone.pem, key_file: key.pem', key: 'cert_file', problem: '"gone.pem" cannot be read (ENOENT)' },
  { tls: 'cert_file: ., key_file: key.pem', key: 'cert_file', problem: '"." cannot be read (EISDIR)' },
  { tls: 'cert_file: huge.pem, key_file: key.pem', key: 'cert_file', problem: '"huge.pem" is too large for a configuration' },
  { tls: 'cert_file: text.pem, key_file: key.pem', key: 'cert_file', problem: '"text.pem" has no certificate in PEM' },
  { tls: 'cert_file: key.pem, key_file: key.pem', key: 'cert_file', problem: '"key.pem" has no certificate in PEM' },
  {
    tls: 'cert_file: cut.pem, key_file: key.pem',
    key: 'cert_file',
    problem: '"cut.pem" has an unreadable certificate (number 1)',
  },
  {
    tls: 'cert_file: second-cut.pem, key_file: key.pem',
    key: 'cert_file',
    problem: '"second-cut.pem" has an unreadable certificate (number 2)',
  },
  {
    tls: 'cert_file: cert.pem, key_file: key.pem',
    key: 'cert_file',
    problem: '"cert.pem" has a certificate that expired on 2126-10-28 (number 1)',
    nowMs: Date.UTC(2126, 9, 29),
  },
  {
    tls: 'cert_file: cert.pem, key_file: key.pem',
    key: 'cert_file',
    problem: '"cert.pem" has a certificate that is not valid before 2026-11-21 (number 1)',
    nowMs: Date.UTC(2026, 10, 20),
  },
  { tls: 'cert_file: cert.pem, key_file: gone.pem', key: 'key_file', problem: '"gone.pem" cannot be read (ENOENT)' },
  { tls: 'cert_file: cert.pem, key_file: cert.pem', key: 'key_file', problem: '"cert.pem" has no private key in PEM' },
  { tls: 'cert_file: cert.pem, key_file: cut-key.pem', key: 'key_file', problem: '"cut-key.pem" has an unreadable private key' },
  { tls: 'cert_file: cert.pem, key_file: locked-key.pem', key: 'key_file', problem: '"locked-key.pem" is locked with a passphrase' },
  { tls: 'cert_file: cert.pem, key_file: client-key.pem', key: 'key_file', problem: 'does not match the first certificate of cert_file' },
  { tls: 'cert_file: wrong-order.pem, key_file: key.pem', key: 'key_file', problem: 'does not match the first certificate of cert_file' },
  {
    tls: 'cert_file: cert.pem, key_file: key.pem, client_ca_file: gone.pem',
    key: 'client_ca_file',
    problem: '"gone.pem" cannot be read (ENOENT)',
  },
  {
    tls: 'cert_file: cert.pem, key_file: key.pem, client_ca_file: client.pem',
    key: 'client_ca_file',
    problem: '"client.pem" has a certificate that may not sign others (number 1)',
  },
  {
    tls: 'cert_file: client.pem, key_file: client-key.pem, client_ca_file: cert.pem',
    key: 'client_ca_file',
    problem: '"cert.pem" has a certificate that expired on 2126-10-28 (number 1)',
    nowMs: Date.UTC(2126, 9, 28, 12),
  },
];
for (const { tls, key, problem, nowMs } of bad) {
  test(`tls files: ${key} ${problem}`, async () => {
    expectFault(await folder.faultsOf(textOf(tls), { nowMs }), { line: lineOf(tls), key: `listen.tls.${key}`, problem });
  });
}

test('tls files: all faults are reported at once', async () => {
  expect(
    (await folder.faultsOf(textOf('cert_file: text.pem, key_file: text.pem, client_ca_file: text.pem'))).map(({ key }) => key),
  ).toEqual(['listen.tls.cert_file', 'listen.tls.key_file', 'listen.tls.client_ca_file']);
});
