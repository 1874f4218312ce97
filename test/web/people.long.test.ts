/** Sign-in with OpenID Connect against a small issuer, as a browser goes through it. */
import { afterEach, expect, test } from 'vitest';
import type { ConsoleListener } from '../../src/web/console.ts';
import { type AllowedPeople, personOf } from '../../src/web/people.ts';
import { client, type Issuer, openIssuer } from '../builders/issuer.ts';
import { emptyApi, openConsole } from '../builders/console-listener.ts';

const open: Pick<ConsoleListener, 'stop'>[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((one) => one.stop()));
});

const ana = { email: 'Ana@example.org', email_verified: true };

async function listening(allowed: readonly AllowedPeople[], nowMs = (): number => 0) {
  const issuer = await openIssuer();
  issuer.claims = ana;
  const faults: string[] = [];
  const taken: string[] = [];
  const { url, listener } = await openConsole({
    people: {
      issuer: issuer.name,
      clientId: client.id,
      clientSecret: client.secret,
      allowed,
      fetch: (to, init) => fetch(issuer.reach(to), init as RequestInit),
    },
    nowMs,
    onFault: (error) => void faults.push(error.message),
    api: {
      ...(await emptyApi()),
      annotate: async (annotations) => {
        taken.push(...annotations.map(({ by, kind }) => `${by} (${kind})`));
        return annotations.map(() => ({ fate: 'waiting', id: undefined }));
      },
    },
  });
  open.push(listener, issuer);
  return { url, issuer, faults, taken };
}

/** A browser: it keeps cookies, and follows one redirect at a time. */
function browser(issuer: Pick<Issuer, 'reach'>) {
  const cookies = new Map<string, string>();
  return {
    cookies,
    async visit(url: string): Promise<{ readonly status: number; readonly to: string }> {
      const answer = await fetch(issuer.reach(url), {
        redirect: 'manual',
        headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      });
      for (const line of answer.headers.getSetCookie()) {
        const [name = '', value = ''] = (line.split(';')[0] ?? '').split('=');
        if (value === '') cookies.delete(name);
        else cookies.set(name, value);
      }
      return { status: answer.status, to: answer.headers.get('location') ?? '' };
    },
    header: (): string => [...cookies].map((pair) => pair.join('=')).join('; '),
  };
}

async function signIn({ url, issuer }: { readonly url: string; readonly issuer: Issuer }, visitor = browser(issuer)) {
  const { to: authorize } = await visitor.visit(`${url}/sign-in/start`);
  const { to: back } = await visitor.visit(authorize);
  const end = await visitor.visit(back);
  return { visitor, authorize, back, end };
}

async function sessionOf(url: string, cookie: string): Promise<{ readonly [key: string]: unknown }> {
  return (await (await fetch(`${url}/api/v1/session`, { headers: { cookie } })).json()) as { readonly [key: string]: unknown };
}

test('people: no one reads without a sign-in, and the console shows how to', async () => {
  const { url } = await listening([{ email: 'ana@example.org', may: ['read'] }]);
  expect((await fetch(`${url}/api/v1/runs`)).status).toBe(401);
  expect(await sessionOf(url, '')).toMatchObject({ sign_in_needed: true, ways: ['oidc'], rights: [] });
});

test('people: a person whom the configuration allows gets a session with PKCE, state and nonce', async () => {
  const { url, issuer, faults } = await listening([{ email: '*@example.org', may: ['read', 'annotate'] }]);
  const { visitor, end } = await signIn({ url, issuer });
  expect([end, faults]).toEqual([{ status: 302, to: '/' }, []]);
  const [asked] = issuer.asked;
  expect(Object.fromEntries(asked ?? [])).toMatchObject({
    response_type: 'code',
    code_challenge_method: 'S256',
    redirect_uri: `${url}/sign-in/callback`,
    state: expect.stringMatching(/.{20}/),
    nonce: expect.stringMatching(/.{20}/),
  });
  expect([...visitor.cookies.keys()]).toEqual(['tracejury_0']);
  expect(await sessionOf(url, visitor.header())).toMatchObject({ name: 'ana@example.org', rights: ['read', 'annotate'] });
  expect((await fetch(`${url}/api/v1/runs`, { headers: { cookie: visitor.header() } })).status).toBe(200);
});

test('people: the annotation has the name of the person, under any name in the request', async () => {
  const { url, issuer, taken } = await listening([{ subject: 'person-1', may: ['read', 'annotate'] }]);
  const { visitor } = await signIn({ url, issuer });
  const cookie = visitor.header();
  const { anti_forgery: forgery } = await sessionOf(url, cookie);
  const answer = await fetch(`${url}/api/v1/annotations`, {
    method: 'POST',
    headers: { cookie, 'x-anti-forgery': String(forgery), 'content-type': 'application/json' },
    body: JSON.stringify({ annotations: [{ trace_id: 'a'.repeat(32), name: 'n', by: 'somebody else', kind: 'evaluator', passed: true }] }),
  });
  expect([answer.status, taken]).toEqual([200, ['ana@example.org (human)']]);
});

test.each([
  { name: 'whom no entry names', claims: { email: 'eve@example.com', email_verified: true } },
  { name: 'whose address the issuer has not verified', claims: { email: 'ana@example.org' } },
  { name: 'whose address only ends alike', claims: { email: 'eve@evil-example.org', email_verified: true } },
])('people: a person $name gets no session', async ({ claims }) => {
  const { url, issuer } = await listening([{ email: '*@example.org', may: ['read'] }]);
  issuer.claims = claims;
  const { visitor, end } = await signIn({ url, issuer });
  expect([end.to, [...visitor.cookies.keys()]]).toEqual(['/sign-in?refused=not_allowed', []]);
});

test.each([
  { name: 'of another issuer', forge: { iss: 'https://evil.example' } },
  { name: 'for another client', forge: { aud: 'other' } },
  { name: 'with another nonce', forge: { nonce: 'other' } },
  { name: 'that has expired', forge: { exp: 1 } },
])('people: an ID token $name does not sign in', async ({ forge }) => {
  const { url, issuer, faults } = await listening([{ email: 'ana@example.org', may: ['read'] }]);
  issuer.forge = (claims) => ({ ...claims, ...forge });
  const { visitor, end } = await signIn({ url, issuer });
  expect([end.to, [...visitor.cookies.keys()], faults.length]).toEqual(['/sign-in?refused=failed', [], 1]);
});

test('people: an ID token that another key has signed does not sign in', async () => {
  const { url, issuer, faults } = await listening([{ email: 'ana@example.org', may: ['read'] }]);
  issuer.isForeignKey = true;
  const { visitor, end } = await signIn({ url, issuer });
  expect([end.to, [...visitor.cookies.keys()], faults.length]).toEqual(['/sign-in?refused=failed', [], 1]);
});

test('people: sign-ins that begin together share one request to the issuer, and a flood of them ends no other', async () => {
  const { url, issuer } = await listening([{ email: 'ana@example.org', may: ['read'] }]);
  const visitor = browser(issuer);
  const flood = (times: number) =>
    Array.from({ length: times }, async () => (await fetch(`${url}/sign-in/start`, { redirect: 'manual' })).status);
  const [{ to: authorize }] = await Promise.all([visitor.visit(`${url}/sign-in/start`), ...flood(20)]);
  await Promise.all(flood(1_100));
  const { to: back } = await visitor.visit(authorize);
  expect([(await visitor.visit(back)).to, issuer.descriptions]).toEqual(['/', 1]);
});

test('people: the way back works once, in the browser that began, in time', async () => {
  const clock = { nowMs: 0 };
  const { url, issuer } = await listening([{ email: 'ana@example.org', may: ['read'] }], () => clock.nowMs);
  const { visitor, back } = await signIn({ url, issuer });
  expect((await visitor.visit(back)).to).toBe('/sign-in?refused=expired');
  const victim = browser(issuer);
  const attacker = browser(issuer);
  const { to: authorize } = await attacker.visit(`${url}/sign-in/start`);
  const { to: stolen } = await attacker.visit(authorize);
  expect((await victim.visit(stolen)).to).toBe('/sign-in?refused=expired');
  const late = browser(issuer);
  const { to } = await late.visit(`${url}/sign-in/start`);
  const { to: lateBack } = await late.visit(to);
  clock.nowMs = 10 * 60_000;
  expect((await late.visit(lateBack)).to).toBe('/sign-in?refused=expired');
});

test('people: a state of another sign-in is refused', async () => {
  const { url, issuer, faults } = await listening([{ email: 'ana@example.org', may: ['read'] }]);
  const visitor = browser(issuer);
  const { to: authorize } = await visitor.visit(`${url}/sign-in/start`);
  const { to: back } = await visitor.visit(authorize);
  const changed = new URL(back);
  changed.searchParams.set('state', 'other');
  expect((await visitor.visit(changed.href)).to).toBe('/sign-in?refused=failed');
  expect(faults).toHaveLength(1);
});

test('people: an issuer that does not answer costs the sign-in, and the next one tries again', async () => {
  const { url, issuer, faults } = await listening([{ email: 'ana@example.org', may: ['read'] }]);
  await issuer.stop();
  expect((await browser(issuer).visit(`${url}/sign-in/start`)).to).toBe('/sign-in?refused=failed');
  expect(faults[0]).toContain('cannot be reached');
});

test.each([
  {
    name: 'rights of several entries add up',
    claims: ana,
    allowed: [
      { email: '*@example.org', may: ['read'] },
      { email: 'ana@example.org', may: ['operate'] },
    ],
    want: ['read', 'operate'],
  },
  {
    name: 'a right without read does not sign in',
    claims: ana,
    allowed: [{ email: 'ana@example.org', may: ['operate'] }],
    want: undefined,
  },
  { name: 'a subject is taken unchanged', claims: { sub: 'Person' }, allowed: [{ subject: 'person', may: ['read'] }], want: undefined },
] as const)('people: $name', ({ claims, allowed, want }) => {
  expect(personOf({ sub: 's', iss: 'i', aud: 'a', iat: 0, exp: 0, ...claims }, allowed)?.rights).toEqual(want);
});
