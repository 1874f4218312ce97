/** The pages of the console. A new page is one file and one line here. */
import type { ComponentType } from 'preact';
import type { PageProps } from './parts/page-path.ts';

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
  { path: '/', title: 'Overview', isInMenu: true, load: async () => (await import('./pages/overview.tsx')).Overview },
  { path: '/runs', title: 'Runs', isInMenu: true, load: async () => (await import('./pages/runs.tsx')).Runs },
  { path: '/agents', title: 'Agents', isInMenu: true, hasTimeRange: false, load: async () => (await import('./pages/agents.tsx')).Agents },
  { path: '/agents/:agent', title: 'Agent', hasTimeRange: false, load: async () => (await import('./pages/agent.tsx')).Agent },
  { path: '/tools', title: 'Tools', isInMenu: true, load: async () => (await import('./pages/tools.tsx')).Tools },
  { path: '/evaluators', title: 'Evaluators', isInMenu: true, load: async () => (await import('./pages/evaluators.tsx')).Evaluators },
  { path: '/judges', title: 'Judges', isInMenu: true, hasTimeRange: false, load: async () => (await import('./pages/judges.tsx')).Judges },
];
