import { afterEach, expect, test } from 'vitest';
import { type ConsoleListener, inPieces } from '../../src/web/console.ts';
import { emptyApi, openConsole } from '../builders/console-listener.ts';

const listeners: ConsoleListener[] = [];

afterEach(async () => {
  await Promise.all(listeners.splice(0).map((listener) => listener.stop()));
});

/** The address of its metrics page, and the faults that it reported. */
async function listening(
  metricsPage: () => Iterable<string>,
  unannotate = async (): Promise<boolean> => false,
): Promise<{ readonly url: string; readonly faults: readonly Error[] }> {
  const faults: Error[] = [];
  const { url, listener } = await openConsole({
    metricsPage,
    onFault: (error) => faults.push(error),
    readBody: async () => Buffer.alloc(0),
    api: { ...(await emptyApi()), unannotate },
  });
  listeners.push(listener);
  return { url: `${url}/metrics`, faults };
}

const large = (at: number): string => `${at} ${'ä'.repeat(300_000)}\n`;

test('console: the pieces of the metrics page come as one text, to several clients at a time', async () => {
  const { url, faults } = await listening(() => [0, 1, 2, 3].map(large));
  const pages = await Promise.all([1, 2, 3].map(async () => (await fetch(url)).text()));
  expect(pages.map((page) => page === [0, 1, 2, 3].map(large).join(''))).toEqual([true, true, true]);
  expect((await fetch(url, { method: 'HEAD' })).status).toBe(200);
  expect(faults).toEqual([]);
});

test('console: each piece of the metrics page is made in a separate turn of the event loop', async () => {
  const count = { turns: 0, goesOn: true };
  const turn = (): void => {
    count.turns++;
    if (count.goesOn) setImmediate(turn);
  };
  turn();
  const made: number[] = [count.turns];
  const pieces = function* (): Generator<string> {
    for (let at = 0; at < 20; at++) {
      made.push(count.turns);
      yield `${at}\n`;
    }
  };
  let text = '';
  for await (const piece of inPieces(pieces())) text += String(piece);
  count.goesOn = false;
  expect(text.split('\n')).toHaveLength(21);
  // None in the turn in which the page was asked for either.
  expect(new Set(made).size).toBe(21);
});

test('console: for a client that is gone no more of the metrics page is made', async () => {
  let ended: () => void = () => undefined;
  const end = new Promise<void>((resolve) => (ended = resolve));
  const endless = function* (): Generator<string> {
    try {
      for (let at = 0; ; at++) yield large(at);
    } finally {
      ended();
    }
  };
  const { url, faults } = await listening(endless);
  const response = await fetch(url);
  await response.body?.cancel();
  await end;
  expect(faults).toEqual([]);
});

test('console: a metrics page that breaks is reported once, and is not taken for a whole one', async () => {
  const broken = function* (from: number): Generator<string> {
    for (let at = 0; at < from; at++) yield large(at);
    throw new Error('broken');
  };
  let from = 0;
  const { url, faults } = await listening(() => broken(from++));
  const first = await fetch(url);
  expect([first.status, await first.json()]).toMatchObject([500, { error: { code: 'internal' } }]);
  const second = await fetch(url);
  expect(second.status).toBe(200);
  await expect(second.text()).rejects.toThrow();
  expect(faults.map(({ message }) => message)).toEqual(['broken', 'broken']);
});

test('console: what a full disk refuses is answered so, with when to come back, and any other fault is not', async () => {
  for (const [code, status, kind] of [
    ['ENOSPC', 503, 'disk_full'],
    ['EIO', 500, 'internal'],
  ] as const) {
    const { url, faults } = await listening(
      () => [],
      () => Promise.reject(Object.assign(new Error('planted'), { code })),
    );
    const answer = await fetch(new URL(`/api/v1/annotations/${'0'.repeat(32)}-${'0'.repeat(24)}`, url), { method: 'DELETE' });
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([status, status === 503 ? '10' : null]);
    expect(await answer.text()).toContain(`"${kind}"`);
    expect(faults).toHaveLength(1);
  }
});

test('console: a body with a number that is not finite is refused, anywhere in the body', async () => {
  const { url, listener } = await openConsole();
  listeners.push(listener);
  const body = '{"examples":[{"id":"a","input":"x","metadata":{"deep":[1e999]}}]}';
  const answer = await fetch(`${url}/api/v1/datasets/d/examples`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect([answer.status, await answer.json()]).toMatchObject([400, { error: { code: 'bad_request' } }]);
  expect((await fetch(`${url}/api/v1/datasets/d`)).status).toBe(404);
});

test.each(['/api/v1/runs?limit=Infinity', '/api/v1/experiments?limit=1e999', '/api/v1/sessions?limit=-1e999'])(
  'console: %s is refused, as ajv bounds finite numbers only',
  async (path) => {
    const { url, listener } = await openConsole();
    listeners.push(listener);
    const answer = await fetch(`${url}${path}`);
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { message: 'The parameter limit must be a finite number.' } },
    ]);
  },
);

test.each(['/%ff', '/api/v1/sessions/%ff', '/api/v1/sessions/%'])(
  'console: %s, which cannot be decoded, has an answer in the form of all',
  async (path) => {
    const { url, listener } = await openConsole();
    listeners.push(listener);
    const answer = await fetch(`${url}${path}`);
    expect([answer.status, await answer.json()]).toMatchObject([
      400,
      { error: { code: 'bad_request', message: 'The address cannot be read.' } },
    ]);
  },
);
