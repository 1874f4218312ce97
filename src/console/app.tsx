/** The console: what all pages share, and the page of the address. */
import type { ComponentType } from 'preact';
import { LocationProvider } from 'preact-iso';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type ApiClient, apiClient } from './api/client.ts';
import type { SessionAnswer } from './api/session.ts';
import { failureOf } from './api/use-api.ts';
import { type Page, pages } from './pages.ts';
import { AppContext } from './parts/app-context.ts';
import { EmptyState } from './parts/empty-state.tsx';
import { ErrorBoundary, ErrorBox } from './parts/error-box.tsx';
import { keyRegistry } from './parts/key-registry.ts';
import { Layout } from './parts/layout.tsx';
import { PageFrame } from './parts/page-frame.tsx';
import { pageOf, type PageProps } from './parts/page-path.ts';
import { needsSignIn, SessionBadge, useSession, useSessionState } from './parts/session.tsx';
import { Toasts, useToastList } from './parts/toast.tsx';
import { unsavedForms } from './parts/unsaved-forms.ts';
import { useAddress } from './parts/use-address.ts';

/** Addresses that the router leaves to the browser: files of the API, pages of the documentation and pages for programs. */
const pageLinks = /^\/(?!api\/|docs\/|sign-in\/|(?:metrics|plain|livez|readyz)$)/;

const signInPath = '/sign-in';

export function App() {
  const { toasts, add, remove } = useToastList();
  const forgery = useRef<string | undefined>(undefined);
  const signedOut = useRef<() => void>(() => undefined);
  const api = useMemo(
    (): ApiClient =>
      apiClient({
        fetch: (url, init) => fetch(url, init),
        antiForgery: () => forgery.current,
        onSignedOut: () => signedOut.current(),
      }),
    [],
  );
  const keep = useCallback((answer: SessionAnswer) => {
    forgery.current = answer.anti_forgery ?? undefined;
  }, []);
  const session = useSessionState(api, keep);
  signedOut.current = session.reload;
  const keys = useMemo(keyRegistry, []);
  const unsaved = useMemo(unsavedForms, []);
  const runList = useRef<readonly string[]>([]);
  const labelName = useRef<string | undefined>(undefined);
  const datasetName = useRef<string | undefined>(undefined);
  const parts = useMemo(
    () => ({ api, keys, session, runList, labelName, datasetName, unsaved, toast: add }),
    [api, keys, unsaved, session.value, session.error, add],
  );
  useEffect(() => {
    const warn = (event: BeforeUnloadEvent): void => {
      if (unsaved.size > 0) event.preventDefault();
    };
    addEventListener('beforeunload', warn);
    return () => removeEventListener('beforeunload', warn);
  }, [unsaved]);
  return (
    <LocationProvider scope={pageLinks}>
      <AppContext.Provider value={parts}>
        <Shell />
        <Toasts toasts={toasts} remove={remove} />
      </AppContext.Provider>
    </LocationProvider>
  );
}

function Shell() {
  const { path } = useAddress();
  const session = useSession();
  const isClosed = needsSignIn(session);
  // The address stays, so that the page is there after the sign-in.
  const found = pageOf(pages, isClosed ? signInPath : path);
  const title = found?.page.title ?? 'Not found';
  useEffect(() => {
    document.title = `${title} · tracejury`;
  }, [title]);
  return (
    <Layout
      session={<SessionBadge />}
      menu={isClosed ? [] : pages.filter(({ isInMenu }) => isInMenu === true)}
      hasTimeRange={found !== undefined && found.page.hasTimeRange !== false}
    >
      {session.error === undefined ? null : <ErrorBox error={session.error} onRetry={session.reload} />}
      {session.value === undefined ? null : found === undefined ? (
        <PageFrame title="Not found">
          <EmptyState title="There is no page at this address.">
            <p>
              The menu has all pages. <a href="/">Go to the overview.</a>
            </p>
          </EmptyState>
        </PageFrame>
      ) : (
        <ErrorBoundary key={found.page.path}>
          <LoadedPage page={found.page} params={found.params} />
        </ErrorBoundary>
      )}
    </Layout>
  );
}

type LoadState = { readonly of: Page; readonly component: ComponentType<PageProps> } | { readonly of: Page; readonly error: unknown };

/** The code of a page comes with the first visit. Until then the page before it stays. */
function LoadedPage({ page, params }: { readonly page: Page; readonly params: PageProps['params'] }) {
  const [state, setState] = useState<LoadState>();
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    let isGone = false;
    page.load().then(
      (component) => {
        if (!isGone) setState({ of: page, component });
      },
      (error: unknown) => {
        if (!isGone) setState({ of: page, error });
      },
    );
    return () => {
      isGone = true;
    };
  }, [page, turn]);
  if (state === undefined || state.of !== page) return null;
  if ('error' in state) return <ErrorBox error={failureOf(state.error)} onRetry={() => setTurn((one) => one + 1)} />;
  const Component = state.component;
  return <Component params={params} />;
}
