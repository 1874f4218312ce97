/** The pages of the console. A new page is one file and one line here. */
import type { ComponentType } from 'preact';
import type { PageProps } from './parts/page-path.ts';

export interface Page {
  /** Path with parameters as `:name`. The first page that matches is shown. */
  readonly path: string;
  /** Title of the window, and of the entry in the menu. */
  readonly title: string;
  /** True when the page is in the menu, which leaves out pages without content. */
  readonly isInMenu?: boolean;
  /** False when the page has no time range. */
  readonly hasTimeRange?: boolean;
  /** Loaded when the page is opened. */
  readonly load: () => Promise<ComponentType<PageProps>>;
}

export const pages: readonly Page[] = [
  { path: '/', title: 'Overview', isInMenu: true, load: async () => (await import('./pages/overview.tsx')).Overview },
  { path: '/runs', title: 'Runs', isInMenu: true, load: async () => (await import('./pages/runs.tsx')).Runs },
  { path: '/runs/:trace/:span', title: 'Run', hasTimeRange: false, load: async () => (await import('./pages/run/run-page.tsx')).RunPage },
  {
    path: '/sessions',
    title: 'Sessions',
    isInMenu: true,
    load: async () => (await import('./pages/sessions/sessions-page.tsx')).SessionsPage,
  },
  {
    path: '/sessions/:id',
    title: 'Session',
    hasTimeRange: false,
    load: async () => (await import('./pages/sessions/session-page.tsx')).SessionPage,
  },
  {
    path: '/issues',
    title: 'Issues',
    isInMenu: true,
    hasTimeRange: false,
    load: async () => (await import('./pages/issues/issues-page.tsx')).IssuesPage,
  },
  {
    path: '/issues/:id',
    title: 'Issue',
    hasTimeRange: false,
    load: async () => (await import('./pages/issues/issue-page.tsx')).IssuePage,
  },
  { path: '/tools', title: 'Tools', isInMenu: true, load: async () => (await import('./pages/tools.tsx')).Tools },
  { path: '/evaluators', title: 'Evaluators', isInMenu: true, load: async () => (await import('./pages/evaluators.tsx')).Evaluators },
  { path: '/judges', title: 'Judges', isInMenu: true, hasTimeRange: false, load: async () => (await import('./pages/judges.tsx')).Judges },
  {
    path: '/alerts',
    title: 'Alerts',
    isInMenu: true,
    hasTimeRange: false,
    load: async () => (await import('./pages/alerts/alerts-page.tsx')).AlertsPage,
  },
  {
    path: '/queues',
    title: 'Queues',
    isInMenu: true,
    hasTimeRange: false,
    load: async () => (await import('./pages/queues.tsx')).Queues,
  },
  {
    path: '/queues/:name',
    title: 'Queue',
    hasTimeRange: false,
    load: async () => (await import('./pages/queue/queue-page.tsx')).QueuePage,
  },
  {
    path: '/datasets',
    title: 'Datasets',
    isInMenu: true,
    hasTimeRange: false,
    load: async () => (await import('./pages/datasets/dataset-list.tsx')).DatasetList,
  },
  {
    path: '/datasets/:name',
    title: 'Dataset',
    hasTimeRange: false,
    load: async () => (await import('./pages/datasets/dataset.tsx')).Dataset,
  },
  {
    path: '/experiments',
    title: 'Experiments',
    isInMenu: true,
    hasTimeRange: false,
    load: async () => (await import('./pages/experiments/experiment-list.tsx')).ExperimentList,
  },
  {
    path: '/experiments/compare',
    title: 'Compare experiments',
    hasTimeRange: false,
    load: async () => (await import('./pages/experiments/comparison.tsx')).ExperimentComparison,
  },
  {
    path: '/experiments/:id',
    title: 'Experiment',
    hasTimeRange: false,
    load: async () => (await import('./pages/experiments/experiment.tsx')).Experiment,
  },
  { path: '/agents', title: 'Agents', isInMenu: true, hasTimeRange: false, load: async () => (await import('./pages/agents.tsx')).Agents },
  { path: '/agents/:agent', title: 'Agent', hasTimeRange: false, load: async () => (await import('./pages/agent.tsx')).Agent },
  {
    path: '/settings',
    title: 'Settings',
    isInMenu: true,
    hasTimeRange: false,
    load: async () => (await import('./pages/settings.tsx')).Settings,
  },
  { path: '/sign-in', title: 'Sign in', hasTimeRange: false, load: async () => (await import('./pages/sign-in.tsx')).SignIn },
];
