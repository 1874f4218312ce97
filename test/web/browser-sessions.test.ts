import { expect, test } from 'vitest';
import { attemptLimiter, attemptsMax, sessionMs, sessionsMax, sessionTable } from '../../src/web/browser-sessions.ts';

const ana = { name: 'ana', isPerson: false, rights: ['read'], tenant: undefined } as const;

function table() {
  const clock = { nowMs: 0 };
  let last = 0;
  return { clock, sessions: sessionTable({ nowMs: () => clock.nowMs, secret: () => `secret-${last++}` }) };
}

test('sessions: a session is found by its cookie alone until it ends', () => {
  const { sessions, clock } = table();
  const { cookie, session } = sessions.begin(ana);
  expect(session).toMatchObject({ ...ana, expiresAtMs: sessionMs });
  expect(cookie).not.toBe(session.antiForgery);
  expect(sessions.of(cookie)).toEqual(session);
  expect(sessions.of(session.antiForgery)).toBeUndefined();
  clock.nowMs = sessionMs - 1;
  expect(sessions.of(cookie)).toEqual(session);
  clock.nowMs = sessionMs;
  expect(sessions.of(cookie)).toBeUndefined();
});

test('sessions: a sign-out ends one session', () => {
  const { sessions } = table();
  const [one, other] = [sessions.begin(ana), sessions.begin(ana)];
  sessions.end(one.cookie);
  expect([sessions.of(one.cookie), sessions.of(other.cookie)]).toEqual([undefined, other.session]);
});

test('sessions: at the bound the oldest ends', () => {
  const { sessions } = table();
  const cookies = Array.from({ length: sessionsMax + 2 }, () => sessions.begin(ana).cookie);
  const left = cookies.filter((cookie) => sessions.of(cookie) !== undefined);
  expect(left).toEqual(cookies.slice(2));
});

test('sessions: at the bound the holder with the most sessions loses one, and others keep theirs', () => {
  const { sessions } = table();
  const first = sessions.begin({ ...ana, name: 'ben' }).cookie;
  for (let at = 0; at < sessionsMax + 2; at++) sessions.begin(ana);
  expect(sessions.of(first)).toMatchObject({ name: 'ben' });
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
