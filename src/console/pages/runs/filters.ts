/** The filters of runs, in the address and in the query of the API. */
import type { Gets, Schemas } from '../../api/client.ts';
import { pageAddress, type Query } from '../../parts/address.ts';
import type { Filter } from '../../parts/filter.ts';

export type Run = Schemas['Run'];
export type RunsQuery = Gets['/runs']['query'];

const verdictTitles = [
  ['pass', 'passed'],
  ['fail', 'failed'],
  ['raw', 'scored, no threshold'],
  ['skipped', 'skipped'],
  ['error', 'error of the evaluator'],
] as const;

export const runFilters: readonly Filter[] = [
  { name: 'text', title: 'Words in input or answer', kind: 'search' },
  { name: 'agent', title: 'Agent', kind: 'text' },
  { name: 'service', title: 'Service', kind: 'text', isMore: true },
  { name: 'version', title: 'Version', kind: 'text' },
  { name: 'model', title: 'Model', kind: 'text', isMore: true },
  { name: 'session', title: 'Session', kind: 'text' },
  { name: 'user', title: 'User', kind: 'text', isMore: true },
  { name: 'environment', title: 'Environment', kind: 'text', isMore: true },
  { name: 'issue', title: 'Issue', kind: 'text', isMore: true },
  { name: 'tool', title: 'Tool', kind: 'text', isMore: true },
  {
    name: 'status',
    title: 'Status',
    kind: 'choice',
    options: [
      { value: 'error', title: 'ended in an error' },
      { value: 'paused', title: 'paused' },
      { value: 'ok', title: 'ok' },
    ],
  },
  { name: 'evaluator', title: 'Evaluator', kind: 'text' },
  { name: 'verdict', title: 'Verdict', kind: 'choice', options: verdictTitles.map(([value, title]) => ({ value, title })) },
  { name: 'label', title: 'Label', kind: 'text', placeholder: 'name=value', isMore: true },
  {
    name: 'annotated',
    title: 'Annotated',
    kind: 'choice',
    isMore: true,
    options: [
      { value: 'true', title: 'yes' },
      { value: 'false', title: 'no' },
    ],
  },
  { name: 'min_duration', title: 'Seconds at least', kind: 'number', isMore: true },
  { name: 'max_duration', title: 'Seconds at most', kind: 'number', isMore: true },
  { name: 'min_cost', title: 'US dollars at least', kind: 'number', isMore: true },
  { name: 'max_cost', title: 'US dollars at most', kind: 'number', isMore: true },
];

/** Parameters that an address of runs may have beside its time. */
export const runParameters: readonly string[] = [...runFilters.map(({ name }) => name), 'prompt', 'trace', 'tenant'];

const numbers: ReadonlySet<string> = new Set(runFilters.filter(({ kind }) => kind === 'number').map(({ name }) => name));

/** The query of the API: what the address has of filters, within a time. Numbers that are none are left out. */
export function runsQuery(query: Query, time: { readonly from: string; readonly to: string | undefined }): RunsQuery {
  const given = runParameters.flatMap((name): readonly (readonly [string, string | number])[] => {
    const value = query[name];
    if (value === undefined || value === '') return [];
    if (!numbers.has(name)) return [[name, value]];
    const number = Number(value);
    return Number.isFinite(number) && number >= 0 ? [[name, number]] : [];
  });
  return { ...Object.fromEntries(given), from: time.from, ...(time.to === undefined ? {} : { to: time.to }) };
}

export function runKey({ tenant, trace_id: trace, span_id: span }: Pick<Run, 'tenant' | 'trace_id' | 'span_id'>): string {
  return `${tenant}/${trace}/${span}`;
}

export function runAddress({ tenant, trace_id: trace, span_id: span }: Pick<Run, 'tenant' | 'trace_id' | 'span_id'>): string {
  return pageAddress(`/runs/${trace}/${span}`, { tenant });
}
