/**
 * Sessions of browsers: who signed in, until when. They live in memory, so a start of the service ends all of them; or in a store, so that each
 * process on it knows them.
 */
import { createHash } from 'node:crypto';
import type { Tenant } from '../model/ids.ts';
import { jsonText } from '../model/json.ts';
import { recentMap } from '../model/recent-map.ts';
import type { SignInStore } from '../model/store/sign-in-store.ts';
import { oldestOfLargest } from '../model/shares.ts';
import type { Right } from './api/route.ts';

/** The signed-in caller: a token by its name, or a person. */
export interface SessionHolder {
  readonly name: string;
  readonly isPerson: boolean;
  readonly rights: readonly Right[];
  /** The only tenant that it sees; `undefined`: all. */
  readonly tenant: Tenant | undefined;
}

export interface Session extends SessionHolder {
  /** Secret that a change must carry beside the cookie. A page of another site cannot read it. */
  readonly antiForgery: string;
  readonly expiresAtMs: number;
}

export interface SessionTable {
  /** `cookie` is the value for the browser; the table keeps only its hash. */
  begin(holder: SessionHolder): Promise<{ readonly cookie: string; readonly session: Session }>;
  /** `undefined` for an unknown value and an expired session. */
  of(cookie: string): Promise<Session | undefined>;
  end(cookie: string): Promise<void>;
}

export const sessionMs = 12 * 3_600_000;
/** At the bound the holder with the most sessions loses its oldest one. */
export const sessionsMax = 1_000;

export function sessionTable({ nowMs, secret }: { readonly nowMs: () => number; readonly secret: () => string }): SessionTable {
  const sessions = new Map<string, Session>();

  function makeRoom(): void {
    // Sessions last equally long, so they expire in the order of the map.
    for (const [key, { expiresAtMs }] of sessions) {
      if (expiresAtMs > nowMs()) break;
      sessions.delete(key);
    }
    if (sessions.size < sessionsMax) return;
    const oldest = oldestOfLargest(sessions, ([, { name, isPerson }]) => `${isPerson} ${name}`);
    if (oldest !== undefined) sessions.delete(oldest[0]);
  }

  return {
    async begin(holder) {
      makeRoom();
      const cookie = secret();
      const session = { ...holder, antiForgery: secret(), expiresAtMs: nowMs() + sessionMs };
      sessions.set(hash(cookie), session);
      return { cookie, session };
    },
    async of(cookie) {
      const session = sessions.get(hash(cookie));
      return session !== undefined && session.expiresAtMs > nowMs() ? session : undefined;
    },
    async end(cookie) {
      sessions.delete(hash(cookie));
    },
  };
}

interface SharedSessionOptions {
  readonly store: Pick<SignInStore, 'begin' | 'find' | 'end'>;
  readonly nowMs: () => number;
  readonly secret: () => string;
  /** The accounts that may sign in, as a text. A session is unknown to a process where others may: a change ends all sessions. */
  readonly allowed: string;
}

/** The same for several processes. */
export function sharedSessionTable({ store, nowMs, secret, allowed }: SharedSessionOptions): SessionTable {
  const hashOf = (cookie: string): string => hash(`${hash(allowed)} ${cookie}`);
  const now = (): number => Math.floor(nowMs() * 1_000);
  return {
    async begin(holder) {
      const cookie = secret();
      const session = { ...holder, antiForgery: secret(), expiresAtMs: nowMs() + sessionMs };
      const { name, isPerson, rights, tenant = null } = holder;
      await store.begin(
        {
          hash: hashOf(cookie),
          holder: jsonText({ name, isPerson, rights: [...rights], tenant }),
          antiForgery: session.antiForgery,
          expiresAt: Math.floor(session.expiresAtMs * 1_000),
        },
        { now: now(), sessionsMax },
      );
      return { cookie, session };
    },
    async of(cookie) {
      const found = cookie === '' ? undefined : await store.find(hashOf(cookie), now());
      if (found === undefined) return undefined;
      // As `begin` has written it.
      const { tenant, ...holder } = JSON.parse(found.holder) as Omit<SessionHolder, 'tenant'> & { readonly tenant: Tenant | null };
      return { ...holder, tenant: tenant ?? undefined, antiForgery: found.antiForgery, expiresAtMs: found.expiresAt / 1_000 };
    },
    end: async (cookie) => (cookie === '' ? undefined : await store.end(hashOf(cookie))),
  };
}

/** The table finds a session by the hash of its value, so the duration of the search reveals nothing of other values. */
function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64');
}

export interface AttemptLimiter {
  /** False when the machine has failed too often within the last minute. */
  allows(address: string): boolean;
  failed(address: string): void;
}

/**
 * Failed sign-ins of one machine, and of all machines, within a minute. Beyond the number of all, each machine has one attempt, so that guesses stay few
 * and no sender of them keeps others out.
 */
export const attemptsMax = { ofAddress: 10, ofAll: 200 } as const;
const minuteMs = 60_000;
const addressesMax = 2_000;

/** Bounds guesses. Whole minutes count from the first failure. */
export function attemptLimiter(nowMs: () => number): AttemptLimiter {
  const byAddress = recentMap<string, { readonly sinceMs: number; readonly count: number }>(addressesMax);
  let all = { sinceMs: 0, count: 0 };
  const current = (one: { readonly sinceMs: number; readonly count: number } | undefined) =>
    one !== undefined && nowMs() - one.sinceMs < minuteMs ? one : { sinceMs: nowMs(), count: 0 };
  const more = (one: { readonly sinceMs: number; readonly count: number }) => ({ ...one, count: one.count + 1 });
  return {
    allows: (address) => current(byAddress.get(address)).count < (current(all).count < attemptsMax.ofAll ? attemptsMax.ofAddress : 1),
    failed(address) {
      byAddress.set(address, more(current(byAddress.get(address))));
      all = more(current(all));
    },
  };
}
