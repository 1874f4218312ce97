import { describe, expect, test } from 'vitest';
import { tenant } from '../../src/model/ids.ts';
import { attemptLimiter, attemptsMax, sessionMs, sessionsMax, sessionTable, sharedSessionTable } from '../../src/web/browser-sessions.ts';
import { memoryStore } from '../builders/memory-store.ts';

const ana = { name: 'ana', isPerson: false, rights: ['read'], tenant: undefined } as const;

const allowed = 'tokens';
const secrets = (): (() => string) => {
  let last = 0;
  return () => `secret-${last++}`;
};

const tables = {
  'in memory': async (nowMs: () => number) => sessionTable({ nowMs, secret: secrets() }),
  'in a store': async (nowMs: () => number) =>
    sharedSessionTable({ store: (await memoryStore()).signIns, nowMs, secret: secrets(), allowed }),
} as const;

describe.each(Object.entries(tables))('%s', (_name, made) => {
  async function table() {
    const clock = { nowMs: 0 };
    return { clock, sessions: await made(() => clock.nowMs) };
  }

  test('sessions: a session is found only by its cookie until it ends', async () => {
    const { sessions, clock } = await table();
    const { cookie, session } = await sessions.begin(ana);
    expect(session).toMatchObject({ ...ana, expiresAtMs: sessionMs });
    expect(cookie).not.toBe(session.antiForgery);
    expect(await sessions.of(cookie)).toEqual(session);
    expect(await sessions.of(session.antiForgery)).toBeUndefined();
    expect(await sessions.of('')).toBeUndefined();
    clock.nowMs = sessionMs - 1;
    expect(await sessions.of(cookie)).toEqual(session);
    clock.nowMs = sessionMs;
    expect(await sessions.of(cookie)).toBeUndefined();
  });

  test('sessions: a sign-out ends one session', async () => {
    const { sessions } = await table();
    const [one, other] = [await sessions.begin(ana), await sessions.begin(ana)];
    await sessions.end(one.cookie);
    await sessions.end('');
    expect([await sessions.of(one.cookie), await sessions.of(other.cookie)]).toEqual([undefined, other.session]);
  });

  test('sessions: at the bound the holder with the most sessions loses the oldest, and others keep theirs', async () => {
    const { sessions, clock } = await table();
    const first = (await sessions.begin({ ...ana, name: 'ben' })).cookie;
    const cookies: string[] = [];
    for (let at = 0; at < sessionsMax + 2; at++) {
      clock.nowMs++;
      cookies.push((await sessions.begin(ana)).cookie);
    }
    expect(await sessions.of(first)).toMatchObject({ name: 'ben' });
    const left: string[] = [];
    for (const cookie of cookies) if ((await sessions.of(cookie)) !== undefined) left.push(cookie);
    expect(left).toEqual(cookies.slice(3));
  });
});

test('sessions in a store: each process on it knows them, unless others may sign in there', async () => {
  const { signIns: store } = await memoryStore();
  const secret = secrets();
  const process = (allowedThere: string) => sharedSessionTable({ store, nowMs: () => 0, secret, allowed: allowedThere });
  const [one, same, other] = [process(allowed), process(allowed), process('other tokens')];
  const { cookie, session } = await one.begin({ ...ana, tenant: tenant('team') });
  expect([await same.of(cookie), await other.of(cookie)]).toEqual([session, undefined]);
  await other.end(cookie);
  expect(await one.of(cookie)).toEqual(session);
  await same.end(cookie);
  expect(await one.of(cookie)).toBeUndefined();
});

test('sessions in a store: the first secret that a process gives is that of all', async () => {
  const { signIns } = await memoryStore();
  expect(await Promise.all(['a', 'b', 'c'].map((fresh) => signIns.secret('sign-in', fresh)))).toEqual(['a', 'a', 'a']);
  expect(await signIns.secret('other', 'd')).toBe('d');
});

test('sign-ins: an address that fails too often waits for a minute, others do not', () => {
  let nowMs = 1_000_000;
  const attempts = attemptLimiter(() => nowMs);
  for (let at = 0; at < attemptsMax.ofAddress; at++) {
    expect(attempts.allows('192.0.2.1')).toBe(true);
    attempts.failed('192.0.2.1');
  }
  expect([attempts.allows('192.0.2.1'), attempts.allows('192.0.2.2')]).toEqual([false, true]);
  nowMs += 60_000;
  expect(attempts.allows('192.0.2.1')).toBe(true);
});

test('sign-ins: when many addresses fail, each has one attempt, and an address that has not failed is not kept out', () => {
  const attempts = attemptLimiter(() => 1_000_000);
  for (let at = 0; at < attemptsMax.ofAll; at++) attempts.failed(`192.0.2.${at}`);
  expect([attempts.allows('192.0.2.1'), attempts.allows('198.51.100.1')]).toEqual([false, true]);
  attempts.failed('198.51.100.1');
  expect(attempts.allows('198.51.100.1')).toBe(false);
});
