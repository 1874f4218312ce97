/** The signed-in person, and their rights. */
import { useCallback, useContext, useEffect, useState } from 'preact/hooks';
import type { ApiClient, ApiFailure } from '../api/client.ts';
import type { Right, SessionAnswer, SessionState } from '../api/session.ts';
import { failureOf } from '../api/use-api.ts';
import { AppContext } from './app-context.ts';

export function useSession(): SessionState {
  return useContext(AppContext).session;
}

/** True when the caller has the right, so a page shows controls that need it. */
export function useMay(right: Right): boolean {
  return useSession().value?.rights.includes(right) === true;
}

/** The name under which labels of this browser stand. */
export function useOwnName(): string {
  return useSession().value?.name ?? 'console';
}

export function useSessionState(api: ApiClient, onAnswer: (answer: SessionAnswer) => void): SessionState {
  const [value, setValue] = useState<SessionAnswer>();
  const [error, setError] = useState<ApiFailure>();
  const [turn, setTurn] = useState(0);
  const reload = useCallback(() => setTurn((one) => one + 1), []);
  const set = useCallback(
    (answer: SessionAnswer) => {
      onAnswer(answer);
      setError(undefined);
      setValue(answer);
    },
    [onAnswer],
  );
  useEffect(() => {
    const abort = new AbortController();
    api.get('/session', {}, abort.signal).then(set, (fault: unknown) => {
      if (!abort.signal.aborted) setError(failureOf(fault));
    });
    return () => abort.abort();
  }, [api, set, turn]);
  const signIn = useCallback(async (token: string) => set(await api.send('POST /session', { body: { token } })), [api, set]);
  const signOut = useCallback(async () => {
    await api.send('DELETE /session', {});
    reload();
  }, [api, reload]);
  return { value, error, reload, signIn, signOut };
}

/** True when nothing can be read before a sign-in. */
export function needsSignIn({ value }: SessionState): boolean {
  return value !== undefined && !value.rights.includes('read');
}

const rightWords: { readonly [right in Right]: string } = { read: 'read', annotate: 'annotate', operate: 'operate' };

/** In the head of every page. */
export function SessionBadge() {
  const { value, signOut } = useSession();
  const { toast } = useContext(AppContext);
  if (value === undefined || value.name === null) return null;
  const held = value.rights.map((right) => rightWords[right]).join(', ');
  return (
    <span class="row small">
      <span title={`May ${held}`}>
        {value.name} <span class="dim">({held})</span>
      </span>
      {value.anti_forgery === null ? null : (
        <button
          type="button"
          onClick={() => {
            signOut().catch((error: unknown) => toast(failureOf(error).message, 'failed'));
          }}
        >
          Sign out
        </button>
      )}
    </span>
  );
}
