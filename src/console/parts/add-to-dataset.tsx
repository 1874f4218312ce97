/** The dialog that makes examples of runs. The Runs page uses it for many runs, the Run page for one. */
import { useEffect, useState } from 'preact/hooks';
import type { ApiFailure } from '../api/client.ts';
import { failureOf, useApi, useGet } from '../api/use-api.ts';
import { pageAddress } from './address.ts';
import {
  type Addition,
  additionRequests,
  additionTexts,
  datasetNameFault,
  type RunReference,
  runsText,
  tagsOf,
} from './dataset-additions.ts';
import { Dialog } from './dialog.tsx';
import { ErrorBox } from './error-box.tsx';
import { CheckField, TextField } from './fields.tsx';
import { useOwnName } from './session.tsx';

export interface AddToDatasetProps {
  readonly runs: readonly RunReference[];
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function AddToDataset({ runs, isOpen, onClose }: AddToDatasetProps) {
  return (
    <Dialog title={`Add ${runsText(runs.length)} to a dataset`} isOpen={isOpen} onClose={onClose}>
      <AdditionForm runs={runs} onClose={onClose} />
    </Dialog>
  );
}

interface Fields {
  readonly name: string;
  readonly split: string;
  readonly tags: string;
  readonly isDistinct: boolean;
  readonly replaces: boolean;
}

interface Done {
  readonly name: string;
  readonly additions: readonly Addition[];
}

function AdditionForm({ runs, onClose }: Pick<AddToDatasetProps, 'runs' | 'onClose'>) {
  const api = useApi();
  const by = useOwnName();
  const { value: list } = useGet('/datasets', {});
  const known = list?.datasets ?? [];
  const [fields, setFields] = useState<Fields>({ name: '', split: '', tags: '', isDistinct: runs.length > 1, replaces: false });
  const [fault, setFault] = useState<string>();
  const [error, setError] = useState<ApiFailure>();
  const [isSending, setSending] = useState(false);
  const [done, setDone] = useState<Done>();
  const change = (changes: Partial<Fields>): void => setFields((before) => ({ ...before, ...changes }));
  // With a single dataset there is nothing to choose.
  useEffect(() => {
    const names = [...new Set(known.map(({ name }) => name))];
    if (names.length === 1) setFields((before) => (before.name === '' ? { ...before, name: names[0] ?? '' } : before));
  }, [list]);

  async function send(): Promise<void> {
    const name = fields.name.trim();
    const wrong = datasetNameFault(name);
    setFault(wrong);
    if (wrong !== undefined) return;
    setSending(true);
    setError(undefined);
    const split = fields.split.trim();
    const additions: Addition[] = [];
    try {
      for (const { tenant, runs: own } of additionRequests(runs))
        additions.push(
          await api.send('POST /datasets/{name}/examples', {
            path: { name },
            query: { tenant },
            body: {
              runs: own,
              tags: tagsOf(fields.tags),
              ...(split === '' ? {} : { split }),
              distinct: fields.isDistinct,
              replace: fields.replaces,
              by,
            },
          }),
        );
      setDone({ name, additions });
    } catch (failure) {
      setError(failureOf(failure));
    }
    setSending(false);
  }

  if (done !== undefined) return <AdditionDone done={done} runs={runs} onClose={onClose} />;
  const found = known.find(({ name }) => name === fields.name.trim());
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <p class="dim">
        Each example is a draft: its expectation repeats what the run did. Edit it to what the run should have done, then mark it as
        reviewed.
      </p>
      <TextField
        label="Dataset"
        hint={datasetHint(fields.name, found)}
        fault={fault}
        value={fields.name}
        charsMax={100}
        options={[...new Set(known.map(({ name }) => name))]}
        onChange={(name) => change({ name })}
      />
      <TextField
        label="Split"
        hint="Part of the dataset, as train or test. May stay empty."
        value={fields.split}
        charsMax={200}
        onChange={(split) => change({ split })}
      />
      <TextField
        label="Tags"
        hint="Separated by commas. May stay empty."
        value={fields.tags}
        charsMax={1_000}
        onChange={(tags) => change({ tags })}
      />
      <CheckField
        label="Leave out runs whose input another example has"
        isChecked={fields.isDistinct}
        onChange={(isDistinct) => change({ isDistinct })}
      />
      <CheckField label="Replace examples that are reviewed" isChecked={fields.replaces} onChange={(replaces) => change({ replaces })} />
      {error === undefined ? null : <ErrorBox error={error} />}
      <div class="row">
        <button type="submit" class="primary" disabled={isSending || runs.length === 0}>
          {isSending ? 'Adding …' : `Add ${runsText(runs.length)}`}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function datasetHint(name: string, found: { readonly examples: number; readonly drafts: number } | undefined): string {
  if (found !== undefined)
    return `It has ${found.examples} ${found.examples === 1 ? 'example' : 'examples'}, and ${found.drafts} of them ${found.drafts === 1 ? 'is a draft' : 'are drafts'}.`;
  return name.trim() === '' ? 'A dataset that is there, or the name of a new one.' : 'A new dataset: there is none of this name yet.';
}

function AdditionDone({ done: { name, additions }, runs, onClose }: { readonly done: Done } & Pick<AddToDatasetProps, 'runs' | 'onClose'>) {
  const [only, ...more] = runs;
  const hasExample = additions.some(({ added, changed, unchanged }) => added + changed + unchanged > 0);
  const example = only === undefined || more.length > 0 || !hasExample ? undefined : `${only.trace_id}-${only.span_id}`;
  return (
    <div class="stack" role="status">
      {additionTexts(additions).map((text) => (
        <p key={text}>{text}</p>
      ))}
      <div class="row">
        <a class="button primary" href={pageAddress(`/datasets/${name}`, { tenant: only?.tenant, example })}>
          {example === undefined ? `Open ${name}` : 'Edit the example'}
        </a>
        <button type="button" onClick={onClose}>
          Close
        </button>
      </div>
    </div>
  );
}
