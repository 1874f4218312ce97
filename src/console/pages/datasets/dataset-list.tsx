/** Datasets by name. */
import { useState } from 'preact/hooks';
import '../../styles/datasets.css';
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/use-api.ts';
import { pageAddress } from '../../parts/address.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { countText, timeText, unknownText } from '../../parts/format.ts';
import { Loading, PageFrame } from '../../parts/page-frame.tsx';
import { useMay } from '../../parts/session.tsx';
import { ImportDialog } from './import-dialog.tsx';

type Dataset = Schemas['Dataset'];

const columns: readonly Column<Dataset>[] = [
  { key: 'name', title: 'Name', cell: (dataset) => <a href={datasetAddress(dataset)}>{dataset.name}</a> },
  { key: 'version', title: 'Version', isNumber: true, cell: ({ version }) => version },
  { key: 'examples', title: 'Examples', isNumber: true, cell: ({ examples }) => countText(examples) },
  {
    key: 'drafts',
    title: 'Drafts',
    cell: (dataset) =>
      dataset.drafts === 0 ? (
        <span class="dim">none</span>
      ) : (
        <a class="chip warn" href={pageAddress(`/datasets/${dataset.name}`, { tenant: dataset.tenant, review: 'draft' })}>
          {countText(dataset.drafts)} to be edited
        </a>
      ),
  },
  { key: 'changed', title: 'Changed', cell: ({ changed_at: at }) => timeText(at) },
  { key: 'created', title: 'Made', cell: ({ created_at: at }) => timeText(at) },
];
const tenantColumn: Column<Dataset> = { key: 'tenant', title: 'Tenant', cell: ({ tenant }) => (tenant === '' ? unknownText : tenant) };

export function DatasetList() {
  const { value, isLoading, error, reload } = useGet('/datasets', {});
  const mayChange = useMay('annotate');
  const [isImporting, setImporting] = useState(false);
  const datasets = value?.datasets ?? [];
  const hasTenants = datasets.some(({ tenant }) => tenant !== '');
  return (
    <PageFrame
      title="Datasets"
      actions={
        mayChange ? (
          <button type="button" onClick={() => setImporting(true)}>
            Import a file
          </button>
        ) : undefined
      }
    >
      {error === undefined ? null : <ErrorBox error={error} onRetry={reload} />}
      {datasets.length > 0 ? (
        <DataTable
          caption="Datasets by name"
          columns={hasTenants ? [...columns.slice(0, 1), tenantColumn, ...columns.slice(1)] : columns}
          rows={datasets}
          rowKey={({ tenant, name }) => `${tenant}/${name}`}
          href={datasetAddress}
        />
      ) : isLoading ? (
        <Loading what="the datasets" />
      ) : error === undefined ? (
        <EmptyState title="No datasets yet">
          <p>
            A dataset keeps examples: the input of a run, and what is expected of it. Every later version of the agent can be run against
            it.
          </p>
          <p>
            Open a run that failed on the <a href="/runs?verdict=fail">Runs</a> page and choose “Add to dataset”, or import a file with the
            button above.
          </p>
        </EmptyState>
      ) : null}
      <ImportDialog isOpen={isImporting} onClose={() => setImporting(false)} onDone={reload} />
    </PageFrame>
  );
}

function datasetAddress({ name, tenant }: Dataset): string {
  return pageAddress(`/datasets/${name}`, { tenant });
}
