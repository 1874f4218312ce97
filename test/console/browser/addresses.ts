/** The addresses of all pages over a filled store. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface PageAddress {
  readonly name: string;
  readonly path: string;
}

export interface RunAddress {
  readonly trace: string;
  readonly span: string;
}

/** The content of the pages of single things. */
export interface Places {
  readonly run: RunAddress;
  readonly agent: string;
  readonly session: string;
  /** Id of an issue. */
  readonly issue: string;
  readonly dataset?: string;
  /** Ids, the newer one first. */
  readonly experiments?: readonly [string, string];
  readonly queue?: string;
}

/** Paths of the table of pages, with parameters as `:name`. */
function registeredPaths(): readonly string[] {
  const table = readFileSync(join(import.meta.dirname, '../../../src/console/pages.ts'), 'utf8');
  return [...table.matchAll(/\bpath: '([^']+)'/g)].map(([, path = '']) => path);
}

/** Pages of the table that no test opens. */
export function untestedPaths(places: Places): readonly string[] {
  const addresses = allAddresses(places);
  return registeredPaths().filter((registered) => !addresses.some(({ path }) => fits(path, registered)));
}

export function pageAddresses(places: Places): readonly PageAddress[] {
  return allAddresses(places).filter(({ path }) => isRegistered(path));
}

export function isRegistered(path: string): boolean {
  return registeredPaths().some((one) => fits(path, one));
}

function fits(path: string, registered: string): boolean {
  const [parts, wanted] = [path.replace(/\?.*/, '').split('/'), registered.split('/')];
  return parts.length === wanted.length && wanted.every((want, at) => want.startsWith(':') || want === parts[at]);
}

function allAddresses({ run, agent, session, issue, dataset, experiments, queue }: Places): readonly PageAddress[] {
  return [
    { name: 'overview', path: '/' },
    { name: 'runs', path: '/runs' },
    { name: 'run', path: runPath(run) },
    { name: 'sessions', path: '/sessions' },
    { name: 'session', path: `/sessions/${encodeURIComponent(session)}` },
    { name: 'issues', path: '/issues' },
    { name: 'issue', path: `/issues/${issue}` },
    { name: 'tools', path: '/tools' },
    { name: 'evaluators', path: '/evaluators' },
    { name: 'judges', path: '/judges' },
    { name: 'alerts', path: '/alerts' },
    { name: 'queues', path: '/queues' },
    ...(queue === undefined ? [] : [{ name: 'queue', path: `/queues/${encodeURIComponent(queue)}` }]),
    { name: 'datasets', path: '/datasets' },
    ...(dataset === undefined ? [] : [{ name: 'dataset', path: `/datasets/${encodeURIComponent(dataset)}` }]),
    { name: 'experiments', path: '/experiments' },
    ...(experiments === undefined
      ? []
      : [
          { name: 'experiment', path: `/experiments/${experiments[0]}` },
          { name: 'comparison', path: `/experiments/compare?a=${experiments[1]}&b=${experiments[0]}` },
        ]),
    { name: 'agents', path: '/agents' },
    { name: 'agent', path: `/agents/${encodeURIComponent(agent)}` },
    { name: 'settings', path: '/settings' },
    { name: 'sign-in', path: '/sign-in' },
  ];
}

export function runPath({ trace, span }: RunAddress): string {
  return `/runs/${trace}/${span}`;
}
