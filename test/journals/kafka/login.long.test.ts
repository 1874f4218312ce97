/** Logins to a real broker over TLS: each mechanism, and each mistake in a sentence without the password. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../builders/free-port.ts';
import { halves } from '../../builders/gen-ai-spans.ts';
import { type Broker, startBroker } from '../../builders/kafka.ts';
import { serviceFolder, type ServiceProcess } from '../../service/process.ts';
import { eventually } from '../../service/running.ts';

const mainFile = join(import.meta.dirname, '../../../src/cli/main.ts');
const [user, password] = ['jury', 'not-for-logs'];
const folder = mkdtempSync(join(tmpdir(), 'tracejury-login-'));
const [keyFile, certificateFile] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
let broker: Broker;
let port: number;

beforeAll(async () => {
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const words = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', '-keyout', keyFile, '-out', certificateFile, ...subject];
  const { status, stderr } = spawnSync('openssl', words, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`openssl makes no certificate: ${stderr}`);
  port = await freePort();
  const [key, certificate] = [keyFile, certificateFile].map((file) => readFileSync(file, 'utf8')) as [string, string];
  broker = await startBroker({ login: { port, user, password, key, certificate } });
});
afterAll(async () => {
  await broker.stop('SIGKILL');
  rmSync(folder, { recursive: true });
});

interface Trial {
  readonly login?: string;
  readonly parameters?: string;
  readonly isTrusted?: boolean;
}

/** A service on a new topic. */
async function started({ login = `${user}:${password}`, parameters = '', isTrusted = true }: Trial): Promise<ServiceProcess> {
  const topic = await broker.topic(2);
  const own = serviceFolder({
    journal: `kafka://${login}@127.0.0.1:${port}/${topic}?tls=true${parameters}`,
    env: isTrusted ? { NODE_EXTRA_CA_CERTS: certificateFile } : {},
  });
  onTestFinished(() => own.remove());
  return await own.start();
}

test.each([{ sasl: undefined }, { sasl: 'plain' }, { sasl: 'scram-sha-256' }, { sasl: 'scram-sha-512' }])(
  'kafka: spans pass through a topic behind TLS and a login, sasl=$sasl',
  async ({ sasl }) => {
    const service = await started({ parameters: sasl === undefined ? '' : `&sasl=${sasl}` });
    await eventually(async () => ((await service.send(halves(1).flat())) === 200 ? true : undefined), 'an acknowledged request');
    const [run] = await eventually(async () => {
      const runs = await service.runs();
      return runs.length === 0 ? undefined : runs;
    }, 'the run');
    expect(run).toMatchObject({ agent: 'finder', completeness: 'complete' });
    expect(service.said()).not.toContain(password);
  },
);

test.each<Trial & { readonly name: string; readonly want: string }>([
  { name: 'a wrong password', login: `${user}:${password}x`, want: 'refuses the login. Correct the user and the password' },
  { name: 'a wrong password by PLAIN', login: `${user}:${password}x`, parameters: '&sasl=plain', want: 'refuses the login. Correct' },
  { name: 'a user that the broker lacks', login: `other:${password}`, want: 'refuses the login. Correct the user and the password' },
  { name: 'a certificate that is not trusted', isTrusted: false, want: 'NODE_EXTRA_CA_CERTS' },
])('kafka: the service waits, and names the cause without the password, with $name', async ({ want, ...trial }) => {
  const service = await started(trial);
  const reason = await eventually(async () => {
    const answer = await fetch(`${service.console}/readyz`);
    const text = await answer.text();
    return answer.status === 503 && text.includes(want) ? text : undefined;
  }, `an answer of /readyz with ${want}`);
  expect(await service.send(halves(1).flat())).toBe(503);
  expect(`${reason}${service.said()}`).not.toContain(password);
});

test('kafka: init and status log in over TLS too', async () => {
  const trusting = { NODE_EXTRA_CA_CERTS: certificateFile };
  const own = serviceFolder({
    journal: `kafka://${user}:${password}@127.0.0.1:${port}/made-${process.pid}?tls=true`,
    env: trusting,
  });
  onTestFinished(() => own.remove());
  const tried = (...words: readonly string[]): { readonly status: number | null; readonly stdout: string; readonly stderr: string } =>
    spawnSync(process.execPath, [mainFile, 'kafka', ...words, '-c', join(own.path, 'tracejury.yaml')], {
      encoding: 'utf8',
      env: { ...process.env, ...trusting },
    });
  expect(tried('init', '--partitions', '2', '--yes')).toMatchObject({ status: 0 });
  await own.start();
  const { status, stdout, stderr } = tried('status', '--format', 'json');
  expect(stderr).toBe('');
  expect([status, (JSON.parse(stdout) as { readonly partitions: readonly unknown[] }).partitions.length]).toEqual([0, 2]);
});
