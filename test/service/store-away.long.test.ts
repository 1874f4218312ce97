/** A service that starts while the database of its store is away: it reports that, takes nothing, and continues by itself. */
import { randomBytes } from 'node:crypto';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { evaluators } from '../../evaluators/index.ts';
import { loadConfig } from '../../src/config/load.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { service, type Service } from '../../src/service.ts';
import { freePort } from '../builders/free-port.ts';
import { emptyPostgres, missingPostgres, newerPostgres } from '../builders/postgres.ts';
import { tcpProxy } from '../builders/tcp-proxy.ts';
import { validators } from '../builders/validators.ts';
import { eventually, sendAgentRun } from './running.ts';

interface Waiting {
  readonly service: Service;
  readonly started: ReturnType<Service['start']>;
  readonly page: string;
  readonly otlp: string;
  readonly log: readonly JsonObject[];
  readonly end: AbortController;
}

async function waiting(store: string): Promise<Waiting> {
  const [http, grpc, page] = [await freePort(), await freePort(), await freePort()];
  const text = `listen: { otlp_http: "127.0.0.1:${http}", otlp_grpc: "127.0.0.1:${grpc}", console: "127.0.0.1:${page}" }
closing: { settle: 5ms, quiet: 50ms }
journal: { url: "memory:" }
store: { url: "${store}" }`;
  const { config } = loadConfig({ validators, file: 'test.yaml', text, env: {}, evaluators });
  const log: JsonObject[] = [];
  const one = service({
    config,
    logger: pino({ level: 'info' }, { write: (line: string) => void log.push(JSON.parse(line) as JsonObject) }),
    stopMs: 500,
  });
  const end = new AbortController();
  const started = one.start(end.signal);
  started.catch(() => undefined);
  onTestFinished(() => one.stop());
  return { service: one, started, page: `http://127.0.0.1:${page}`, otlp: `http://127.0.0.1:${http}`, log, end };
}

async function answerOf(
  url: string,
  init?: RequestInit,
): Promise<{ readonly status: number; readonly after: string | null; readonly text: string } | undefined> {
  const response = await fetch(url, init).catch(() => undefined);
  return response === undefined
    ? undefined
    : { status: response.status, after: response.headers.get('retry-after'), text: await response.text() };
}

interface Absence {
  readonly name: string;
  readonly says: RegExp;
  /** Resolves with the URL of the store, and how the database comes. */
  prepare(): Promise<{ readonly url: string; come(): Promise<void> }>;
}

const absences: readonly Absence[] = [
  {
    name: 'whose server does not listen',
    says: /ECONNREFUSED/,
    async prepare() {
      const { hostname, port, pathname } = new URL(await emptyPostgres());
      const proxy = await tcpProxy({ host: hostname, port: Number(port) });
      await proxy.close();
      return { url: `postgres://test:hidden@127.0.0.1:${proxy.port}${pathname}`, come: proxy.open };
    },
  },
  {
    name: 'that is not there',
    says: /database .?"test_\w+.?" does not exist/,
    async prepare() {
      const { url, run } = await missingPostgres();
      return { url: url.replace('test@', 'test:hidden@'), come: () => run('create database $') };
    },
  },
  {
    name: 'whose user is unknown',
    says: /role .?"late_\w+.?" does not exist/,
    async prepare() {
      const user = `late_${randomBytes(4).toString('hex')}`;
      const { url, run } = await missingPostgres();
      await run('create database $');
      onTestFinished(() => run(`drop role if exists ${user}`));
      onTestFinished(() => run('drop database $ with (force)'));
      return { url: url.replace('test@', `${user}:hidden@`), come: () => run(`create role ${user} login superuser`) };
    },
  },
];

for (const { name, says, prepare } of absences)
  test(`a service waits for a database ${name}`, async () => {
    const { url, come } = await prepare();
    const { started, page, otlp, log } = await waiting(url);
    const ready = await eventually(() => answerOf(`${page}/readyz`), 'an answer of /readyz');
    expect(ready).toMatchObject({ status: 503, text: expect.stringMatching(says) });
    expect(await answerOf(`${page}/livez`)).toMatchObject({ status: 200 });
    expect(await answerOf(`${page}/api/v1/runs`)).toMatchObject({ status: 503, after: '5', text: expect.not.stringMatching(says) });
    const sent = await eventually(
      () => answerOf(`${otlp}/v1/traces`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }),
      'an answer of the receiver',
    );
    expect(sent).toMatchObject({ status: 503, after: '5' });
    await come();
    await started;
    expect(await answerOf(`${page}/readyz`)).toMatchObject({ status: 200 });
    const { traceId } = await sendAgentRun(otlp);
    await eventually(async () => ((await answerOf(`${page}/api/v1/runs`))?.text.includes(traceId) === true ? true : undefined), 'the run');
    const warned = log.filter(({ todo }) => todo !== undefined);
    expect(warned).toMatchObject([{ msg: expect.stringMatching(says), todo: expect.stringContaining('store.url') }]);
    expect(JSON.stringify(log)).not.toContain('hidden');
    expect(log.map(({ msg }) => msg)).toContain('the store is there, and the service starts');
  });

test('a service that waits for its database stops at a signal', async () => {
  const { service: one, started, page, end } = await waiting(`postgres://test@127.0.0.1:${await freePort()}/nothing`);
  await eventually(() => answerOf(`${page}/readyz`), 'an answer of /readyz');
  end.abort();
  await expect(started).rejects.toMatchObject({ code: 'STOPPING' });
  await one.stop();
  expect(await answerOf(`${page}/livez`)).toBeUndefined();
});

test('a service does not wait for a database that a newer release has written', async () => {
  const { started } = await waiting(await newerPostgres());
  await expect(started).rejects.toMatchObject({ code: 'STORE_UNUSABLE', message: expect.stringContaining('newer release') });
});

test('a service whose database goes away later still accepts requests, and names what it lacks until the database is back', async () => {
  const { hostname, port, pathname } = new URL(await emptyPostgres());
  const proxy = await tcpProxy({ host: hostname, port: Number(port) });
  const { started, page, otlp } = await waiting(`postgres://test@127.0.0.1:${proxy.port}${pathname}`);
  await started;
  expect(await answerOf(`${page}/readyz`)).toMatchObject({ status: 200, text: '{"status":"ok"}' });
  await proxy.close();
  const degraded = await eventually(
    async () => {
      const answer = await answerOf(`${page}/readyz`);
      return answer?.text.includes('degraded') === true ? answer : undefined;
    },
    'a lack in /readyz',
    { everyMs: 100, looksMax: 900 },
  );
  expect(degraded).toMatchObject({
    status: 200,
    text: expect.stringMatching(/The database has not answered for \d+ seconds\. The service takes requests/),
  });
  const { traceId } = await sendAgentRun(otlp);
  await proxy.open();
  const patience = { everyMs: 100, looksMax: 900 };
  await eventually(
    async () => ((await answerOf(`${page}/readyz`))?.text === '{"status":"ok"}' ? true : undefined),
    'the database',
    patience,
  );
  await eventually(
    async () => ((await answerOf(`${page}/api/v1/runs`))?.text.includes(traceId) === true ? true : undefined),
    'the run',
    patience,
  );
});
