/** Clients that ask for much and read nothing of it, over real sockets. */
import { connect, type Socket } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { byteBudget } from '../../src/receivers/byte-budget.ts';
import { consoleBody } from '../../src/service/listeners.ts';
import { noTelemetry } from '../../src/telemetry/telemetry.ts';
import type { ConsoleOptions } from '../../src/web/console.ts';
import { emptyApi, openConsole } from '../builders/console-listener.ts';
import { eventually } from '../service/running.ts';

const ending: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of ending.splice(0).reverse()) await end();
});

interface Listening {
  readonly port: number;
  /** Pages that were begun and not ended, and the most of them at a time. */
  readonly pages: { begun: number; open: number; most: number };
  readonly ended: string[];
  /** Requests that got 503 for want of room. */
  readonly busy: () => number;
}

/** Its metrics page is larger than what a socket takes unread. */
async function listening(responses: ConsoleOptions['responses'] = {}, more: Partial<ConsoleOptions> = {}): Promise<Listening> {
  const pages = { begun: 0, open: 0, most: 0 };
  const ended: string[] = [];
  let busy = 0;
  const page = function* (): Generator<string> {
    pages.begun++;
    pages.most = Math.max(pages.most, ++pages.open);
    try {
      for (let at = 0; at < 200; at++) yield 'x'.repeat(64 * 1024);
    } finally {
      pages.open--;
    }
  };
  const { url, listener } = await openConsole({
    metricsPage: page,
    onFault: () => undefined,
    connections: { watch: () => undefined, admitted: () => undefined, closeIdle: () => undefined, ended: (reason) => ended.push(reason) },
    responses,
    onBusy: () => busy++,
    readBody: consoleBody(byteBudget({ bytesMax: 1024 * 1024, telemetry: noTelemetry })({ keepFreeBytes: 0 })),
    // Larger than what two sockets take unread.
    api: { ...(await emptyApi()), evaluability: () => Array.from({ length: 200 }, () => ({ reason: 'x'.repeat(64 * 1024) })) },
    ...more,
  });
  ending.push(() => listener.stop());
  return { port: Number(new URL(url).port), pages, ended, busy: () => busy };
}

/** Sends the text and reads nothing. */
async function unread(port: number, text: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
    .on('error', () => undefined)
    .pause();
  ending.push(() => socket.destroy());
  await new Promise((resolve) => socket.write(text, resolve));
  return socket;
}

/** The body of an answer that is read to its end. */
async function statusOf(answer: Promise<Response>): Promise<number> {
  const { status, body } = await answer;
  for await (const _ of body ?? []);
  return status;
}

const ask = 'GET /metrics HTTP/1.1\r\nhost: localhost\r\n\r\n';

test('responses: requests of one connection are answered one after the other', async () => {
  const { port, pages } = await listening();
  const socket = await unread(port, ask.repeat(3));
  await eventually(() => pages.begun > 0 || undefined, 'a page');
  // Another connection is served meanwhile.
  expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
  expect(pages).toMatchObject({ begun: 1, open: 1 });
  socket.resume();
  await eventually(() => pages.begun === 3 || undefined, 'all pages');
  expect(pages.most).toBe(1);
});

test('responses: a connection with more requests than may wait is ended and counted', async () => {
  const { port, pages, ended } = await listening();
  await unread(port, ask.repeat(1_000));
  await eventually(() => ended.length > 0 || undefined, 'the end of the connection');
  expect(ended).toEqual(['pipelined']);
  await eventually(() => pages.open === 0 || undefined, 'no page under way');
});

test('responses: over all connections a bounded number is in progress at a time, and a reader that stops makes room for one that reads', async () => {
  const { port, pages, ended } = await listening({ answersMax: 4, stallMs: 100 });
  for (let at = 0; at < 12; at++) await unread(port, ask);
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  expect([answer.status, (await answer.text()).length]).toEqual([200, 200 * 64 * 1024]);
  expect(pages.most).toBeLessThanOrEqual(4);
  expect(ended.length).toBeGreaterThan(8);
  expect(new Set(ended)).toEqual(new Set(['unread']));
});

test('responses: where too many wait, the others are asked to come back, and health is answered', async () => {
  const { port } = await listening({ answersMax: 1, waitingMax: 1, waitMs: 60_000, stallMs: 60_000 });
  await unread(port, ask);
  await unread(port, ask);
  const busy = await eventually(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    return answer?.status === 503 ? answer : undefined;
  }, 'an answer that there is no room');
  expect([busy.headers.get('retry-after'), await busy.json()]).toMatchObject(['1', { error: { code: 'busy' } }]);
  expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
});

test('responses: an answer that is never read is ended in time', async () => {
  const { port, pages, ended } = await listening({ answersMax: 1, answerMs: 100 });
  await unread(port, ask);
  await eventually(() => (ended.length === 1 && pages.open === 0) || undefined, 'the end of the page');
  expect(ended).toEqual(['unread']);
});

test('responses: unread answers hold a bounded number of bytes, and one goes at any size', async () => {
  const { port, busy } = await listening({ bytesMax: 1_000, answersMax: 100, stallMs: 60_000 });
  const path = '/api/v1/evaluability';
  const asked = async (): Promise<number> => {
    const { status, body } = await fetch(`http://127.0.0.1:${port}${path}`);
    await body?.cancel();
    return status;
  };
  expect([await asked(), busy()]).toEqual([200, 0]);
  const first = await unread(port, `GET ${path} HTTP/1.1\r\nhost: localhost\r\n\r\n`);
  await eventually(async () => (await asked()) === 503 || undefined, 'a refusal');
  expect(busy()).toBe(1);
  expect((await fetch(`http://127.0.0.1:${port}/livez`)).status).toBe(200);
  first.destroy();
  await eventually(async () => (await asked()) === 200 || undefined, 'room again');
});

const token = { name: 'reader', value: 'reads-and-nothing-else', may: ['read'] } as const;
const asReader = { headers: { authorization: `Bearer ${token.value}` } };
const halfSignIn =
  'POST /api/v1/session HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 4000\r\n\r\n{"token":"';

test('responses: sign-ins that never end hold no room, neither of readers nor of other strangers', async () => {
  const { port } = await listening({ answersMax: 1, strangersMax: 1, waitMs: 60_000, stallMs: 60_000 }, { tokens: [token] });
  for (let at = 0; at < 20; at++) await unread(port, halfSignIn);
  expect((await fetch(`http://127.0.0.1:${port}/api/v1/runs`, asReader)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${port}/api/v1/session`)).status).toBe(200);
});

/** Work that lasts until it is let go, by the address that begins it. */
function slowWork() {
  const going = Promise.withResolvers<boolean>();
  const path = `/api/v1/annotations/${'0'.repeat(32)}-${'0'.repeat(24)}`;
  let begun = 0;
  return { going, path, begun: () => begun, unannotate: async () => (begun++, await going.promise) };
}

test('responses: strangers have separate room, and take none from a caller who may read', async () => {
  const work = slowWork();
  const holding = { ...token, name: 'boss', value: 'does-everything-here', may: ['read', 'operate', 'annotate'] };
  const { port } = await listening(
    { answersMax: 1, strangersMax: 1, waitMs: 60_000 },
    { tokens: [token, holding], api: { ...(await emptyApi()), unannotate: work.unannotate } },
  );
  const url = `http://127.0.0.1:${port}`;
  const held = fetch(`${url}${work.path}`, { method: 'DELETE', headers: { authorization: `Bearer ${holding.value}` } });
  await eventually(() => work.begun() > 0 || undefined, 'the work');
  expect((await fetch(`${url}/api/v1/session`)).status).toBe(200);
  work.going.resolve(true);
  expect((await held).status).toBe(200);
});

test('responses: no time limit for clients ends an answer that the service still works on, while others wait', async () => {
  const work = slowWork();
  const { port, ended } = await listening(
    { answersMax: 2, stallMs: 20, answerMs: 20, waitMs: 60_000 },
    { api: { ...(await emptyApi()), unannotate: work.unannotate } },
  );
  const url = `http://127.0.0.1:${port}`;
  const held = fetch(`${url}${work.path}`, { method: 'DELETE' });
  await eventually(() => work.begun() > 0 || undefined, 'the work');
  // It begins later, and the same limits end it.
  await unread(port, ask);
  const behind = fetch(`${url}/api/v1/runs`);
  await eventually(() => ended.length > 0 || undefined, 'the end of the unread answer');
  work.going.resolve(true);
  expect([(await held).status, (await behind).status, ended]).toEqual([200, 200, ['unread']]);
});

test('responses: a holder of many requests leaves a place to another one', async () => {
  const work = slowWork();
  const boss = { ...token, name: 'boss', value: 'does-everything-here', may: ['read', 'operate', 'annotate'] };
  const { port } = await listening(
    { answersMax: 4, waitingMax: 8, waitMs: 60_000 },
    { tokens: [token, boss], api: { ...(await emptyApi()), unannotate: work.unannotate } },
  );
  const url = `http://127.0.0.1:${port}`;
  const asBoss = { method: 'DELETE', headers: { authorization: `Bearer ${boss.value}` } };
  const many = Array.from({ length: 12 }, async () => (await fetch(`${url}${work.path}`, asBoss)).status);
  await eventually(() => work.begun() === 3 || undefined, 'the share of the holder');
  expect(await statusOf(fetch(`${url}/metrics`, asReader))).toBe(200);
  work.going.resolve(true);
  // Three at work and eight that waited.
  expect(Map.groupBy(await Promise.all(many), (status) => status).get(200)).toHaveLength(11);
});
