/** Runs, newest first, with every filter in the address. */
import { type Schemas } from '../api/client.ts';
import { useList } from '../api/use-api.ts';
import { pageAddress } from '../parts/address.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { type Filter, FilterBar } from '../parts/filter-bar.tsx';
import { timeText, unknownText } from '../parts/format.ts';
import { Loading, PageFrame } from '../parts/page-frame.tsx';
import { useTimeRange } from '../parts/time-range-picker.tsx';
import { useAddress } from '../parts/use-address.ts';
import { worstFirst } from '../parts/verdict.ts';
import { VerdictChip } from '../parts/verdict-chip.tsx';

type Run = Schemas['Run'];

const filters: readonly Filter[] = [
  { name: 'agent', title: 'Agent', kind: 'text' },
  { name: 'service', title: 'Service', kind: 'text' },
  { name: 'version', title: 'Version', kind: 'text' },
  { name: 'session', title: 'Session', kind: 'text' },
  { name: 'model', title: 'Model', kind: 'text' },
  { name: 'evaluator', title: 'Evaluator', kind: 'text' },
  {
    name: 'verdict',
    title: 'Verdict',
    kind: 'choice',
    options: ['pass', 'fail', 'raw', 'skipped', 'error'].map((value) => ({ value, title: value })),
  },
];

const chipsMax = 4;

const columns: readonly Column<Run>[] = [
  { key: 'time', title: 'Time', cell: (run) => <a href={runAddress(run)}>{timeText(run.started_at)}</a> },
  { key: 'agent', title: 'Agent', cell: ({ agent }) => agent ?? unknownText },
  { key: 'version', title: 'Version', cell: ({ version }) => version ?? unknownText },
  {
    key: 'verdicts',
    title: 'Verdicts',
    cell: ({ verdicts }) => (
      <span class="chips">
        {worstFirst(verdicts)
          .slice(0, chipsMax)
          .map((verdict) => (
            <VerdictChip key={verdict.name} verdict={verdict} />
          ))}
        {verdicts.length > chipsMax ? <span class="dim small">+{verdicts.length - chipsMax}</span> : null}
      </span>
    ),
  },
  { key: 'completeness', title: 'Completeness', cell: ({ completeness }) => completeness },
];

export function Runs() {
  const { query } = useAddress();
  const { from, to } = useTimeRange();
  const { agent, service, version, session, model, evaluator, verdict } = query;
  const { rows, isLoading, error, more, reload } = useList('/runs', 'runs', {
    query: { from, to, agent, service, version, session, model, evaluator, verdict: verdict as 'pass', limit: 100 },
  });
  return (
    <PageFrame title="Runs" isFull>
      <FilterBar filters={filters} />
      {error === undefined ? null : <ErrorBox error={error} onRetry={reload} />}
      {rows.length > 0 ? (
        <DataTable caption="Runs, newest first" columns={columns} rows={rows} rowKey={runKey} href={runAddress} onEnd={more} isLong />
      ) : isLoading ? (
        <Loading what="the runs" />
      ) : error === undefined ? (
        <EmptyState title="No run matches">
          <p>Choose a longer time, or clear a filter.</p>
        </EmptyState>
      ) : null}
    </PageFrame>
  );
}

function runKey({ tenant, trace_id: trace, span_id: span }: Run): string {
  return `${tenant}/${trace}/${span}`;
}

function runAddress({ tenant, trace_id: trace, span_id: span }: Run): string {
  return pageAddress(`/runs/${trace}/${span}`, { tenant });
}
