/** What can be done with the selected runs: keep them as examples, put them into a queue, take them along. */
import { useState } from 'preact/hooks';
import { addressOf } from '../../api/client.ts';
import { failureOf, useApi, useGet } from '../../api/use-api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useMay, useOwnName } from '../../parts/session.tsx';
import { useToast } from '../../parts/toast.tsx';
import type { Run } from './filters.ts';

export interface RunActionsProps {
  readonly runs: readonly Run[];
  readonly onDone: () => void;
}

/** Runs of one change, as the API takes them, and of one file of spans. */
const runsAtOnceMax = 200;

export function RunActions({ runs, onDone }: RunActionsProps) {
  const mayAnnotate = useMay('annotate');
  const [isDatasetOpen, setDatasetOpen] = useState(false);
  const chosen = runs.slice(0, runsAtOnceMax);

  return (
    <div class="box" role="group" aria-label="Selected runs">
      <strong>
        {runs.length} selected{runs.length > runsAtOnceMax ? `, the first ${runsAtOnceMax} are used` : ''}
      </strong>
      {mayAnnotate ? (
        <button type="button" onClick={() => setDatasetOpen(true)}>
          Add to dataset …
        </button>
      ) : null}
      {byTenant(chosen).map(([tenant, own]) =>
        (['csv', 'otlp'] as const).map((format) => (
          <a key={`${tenant} ${format}`} class="button" href={exportAddress(tenant, own, format)} download>
            Save {tenant === '' ? '' : `those of ${tenant} `}as {format.toUpperCase()}
          </a>
        )),
      )}
      <button type="button" onClick={onDone}>
        Clear the selection
      </button>
      <DatasetDialog runs={chosen} isOpen={isDatasetOpen} onClose={() => setDatasetOpen(false)} />
    </div>
  );
}

interface ChooseProps {
  readonly runs: readonly Run[];
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

function DatasetDialog({ runs, isOpen, onClose }: ChooseProps) {
  const api = useApi();
  const toast = useToast();
  const by = useOwnName();
  const { value } = useGet('/datasets', {}, { isOff: !isOpen });
  const add = async (name: string): Promise<void> => {
    const answers = await Promise.all(
      byTenant(runs).map(([tenant, own]) =>
        api.send('POST /datasets/{name}/examples', { path: { name }, query: { tenant }, body: { runs: own, by } }),
      ),
    );
    const [added, left] = [
      answers.reduce((sum, one) => sum + one.added + one.changed, 0),
      answers.reduce((sum, one) => sum + (one.no_example?.length ?? 0) + one.left_out.length, 0),
    ];
    toast(`${added} examples added to ${name}${left === 0 ? '.' : `; ${left} runs make no example.`}`);
  };
  return (
    <ChooseDialog
      title={`Add ${runs.length} runs to a dataset`}
      label="Dataset"
      names={(value?.datasets ?? []).map(({ name }) => name)}
      isFree
      isOpen={isOpen}
      onClose={onClose}
      onChoose={add}
    />
  );
}

interface ChooseDialogProps {
  readonly title: string;
  readonly label: string;
  readonly names: readonly string[];
  /** True: a new name may be given. */
  readonly isFree?: boolean;
  /** Shown when there are no names. */
  readonly none?: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onChoose: (name: string) => Promise<void>;
}

function ChooseDialog({ title, label, names, isFree = false, none = '', isOpen, onClose, onChoose }: ChooseDialogProps) {
  const [fault, setFault] = useState<string>();
  const submit = (event: SubmitEvent & { readonly currentTarget: HTMLFormElement }): void => {
    event.preventDefault();
    const name = new FormData(event.currentTarget).get('name');
    setFault(undefined);
    onChoose(typeof name === 'string' ? name.trim() : '').then(onClose, (error: unknown) => {
      const { message, todo } = failureOf(error);
      setFault(`${message} ${todo}`);
    });
  };
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {names.length === 0 && !isFree ? (
          <p>{none}</p>
        ) : (
          <>
            <label for="choose-name">{label}</label>
            {isFree ? (
              <>
                <input id="choose-name" name="name" type="text" required maxLength={100} list="choose-names" autocomplete="off" />
                <datalist id="choose-names">
                  {names.map((name) => (
                    <option key={name} value={name} />
                  ))}
                </datalist>
              </>
            ) : (
              <select id="choose-name" name="name">
                {names.map((name) => (
                  <option key={name} value={name}>
                    {name}
                  </option>
                ))}
              </select>
            )}
            <p>
              <button type="submit" class="primary">
                Add
              </button>
            </p>
          </>
        )}
        {fault === undefined ? null : <p role="alert">{fault}</p>}
      </form>
    </Dialog>
  );
}

interface RunIds {
  readonly trace_id: string;
  readonly span_id: string;
}

/** A change of a dataset or a queue is about runs of one tenant. */
function byTenant(runs: readonly Run[]): readonly (readonly [tenant: string, runs: readonly RunIds[]])[] {
  const groups = Map.groupBy(runs, ({ tenant }) => tenant);
  return [...groups].map(([tenant, own]) => [tenant, own.map(({ trace_id, span_id }) => ({ trace_id, span_id }))]);
}

function exportAddress(tenant: string, runs: readonly RunIds[], format: 'csv' | 'otlp'): string {
  return addressOf('/runs/export', { query: { tenant, format, runs: runs.map((run) => `${run.trace_id}/${run.span_id}`).join(',') } });
}
