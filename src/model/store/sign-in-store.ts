/** The part of a store that keeps who is signed in at a console, for all processes on it. */
import type { Micros } from '../timestamp.ts';

export interface StoredSession {
  /** Identifies it without the value of its cookie. */
  readonly hash: string;
  /** JSON of who signed in. */
  readonly holder: string;
  readonly antiForgery: string;
  readonly expiresAt: Micros;
}

export interface SignInStore {
  /** Adds a session and deletes expired ones. At `sessionsMax` the holder with the most sessions loses its oldest one. */
  begin(session: StoredSession, bounds: { readonly now: Micros; readonly sessionsMax: number }): Promise<void>;
  /** `undefined` for an unknown and an expired session. */
  find(hash: string, now: Micros): Promise<StoredSession | undefined>;
  end(hash: string): Promise<void>;
  /** The secret of that name that all processes have in common: the first one that a process has given. */
  secret(name: string, fresh: string): Promise<string>;
}
