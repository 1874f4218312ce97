/** One example: where it comes from, the editor, and its history. */
import { useCallback, useState } from 'preact/hooks';
import { useApi, useGet } from '../../api/use-api.ts';
import { pageAddress } from '../../parts/address.ts';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { TextField } from '../../parts/fields.tsx';
import { agoText, lineText } from '../../parts/format.ts';
import { Loading } from '../../parts/page-frame.tsx';
import { useMay, useOwnName } from '../../parts/session.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAddress } from '../../parts/use-address.ts';
import type { DatasetKey } from './dataset-key.ts';
import { ExampleEditor } from './example-editor.tsx';
import { type ExampleForm, formOf } from './example-form.ts';
import { ExampleHistory } from './example-history.tsx';
import { InexactNumbers } from './example-list.tsx';
import { type ExampleBody, hasInexactNumber, valueText } from './example-members.ts';
import { OriginText, ReviewChip } from './example-origin.tsx';
import { useUnsavedExamples } from './unsaved-example.ts';

export interface ExamplePanelProps {
  readonly datasetKey: DatasetKey;
  readonly id: string;
  readonly version: number;
  readonly isNewest: boolean;
  readonly onChange: () => void;
}

/** The example in the editor. It changes when an example is loaded, saved, or taken from the history, but not on typing. */
interface Opened {
  readonly body: ExampleBody;
  /** The version that the example has been the same since; the API compares it. */
  readonly since: number;
  /** Default: the fields of the body. */
  readonly form?: ExampleForm;
  readonly turn: number;
}

export function ExamplePanel({ datasetKey: { name, tenant }, id, version, isNewest, onChange }: ExamplePanelProps) {
  const { query } = useAddress();
  const mayChange = useMay('annotate') && isNewest;
  // The version is that of the first look: a change, also one's own, does not take the text from under the fingers.
  const [first] = useState(version);
  const loaded = useGet('/datasets/{name}/examples/{id}', { path: { name, id }, query: { tenant, version: isNewest ? undefined : first } });
  const unsaved = useUnsavedExamples({ name, tenant });
  const [opened, setOpened] = useState((): Opened | undefined => {
    const kept = mayChange ? unsaved.get(id) : undefined;
    return kept === undefined ? undefined : { body: kept.base, since: kept.since, turn: 0 };
  });
  const [isRemoving, setRemoving] = useState(false);
  const { value, error, reload } = loaded;
  const shown: Opened | undefined = opened ?? (value === undefined ? undefined : { body: value, since: value.since, turn: 0 });
  const list = pageAddress(`/datasets/${name}`, {
    tenant,
    version: isNewest ? undefined : query['version'],
    split: query['split'],
    tag: query['tag'],
    review: query['review'],
  });
  const open = useCallback(
    (body: ExampleBody, since: number, form?: ExampleForm) => {
      unsaved.drop(id);
      setOpened((before) => ({ body, since, ...(form === undefined ? {} : { form }), turn: (before?.turn ?? 0) + 1 }));
    },
    [unsaved, id],
  );
  if (error !== undefined && shown === undefined)
    return error.status === 404 ? (
      <EmptyState title="There is no such example">
        <p>
          The version {version} has no example {lineText(id, 80)}. <a href={list}>All examples</a>
        </p>
      </EmptyState>
    ) : (
      <ErrorBox error={error} onRetry={reload} />
    );
  if (shown === undefined) return <Loading what="the example" />;
  const { body, since, form, turn } = shown;
  const origin = value?.origin;
  const isInexact = hasInexactNumber(body);
  return (
    <article class="stack example" aria-label={`Example ${id}`}>
      <div class="row spread">
        <a href={list}>← All examples</a>
        {mayChange ? (
          <button type="button" onClick={() => setRemoving(true)}>
            Remove
          </button>
        ) : null}
      </div>
      <div class="row">
        <h2 class="mono">{lineText(id, 120)}</h2>
        <ReviewChip review={body['review'] === 'draft' ? 'draft' : 'reviewed'} />
        <span class="dim">
          {origin === undefined ? null : (
            <>
              Made of <OriginText origin={origin} tenant={tenant} />
              {origin.at === undefined ? null : `, ${agoText(origin.at, Date.now())}`}.{' '}
            </>
          )}
          The same since version {since}.
        </span>
      </div>
      {isInexact ? <InexactNumbers count={1} /> : null}
      <ExampleEditor
        key={turn}
        datasetKey={{ name, tenant }}
        id={id}
        base={body}
        since={since}
        {...(form === undefined ? {} : { form })}
        isReadOnly={!mayChange || isInexact}
        onSaved={(saved, at) => {
          open(saved, at);
          reload();
          onChange();
        }}
        onTake={open}
      />
      <ExampleHistory
        key={`history-${since}`}
        datasetKey={{ name, tenant }}
        id={id}
        {...(mayChange ? { onTake: (taken: ExampleBody) => open(body, since, formOf({ ...taken, review: body['review'] })) } : {})}
      />
      <RemoveDialog
        datasetKey={{ name, tenant }}
        id={id}
        list={list}
        isOpen={isRemoving}
        onClose={() => setRemoving(false)}
        onChange={onChange}
      />
    </article>
  );
}

interface RemoveDialogProps {
  readonly datasetKey: DatasetKey;
  readonly id: string;
  readonly list: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onChange: () => void;
}

function RemoveDialog({ datasetKey: { name, tenant }, id, list, isOpen, onClose, onChange }: RemoveDialogProps) {
  const api = useApi();
  const by = useOwnName();
  const toast = useToast();
  const { go } = useAddress();
  const unsaved = useUnsavedExamples({ name, tenant });
  return (
    <ConfirmDialog
      title="Remove the example"
      action="Remove"
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={async () => {
        const { version } = await api.send('DELETE /datasets/{name}/examples/{id}', { path: { name, id }, query: { tenant, by } });
        toast(`The example is not in version ${version}.`);
        unsaved.drop(id);
        onChange();
        go(list);
      }}
    >
      <p>The next version does not have it. The versions before keep it.</p>
    </ConfirmDialog>
  );
}

export function NewExample({ datasetKey, onSaved }: { readonly datasetKey: DatasetKey; readonly onSaved: (id: string) => void }) {
  const unsaved = useUnsavedExamples(datasetKey);
  const [id, setId] = useState(() => unsaved.get('')?.id ?? '');
  return (
    <article class="stack example" aria-label="A new example">
      <h2>A new example</h2>
      <TextField label="Id" hint="Unique in the dataset. It cannot be changed later." value={id} charsMax={200} onChange={setId} />
      <ExampleEditor
        datasetKey={datasetKey}
        id={id.trim()}
        base={{ review: 'reviewed', input: valueText('') }}
        since={0}
        isReadOnly={false}
        onSaved={() => onSaved(id.trim())}
      />
    </article>
  );
}
