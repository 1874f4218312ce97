/** Experiments, newest first, and their rates over time. Two of them can be chosen and compared. */
import { useState } from 'preact/hooks';
import '../../styles/experiments.css';
import type { Schemas } from '../../api/client.ts';
import { useList } from '../../api/use-api.ts';
import { pageAddress } from '../../parts/address.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { type Filter, FilterBar } from '../../parts/filter-bar.tsx';
import { countText, lineText, timeText } from '../../parts/format.ts';
import { PageFrame } from '../../parts/page-frame.tsx';
import { TabLinks } from '../../parts/tab-links.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { ExperimentHistory } from './experiment-history.tsx';
import { commitText, datasetText } from './experiment-text.ts';
import { NoExperiments } from './no-experiments.tsx';
import { StatusCounts } from './status-counts.tsx';

type Experiment = Schemas['Experiment'];

const filters: readonly Filter[] = [
  { name: 'name', title: 'Name', kind: 'text' },
  { name: 'dataset', title: 'Dataset', kind: 'text' },
];
const historyFilters: readonly Filter[] = [...filters, { name: 'agent', title: 'Agent', kind: 'text' }];

const columns: readonly Column<Experiment>[] = [
  { key: 'name', title: 'Experiment', cell: (one) => <a href={experimentAddress(one)}>{lineText(one.name, 60)}</a> },
  { key: 'began', title: 'Began', cell: ({ began_at: at }) => timeText(at) },
  { key: 'results', title: 'Results', cell: ({ statuses }) => <StatusCounts statuses={statuses} /> },
  { key: 'state', title: 'State', cell: ({ state }) => <span class="dim">{state}</span> },
  { key: 'dataset', title: 'Dataset', cell: ({ dataset }) => lineText(datasetText(dataset), 60) },
  { key: 'repeats', title: 'Repeats', from: 'medium', isNumber: true, cell: ({ repeats }) => countText(repeats) },
  { key: 'commit', title: 'Commit', cell: ({ provenance }) => <span class="mono">{lineText(commitText(provenance), 50)}</span> },
  { key: 'id', title: 'Id', from: 'wide', cell: ({ id }) => <span class="mono">{lineText(id, 50)}</span> },
];

export function ExperimentList() {
  const { query } = useAddress();
  const isHistory = query['view'] === 'history';
  const { name, dataset } = query;
  return (
    <PageFrame title="Experiments" isFull={!isHistory}>
      <TabLinks
        label="Views of experiments"
        tabs={[
          { title: 'List', href: pageAddress('/experiments', { name, dataset }), isCurrent: !isHistory },
          { title: 'Over time', href: pageAddress('/experiments', { view: 'history', name, dataset }), isCurrent: isHistory },
        ]}
      />
      <FilterBar filters={isHistory ? historyFilters : filters} label="Filters of experiments" />
      {isHistory ? <ExperimentHistory /> : <Listed />}
    </PageFrame>
  );
}

function Listed() {
  const { query, go } = useAddress();
  const { name, dataset } = query;
  const found = useList('/experiments', 'experiments', { query: { name, dataset, limit: 100 } });
  const { rows, isLoading, error, more } = found;
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const chosen = rows.filter((row) => selected.has(rowKey(row)));
  // The list has the newest first, and the older one stands as A.
  const [second, first] = chosen;
  const isPair = chosen.length === 2 && first !== undefined && second !== undefined && first.tenant === second.tenant;
  return (
    <>
      {rows.length === 0 ? null : (
        <div class="row" role="group" aria-label="Compare two experiments">
          <button
            type="button"
            class={isPair ? 'primary' : undefined}
            disabled={!isPair}
            onClick={() => go(pageAddress('/experiments/compare', { a: first?.id, b: second?.id, tenant: first?.tenant }))}
          >
            Compare
          </button>
          <span class="dim">
            {isPair
              ? `A: ${lineText(first.name, 40)} (${lineText(first.id, 40)}), B: ${lineText(second.name, 40)} (${lineText(second.id, 40)})`
              : `Choose two experiments of one dataset: ${chosen.length} of 2 chosen.`}
          </span>
        </div>
      )}
      <AnswerState of={found} what="the experiments" />
      {rows.length > 0 ? (
        <DataTable
          name="experiments"
          caption="Experiments, newest first"
          columns={columns}
          rows={rows}
          rowKey={rowKey}
          href={experimentAddress}
          onEnd={more}
          isLong
          selection={{
            keys: selected,
            toggle: (key) =>
              setSelected((before) => new Set(before.has(key) ? [...before].filter((one) => one !== key) : [...before, key])),
            toggleAll: () => setSelected((before) => (before.size > 0 ? new Set() : new Set(rows.map(rowKey)))),
          }}
        />
      ) : !isLoading && error === undefined ? (
        <NoExperiments isFiltered={(name ?? '') !== '' || (dataset ?? '') !== ''} />
      ) : null}
    </>
  );
}

function rowKey({ tenant, id }: Experiment): string {
  return `${tenant}/${id}`;
}

function experimentAddress({ tenant, id }: Experiment): string {
  return pageAddress(`/experiments/${id}`, { tenant });
}
