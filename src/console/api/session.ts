/** The session of the browser, as pages see it. */
import type { ApiFailure, GetAnswer } from './client.ts';

export type SessionAnswer = GetAnswer<'/session'>;
export type Right = SessionAnswer['rights'][number];

export interface SessionState {
  /** `undefined` until the service has answered. */
  readonly value: SessionAnswer | undefined;
  readonly error: ApiFailure | undefined;
  readonly reload: () => void;
  /** Throws `ApiFailure`. */
  readonly signIn: (token: string) => Promise<void>;
  readonly signOut: () => Promise<void>;
}
