/** Permissions at the console: tokens, cookies, hosts, origins and anti-forgery values, over real requests. */
import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { hostRule } from '../../src/model/http-hosts.ts';
import type { ConsoleListener, ConsoleOptions } from '../../src/web/console.ts';
import { attemptsMax, sessionMs } from '../../src/web/browser-sessions.ts';
import { openConsole } from '../builders/console-listener.ts';

const open: ConsoleListener[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.stop()));
});

const tokens = [
  { name: 'reader', value: 'reads-and-nothing-else', may: ['read'] },
  { name: 'ana', value: 'reads-and-annotates-too', may: ['read', 'annotate'] },
  { name: 'boss', value: 'does-everything-here', may: ['read', 'annotate', 'operate'] },
  { name: 'agent', value: 'sends-spans-and-nothing', may: ['ingest'] },
  { name: 'team', value: 'sees-its-own-tenant', may: ['read'], sees: 'own' },
] as const;

async function listening(options: Partial<ConsoleOptions> = {}): Promise<string> {
  const { url, listener } = await openConsole({ tokens, ...options });
  open.push(listener);
  return url;
}

interface Answer {
  readonly status: number;
  readonly body: { readonly [key: string]: unknown; readonly error?: { readonly code: string } };
  readonly cookies: readonly string[];
}

async function call(
  url: string,
  { method = 'GET', headers = {}, body }: { method?: string; headers?: Record<string, string>; body?: unknown } = {},
): Promise<Answer> {
  const answer = await fetch(url, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: answer.status, body: (await answer.json()) as Answer['body'], cookies: answer.headers.getSetCookie() };
}

/** The cookie as the browser sends it, and the anti-forgery value. */
async function signedIn(url: string, token: string): Promise<{ readonly cookie: string; readonly forgery: string }> {
  const { status, body, cookies } = await call(`${url}/api/v1/session`, { method: 'POST', body: { token } });
  expect(status).toBe(200);
  return { cookie: (cookies[0] ?? '').split(';')[0] ?? '', forgery: String(body['anti_forgery']) };
}

const annotation = { annotations: [{ trace_id: 'a'.repeat(32), name: 'n', by: 'b', passed: true }] };

test('access: without tokens everybody may do everything, and there is no session', async () => {
  const url = await listening({ tokens: [] });
  expect((await call(`${url}/api/v1/session`)).body).toEqual({
    sign_in_needed: false,
    ways: [],
    name: null,
    rights: ['read', 'annotate', 'operate'],
    tenant: null,
    anti_forgery: null,
    expires_at: null,
  });
  expect((await call(`${url}/api/v1/runs`)).status).toBe(200);
});

test('access: a browser without a session learns how to sign in, and reads nothing', async () => {
  const url = await listening();
  expect((await call(`${url}/api/v1/session`)).body).toMatchObject({ sign_in_needed: true, ways: ['token'], name: null, rights: [] });
  expect(await call(`${url}/api/v1/runs`)).toMatchObject({ status: 401, body: { error: { code: 'unauthenticated' } } });
});

test('access: a token becomes a cookie that no script reads and no other site sends', async () => {
  const url = await listening();
  const { status, body, cookies } = await call(`${url}/api/v1/session`, { method: 'POST', body: { token: tokens[1].value } });
  expect([status, body]).toMatchObject([
    200,
    { name: 'ana', rights: ['read', 'annotate'], tenant: null, expires_at: new Date(sessionMs).toISOString() },
  ]);
  expect(cookies).toHaveLength(1);
  expect(cookies[0]).toMatch(/^tracejury_0=[\w-]{43}; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/);
  expect(cookies[0]).not.toContain(tokens[1].value);
  const cookie = (cookies[0] ?? '').split(';')[0] ?? '';
  expect((await call(`${url}/api/v1/runs`, { headers: { cookie } })).status).toBe(200);
  expect((await call(`${url}/api/v1/session`, { headers: { cookie } })).body).toEqual(body);
});

test('access: a change with the cookie needs the anti-forgery value of that session', async () => {
  const url = await listening();
  const { cookie, forgery } = await signedIn(url, tokens[1].value);
  const other = await signedIn(url, tokens[1].value);
  const change = (headers: Record<string, string>) =>
    call(`${url}/api/v1/annotations`, { method: 'POST', headers: { cookie, ...headers }, body: annotation });
  expect(await change({})).toMatchObject({ status: 403, body: { error: { code: 'anti_forgery' } } });
  expect((await change({ 'x-anti-forgery': other.forgery })).status).toBe(403);
  expect((await change({ 'x-anti-forgery': forgery })).body.error).toBeUndefined();
  // A program with a token needs neither.
  expect((await change({ authorization: `Bearer ${tokens[1].value}` })).body.error).toBeUndefined();
});

test('access: a session may what its token may', async () => {
  const url = await listening();
  const { cookie, forgery } = await signedIn(url, tokens[0].value);
  const answer = await call(`${url}/api/v1/annotations`, {
    method: 'POST',
    headers: { cookie, 'x-anti-forgery': forgery },
    body: annotation,
  });
  expect(answer).toMatchObject({ status: 403, body: { error: { code: 'not_allowed', message: 'reader may not annotate.' } } });
  const team = await signedIn(url, tokens[4].value);
  expect((await call(`${url}/api/v1/session`, { headers: { cookie: team.cookie } })).body).toMatchObject({
    tenant: 'team',
    rights: ['read'],
  });
  expect((await call(`${url}/api/v1/runs?tenant=other`, { headers: { cookie: team.cookie } })).status).toBe(403);
  expect((await call(`${url}/api/v1/exports`, { headers: { cookie: team.cookie } })).status).toBe(403);
});

test('access: a sign-out ends the session and removes the cookie', async () => {
  const url = await listening();
  const { cookie, forgery } = await signedIn(url, tokens[0].value);
  expect((await call(`${url}/api/v1/session`, { method: 'DELETE', headers: { cookie } })).status).toBe(403);
  const { body, cookies } = await call(`${url}/api/v1/session`, { method: 'DELETE', headers: { cookie, 'x-anti-forgery': forgery } });
  expect([body, cookies[0]]).toMatchObject([{ signed_out: true }, expect.stringMatching(/^tracejury_0=; /)]);
  expect((await call(`${url}/api/v1/runs`, { headers: { cookie } })).status).toBe(401);
});

test('access: a new sign-in ends the session before it', async () => {
  const url = await listening();
  const { cookie, forgery } = await signedIn(url, tokens[0].value);
  const next = await call(`${url}/api/v1/session`, {
    method: 'POST',
    headers: { cookie, 'x-anti-forgery': forgery },
    body: { token: tokens[1].value },
  });
  expect(next.status).toBe(200);
  expect((await call(`${url}/api/v1/runs`, { headers: { cookie } })).status).toBe(401);
});

test('access: an expired session is none', async () => {
  const clock = { nowMs: 0 };
  const url = await listening({ nowMs: () => clock.nowMs });
  const { cookie } = await signedIn(url, tokens[0].value);
  clock.nowMs = sessionMs;
  expect((await call(`${url}/api/v1/runs`, { headers: { cookie } })).status).toBe(401);
});

test('access: a request to the API is reported unless it is refused; pages, health checks and figures are not', async () => {
  let requests = 0;
  const url = await listening({ onApiRequest: () => void requests++ });
  const authorization = `Bearer ${tokens[0].value}`;
  const seen = [];
  for (const path of ['/healthz', '/readyz', '/metrics', '/plain', '/api/v1/runs']) {
    await (await fetch(`${url}${path}`, { headers: { authorization } })).text();
    seen.push([path, requests]);
  }
  expect(seen).toEqual([
    ['/healthz', 0],
    ['/readyz', 0],
    ['/metrics', 0],
    ['/plain', 0],
    ['/api/v1/runs', 1],
  ]);
  expect([(await call(`${url}/api/v1/runs`)).status, requests]).toEqual([401, 1]);
});

test('access: tokens that may not read do not sign in, and guesses are bounded', async () => {
  let refused = 0;
  const url = await listening({ onSignInRefused: () => void refused++ });
  const guess = (token: string) => call(`${url}/api/v1/session`, { method: 'POST', body: { token } });
  expect(await guess(tokens[3].value)).toMatchObject({ status: 401, body: { error: { code: 'unknown_token' } } });
  for (let at = 1; at < attemptsMax.ofAddress; at++) expect((await guess(`guess ${at}`)).status).toBe(401);
  expect(await guess('one more')).toMatchObject({ status: 429, body: { error: { code: 'too_many' } } });
  // The right token waits as well: otherwise the answer would confirm a right guess.
  expect((await guess(tokens[0].value)).status).toBe(429);
  expect(refused).toBe(attemptsMax.ofAddress + 2);
});

test('access: pages of other sites and foreign names get nothing, with or without the cookie', async () => {
  const url = await listening({
    hosts: hostRule({ listensOn: '127.0.0.1', isOpen: true, allowedHosts: [], allowedOrigins: [], loopbackOnly: true }),
  });
  const { cookie, forgery } = await signedIn(url, tokens[2].value);
  const mine = { cookie, 'x-anti-forgery': forgery };
  const status = (headers: Record<string, string>, method = 'GET', path = '/api/v1/runs'): Promise<number> =>
    new Promise((resolve, reject) => {
      const { port } = new URL(url);
      request({ host: '127.0.0.1', port, path, method, headers: { ...mine, ...headers } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode ?? 0);
      })
        .on('error', reject)
        .end();
    });
  expect(await status({})).toBe(200);
  expect(await status({ host: 'localhost' })).toBe(200);
  expect(await status({ host: 'rebound.example' })).toBe(403);
  expect(await status({ host: 'rebound.example' }, 'GET', '/')).toBe(403);
  expect(await status({ origin: 'https://evil.example' }, 'DELETE', '/api/v1/session')).toBe(403);
  expect(await status({ 'sec-fetch-site': 'cross-site' }, 'DELETE', '/api/v1/session')).toBe(403);
  expect(await status({ 'sec-fetch-site': 'same-site' }, 'DELETE', '/api/v1/session')).toBe(403);
  expect(await status({ 'sec-fetch-site': 'same-origin' }, 'DELETE', '/api/v1/session')).toBe(200);
});
