/** The addresses of all pages. A page without an entry here is opened by no test. */

export interface PageAddress {
  readonly name: string;
  readonly path: string;
}

export interface RunAddress {
  readonly trace: string;
  readonly span: string;
}

/** What the pages of single things show. */
export interface Places {
  readonly run: RunAddress;
  readonly agent: string;
  readonly session: string;
  readonly dataset?: string;
}

export function pageAddresses({ run, agent, session, dataset }: Places): readonly PageAddress[] {
  return [
    { name: 'overview', path: '/' },
    { name: 'runs', path: '/runs' },
    { name: 'run', path: runPath(run) },
    { name: 'sessions', path: '/sessions' },
    { name: 'session', path: `/sessions/${encodeURIComponent(session)}` },
    { name: 'tools', path: '/tools' },
    { name: 'evaluators', path: '/evaluators' },
    { name: 'judges', path: '/judges' },
    { name: 'queues', path: '/queues' },
    { name: 'datasets', path: '/datasets' },
    ...(dataset === undefined ? [] : [{ name: 'dataset', path: `/datasets/${encodeURIComponent(dataset)}` }]),
    { name: 'experiments', path: '/experiments' },
    { name: 'agents', path: '/agents' },
    { name: 'agent', path: `/agents/${encodeURIComponent(agent)}` },
    { name: 'settings', path: '/settings' },
  ];
}

export function runPath({ trace, span }: RunAddress): string {
  return `/runs/${trace}/${span}`;
}
