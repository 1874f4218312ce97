/** The pages of the console. A new page is one file and one line here. */
import type { ComponentType } from 'preact';

/** What a page is given: the parts of its path that `path` names with a colon. */
export interface PageProps {
  readonly params: { readonly [name: string]: string };
}

export interface Page {
  /** With parameters as `:name`. The first page that matches is shown. */
  readonly path: string;
  /** Title of the window, and of the entry in the menu. */
  readonly title: string;
  /** True: stands in the menu. A page with nothing behind it does not. */
  readonly isInMenu?: boolean;
  /** False: the page has no time range. */
  readonly hasTimeRange?: boolean;
  /** Loaded when the page is opened. */
  readonly load: () => Promise<ComponentType<PageProps>>;
}

export const pages: readonly Page[] = [
  { path: '/', title: 'Runs', load: async () => (await import('./pages/runs.tsx')).Runs },
  { path: '/runs', title: 'Runs', isInMenu: true, load: async () => (await import('./pages/runs.tsx')).Runs },
  { path: '/sign-in', title: 'Sign in', hasTimeRange: false, load: async () => (await import('./pages/sign-in.tsx')).SignIn },
];
