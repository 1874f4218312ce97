/** One dataset: its examples, one example in the editor, and its versions. The address chooses. */
import { useMemo, useState } from 'preact/hooks';
import '../../styles/datasets.css';
import { useApi, useGet } from '../../api/use-api.ts';
import { pageAddress } from '../../parts/address.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { countText } from '../../parts/format.ts';
import { Loading, PageFrame } from '../../parts/page-frame.tsx';
import { useMay } from '../../parts/session.tsx';
import { TabLinks } from '../../parts/tab-links.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAddress } from '../../parts/use-address.ts';
import type { DatasetKey } from './dataset-key.ts';
import { DatasetVersions } from './dataset-versions.tsx';
import { ExampleList } from './example-list.tsx';
import { ExamplePanel, NewExample } from './example-panel.tsx';
import { ExportDialog } from './export-dialog.tsx';
import { ImportDialog } from './import-dialog.tsx';
import { useUnsavedExamples } from './unsaved-example.ts';

/** Placeholder id of a new example; an existing one of this id is opened by its row. */
const newExample = 'new';

export function Dataset({ params: { name = '' } }: { readonly params: { readonly [name: string]: string } }) {
  const { query } = useAddress();
  const tenant = query['tenant'] ?? '';
  const key = useMemo(() => ({ name, tenant }), [name, tenant]);
  const dataset = useGet('/datasets/{name}', { path: { name }, query: { tenant } });
  const { value, error, reload } = dataset;
  if (value === undefined)
    return (
      <PageFrame title={name}>
        {error === undefined ? (
          <Loading what="the dataset" />
        ) : error.status === 404 ? (
          <Missing name={name} />
        ) : (
          <ErrorBox error={error} onRetry={reload} />
        )}
      </PageFrame>
    );
  return <KnownDataset datasetKey={key} newest={value} onChange={reload} />;
}

function Missing({ name }: { readonly name: string }) {
  return (
    <EmptyState title="There is no such dataset">
      <p>
        The store has no dataset {name}. It may be deleted, or belong to another tenant. <a href="/datasets">All datasets</a>
      </p>
    </EmptyState>
  );
}

interface KnownDatasetProps {
  readonly datasetKey: DatasetKey;
  readonly newest: { readonly version: number; readonly examples: number; readonly drafts: number };
  readonly onChange: () => void;
}

function KnownDataset({ datasetKey, newest, onChange }: KnownDatasetProps) {
  const { name, tenant } = datasetKey;
  const { query, go } = useAddress();
  const mayChange = useMay('annotate');
  const [open, setOpen] = useState<'import' | 'export' | 'delete'>();
  const close = (): void => setOpen(undefined);
  const { view, example, split, tag } = query;
  const version = versionOf(query['version'], newest.version);
  const isNewest = version === newest.version;
  const address = (of: { readonly [parameter: string]: string | undefined }): string => pageAddress(`/datasets/${name}`, { tenant, ...of });
  return (
    <PageFrame
      title={name}
      isFull={view !== 'versions' && example === undefined && view !== newExample}
      actions={
        <>
          <button type="button" onClick={() => setOpen('export')}>
            Export
          </button>
          {mayChange ? (
            <>
              <a class="button" href={address({ view: newExample })}>
                Add an example
              </a>
              <button type="button" onClick={() => setOpen('import')}>
                Import
              </button>
              <button type="button" onClick={() => setOpen('delete')}>
                Delete
              </button>
            </>
          ) : null}
        </>
      }
    >
      <div class="row spread">
        <TabLinks
          label="Parts of the dataset"
          tabs={[
            { title: `Examples (${countText(newest.examples)})`, href: address({}), isCurrent: view !== 'versions' },
            { title: `Versions (${countText(newest.version)})`, href: address({ view: 'versions' }), isCurrent: view === 'versions' },
          ]}
        />
        <p class="dim">
          {isNewest ? `Version ${version}, the newest` : `Version ${version} of ${newest.version}`}
          {newest.drafts === 0 ? null : (
            <>
              {', '}
              <a href={address({ review: 'draft' })}>
                {countText(newest.drafts)} {newest.drafts === 1 ? 'draft' : 'drafts'} to be edited
              </a>
            </>
          )}
        </p>
      </div>
      {isNewest ? null : (
        <p class="box warning">
          <span class="text">
            This is an older version, which nobody can change. An edit here makes the next version of the newest one.
          </span>
          <a href={address({})}>Open the newest version</a>
        </p>
      )}
      {view === 'versions' ? (
        <DatasetVersions datasetKey={datasetKey} newest={newest.version} />
      ) : view === newExample ? (
        <NewExample datasetKey={datasetKey} onSaved={(id) => (onChange(), go(address({ example: id })))} />
      ) : example === undefined ? (
        <ExampleList datasetKey={datasetKey} version={version} isNewest={isNewest} onChange={onChange} />
      ) : (
        <ExamplePanel
          key={`${example}@${version}`}
          datasetKey={datasetKey}
          id={example}
          version={version}
          isNewest={isNewest}
          onChange={onChange}
        />
      )}
      <ImportDialog dataset={{ name, tenant, version: newest.version }} isOpen={open === 'import'} onClose={close} onDone={onChange} />
      <ExportDialog name={name} tenant={tenant} version={version} split={split} tag={tag} isOpen={open === 'export'} onClose={close} />
      <DeleteDialog datasetKey={datasetKey} newest={newest} isOpen={open === 'delete'} onClose={close} />
    </PageFrame>
  );
}

function versionOf(given: string | undefined, newest: number): number {
  const number = Number(given);
  return Number.isInteger(number) && number >= 1 && number <= newest ? number : newest;
}

interface DeleteDialogProps {
  readonly datasetKey: DatasetKey;
  readonly newest: KnownDatasetProps['newest'];
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

function DeleteDialog({ datasetKey: { name, tenant }, newest, isOpen, onClose }: DeleteDialogProps) {
  const api = useApi();
  const toast = useToast();
  const { go } = useAddress();
  const unsaved = useUnsavedExamples({ name, tenant });
  return (
    <ConfirmDialog
      title={`Delete ${name}`}
      action="Delete the dataset"
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={async () => {
        await api.send('DELETE /datasets/{name}', { path: { name }, query: { tenant } });
        toast(`${name} is deleted.`);
        unsaved.drop();
        go('/datasets');
      }}
    >
      <p>
        This deletes {countText(newest.examples)} {newest.examples === 1 ? 'example' : 'examples'} and all {countText(newest.version)}{' '}
        {newest.version === 1 ? 'version' : 'versions'}. It cannot be undone; an export keeps a copy.
      </p>
    </ConfirmDialog>
  );
}
