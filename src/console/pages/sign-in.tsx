/** Sign-in with a token of the configuration, or with OpenID Connect. The token becomes a cookie that no script can read. */
import { useState } from 'preact/hooks';
import type { ApiFailure } from '../api/client.ts';
import { failureOf } from '../api/use-api.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { PageFrame } from '../parts/page-frame.tsx';
import { needsSignIn, useSession } from '../parts/session.tsx';
import { useAddress } from '../parts/use-address.ts';

export function SignIn() {
  const session = useSession();
  const { path, query, go } = useAddress();
  const [error, setError] = useState<ApiFailure>();
  const [isBusy, setBusy] = useState(false);
  const { value } = session;
  if (value === undefined) return null;
  if (value.ways.length === 0)
    return (
      <PageFrame title="Sign in">
        <EmptyState title="No sign-in is needed">
          <p>
            The service has no tokens, so everybody who reaches the console may use it. <a href="/">Go to the overview.</a>
          </p>
        </EmptyState>
      </PageFrame>
    );
  const refused = query['refused'];
  return (
    <PageFrame title="Sign in">
      {needsSignIn(session) ? null : (
        <p>
          You are signed in as {value.name}. <a href="/">Go to the overview.</a>
        </p>
      )}
      {refused === undefined ? null : (
        <ErrorBox error={{ code: 'sign_in', message: 'The sign-in did not succeed.', todo: refusedText(refused) }} />
      )}
      {error === undefined ? null : <ErrorBox error={error} />}
      {value.ways.includes('oidc') ? (
        <p>
          <a class="button primary" href="/sign-in/start">
            Sign in with your organisation
          </a>
        </p>
      ) : null}
      {value.ways.includes('token') ? (
        <form
          class="stack sign-in"
          onSubmit={(event) => {
            event.preventDefault();
            const token = new FormData(event.currentTarget).get('token');
            setBusy(true);
            setError(undefined);
            session
              .signIn(typeof token === 'string' ? token.trim() : '')
              .then(() => {
                if (path === '/sign-in') go('/');
              })
              .catch((fault: unknown) => setError(failureOf(fault)))
              .finally(() => setBusy(false));
          }}
        >
          <label class="stack">
            Token
            <input name="token" type="password" autocomplete="current-password" required maxLength={4_096} />
          </label>
          <p class="small dim">
            A token of <code>listen.tokens</code> that may <code>read</code>. The browser keeps a cookie for 12 hours, which no script can
            read.
          </p>
          <p>
            <button type="submit" class="primary" disabled={isBusy}>
              Sign in
            </button>
          </p>
        </form>
      ) : null}
    </PageFrame>
  );
}

/** The address names the reason by a word, so that no foreign text comes into the page. */
function refusedText(word: string): string {
  if (word === 'not_allowed') return 'The configuration does not list you in listen.oidc.allowed. Ask who runs the service.';
  if (word === 'expired') return 'It took too long. Begin again.';
  return 'The issuer refused it, or it was begun in another browser. Begin again; the log of the service has the reason.';
}
