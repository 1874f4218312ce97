/** Keeps a run as an example of a dataset: its input, and what is expected, edited from what happened. */
import { useEffect, useState } from 'preact/hooks';
import { ApiFailure, type Schemas } from '../../api/client.ts';
import { useApi, useGet } from '../../api/use-api.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Loading } from '../../parts/page-frame.tsx';
import { draftOf, exampleOf, type ExampleDraft } from '../../parts/run/example-draft.ts';
import { useToast } from '../../parts/toast.tsx';

type Run = Schemas['Run'];

export interface ExampleDialogProps {
  readonly run: Run;
  readonly by: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function ExampleDialog({ run, by, isOpen, onClose }: ExampleDialogProps) {
  return (
    <Dialog title="Add as an example" isOpen={isOpen} onClose={onClose}>
      <ExampleForm run={run} by={by} onClose={onClose} />
    </Dialog>
  );
}

const reasons: { readonly [reason: string]: string } = {
  not_stored: 'The store has no such run.',
  no_content: 'The store has no texts of this run.',
  no_input: 'The spans carry no input of this run.',
  part_of_another_run: 'The run is part of another one, which has its content.',
};

function ExampleForm({ run, by, onClose }: Omit<ExampleDialogProps, 'isOpen'>) {
  const draft = useGet('/runs/{trace}/{span}/example', { path: { trace: run.trace_id, span: run.span_id }, query: { tenant: run.tenant } });
  const datasets = useGet('/datasets', { query: { tenant: run.tenant } });
  if (draft.error !== undefined) return <ErrorBox error={draft.error} onRetry={draft.reload} />;
  if (draft.value === undefined) return <Loading what="the draft" />;
  const { example, reason } = draft.value;
  if (example === null) return <p>{reasons[reason ?? ''] ?? 'The run makes no example.'}</p>;
  return (
    <DraftForm run={run} by={by} onClose={onClose} example={example} datasets={datasets.value?.datasets.map(({ name }) => name) ?? []} />
  );
}

interface DraftFormProps extends Omit<ExampleDialogProps, 'isOpen'> {
  readonly example: Schemas['Example'];
  readonly datasets: readonly string[];
}

function DraftForm({ run, by, onClose, example, datasets }: DraftFormProps) {
  const api = useApi();
  const toast = useToast();
  const [draft, setDraft] = useState<ExampleDraft>(() => draftOf(example));
  const [dataset, setDataset] = useState('');
  const [fault, setFault] = useState<Pick<ApiFailure, 'message' | 'todo' | 'code'>>();
  const [isBusy, setBusy] = useState(false);
  useEffect(() => {
    if (dataset === '' && datasets[0] !== undefined) setDataset(datasets[0]);
  }, [datasets]);
  const made = exampleOf(example, draft);
  const change = (changes: Partial<ExampleDraft>): void => setDraft((before) => ({ ...before, ...changes }));

  const send = async (event: Event): Promise<void> => {
    event.preventDefault();
    if ('fault' in made || isBusy) return;
    setBusy(true);
    try {
      const answer = await api.send('POST /datasets/{name}/examples', {
        path: { name: dataset.trim() },
        query: { tenant: run.tenant },
        body: { examples: [made.example], by },
      });
      toast(
        answer.added > 0
          ? `${dataset} has the example, in version ${answer.version}.`
          : answer.changed > 0
            ? `The example of this run is changed, in version ${answer.version}.`
            : 'The dataset has this example already.',
      );
      onClose();
    } catch (error) {
      if (error instanceof ApiFailure) setFault(error);
      else throw error;
    } finally {
      setBusy(false);
    }
  };

  return (
    <form class="stack example-form" onSubmit={(event) => void send(event)}>
      {fault === undefined ? null : <ErrorBox error={fault} />}
      <label>
        Dataset, or the name of a new one
        <input
          type="text"
          list="dataset-names"
          required
          pattern="[A-Za-z0-9._\-]{1,100}"
          title="Letters, digits, dots, underscores and hyphens"
          value={dataset}
          onInput={(event) => setDataset(event.currentTarget.value)}
        />
        <datalist id="dataset-names">
          {datasets.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      </label>
      <label>
        Input {draft.isInputJson ? '(JSON)' : ''}
        <textarea rows={4} value={draft.input} onInput={(event) => change({ input: event.currentTarget.value })} />
      </label>
      <label>
        Expected (JSON): it repeats what the run did, so correct what was wrong
        <textarea
          class="mono"
          rows={12}
          spellcheck={false}
          value={draft.expect}
          aria-invalid={'fault' in made}
          onInput={(event) => change({ expect: event.currentTarget.value })}
        />
      </label>
      {'fault' in made ? (
        <p class="faults" role="alert">
          <span aria-hidden="true">✗</span> {made.fault}
        </p>
      ) : null}
      <label>
        Tags, apart by commas
        <input type="text" value={draft.tags} onInput={(event) => change({ tags: event.currentTarget.value })} />
      </label>
      <label class="row">
        <input type="checkbox" checked={draft.isReviewed} onChange={() => change({ isReviewed: !draft.isReviewed })} />
        What is expected is right; without this it stays a draft
      </label>
      <div class="row">
        <button type="submit" class="primary" disabled={'fault' in made || isBusy || dataset.trim() === ''}>
          Add the example
        </button>
      </div>
    </form>
  );
}
