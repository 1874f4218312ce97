/** The dialog that makes examples of runs. The input and expectation of a single run can be edited; each of many becomes a draft. */
import { useContext, useEffect, useState } from 'preact/hooks';
import type { GetAnswer } from '../api/client.ts';
import { useApi, useGet } from '../api/use-api.ts';
import { useSend } from '../api/use-send.ts';
import { pageAddress } from './address.ts';
import { AnswerState } from './answer-state.tsx';
import { AppContext } from './app-context.ts';
import { type Addition, additionTexts, datasetNameFault, leftOutText, placeOf } from './dataset-additions.ts';
import { DatasetField, SplitAndTags } from './dataset-fields.tsx';
import { Dialog, DialogDone } from './dialog.tsx';
import { DialogForm } from './dialog-form.tsx';
import { CheckField, TextField } from './fields.tsx';
import { draftOf, type ExampleDraft, exampleOf } from './run/example-draft.ts';
import { type RunReference, runRequests, runsText } from './run-requests.ts';
import { useOwnName } from './session.tsx';

type Example = NonNullable<GetAnswer<'/runs/{trace}/{span}/example'>['example']>;

export interface AddToDatasetProps {
  readonly runs: readonly RunReference[];
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function AddToDataset({ runs, isOpen, onClose }: AddToDatasetProps) {
  const [only, ...more] = runs;
  return (
    <Dialog title={`Add ${runsText(runs.length)} to a dataset`} isOpen={isOpen} onClose={onClose}>
      {only !== undefined && more.length === 0 ? (
        <OneRun run={only} onClose={onClose} />
      ) : (
        <AdditionForm runs={runs} example={undefined} onClose={onClose} />
      )}
    </Dialog>
  );
}

function OneRun({ run, onClose }: { readonly run: RunReference; readonly onClose: () => void }) {
  const found = useGet('/runs/{trace}/{span}/example', {
    path: { trace: run.trace_id, span: run.span_id },
    query: { tenant: run.tenant },
  });
  const { value } = found;
  if (value === undefined || found.error !== undefined) return <AnswerState of={found} what="the draft" />;
  if (value.example === null) return <p>The run makes no example: {leftOutText(value.reason ?? 'no_content')}.</p>;
  return <AdditionForm runs={[run]} example={value.example} onClose={onClose} />;
}

interface AdditionFormProps extends Pick<AddToDatasetProps, 'runs' | 'onClose'> {
  /** The example of one run; `undefined` for many runs. */
  readonly example: Example | undefined;
}

interface Fields {
  readonly name: string;
  readonly split: string;
  readonly tags: string;
  readonly isDistinct: boolean;
  readonly replaces: boolean;
}

function AdditionForm({ runs, example, onClose }: AdditionFormProps) {
  const api = useApi();
  const by = useOwnName();
  const { value: list } = useGet('/datasets', {});
  const known = list?.datasets ?? [];
  const names = [...new Set(known.map(({ name }) => name))];
  const { datasetName } = useContext(AppContext);
  const [fields, setFields] = useState<Fields>({
    name: datasetName.current ?? '',
    split: '',
    tags: example?.tags?.join(', ') ?? '',
    isDistinct: true,
    replaces: false,
  });
  const [draft, setDraft] = useState<ExampleDraft>(() => draftOf(example ?? {}));
  const [fault, setFault] = useState<string>();
  const [additions, setAdditions] = useState<readonly Addition[]>();
  const sending = useSend();
  const change = (changes: Partial<Fields>): void => setFields((before) => ({ ...before, ...changes }));
  // With a single dataset there is nothing to choose.
  useEffect(() => {
    if (names.length === 1) setFields((before) => (before.name === '' ? { ...before, name: names[0] ?? '' } : before));
  }, [list]);
  const name = fields.name.trim();
  const made = example === undefined ? undefined : exampleOf(example, draft);

  async function add(): Promise<void> {
    const wrong = datasetNameFault(name);
    setFault(wrong);
    if (wrong !== undefined || (made !== undefined && 'faults' in made)) return;
    const place = placeOf(fields);
    const path = { name };
    await sending.send(async () => {
      const answers: Addition[] = [];
      for (const { tenant, runs: own } of runRequests(runs))
        answers.push(
          await api.send('POST /datasets/{name}/examples', {
            path,
            query: { tenant },
            body:
              made === undefined
                ? { runs: own, ...place, distinct: fields.isDistinct, replace: fields.replaces, by }
                : { examples: [{ ...untagged(made.example), ...place }], by },
          }),
        );
      datasetName.current = name;
      setAdditions(answers);
    });
  }

  if (additions !== undefined) return <AdditionDone name={name} additions={additions} runs={runs} onClose={onClose} />;
  return (
    <DialogForm
      action={`Add ${runsText(runs.length)}`}
      doing="Adding …"
      sending={sending}
      isReady={runs.length > 0 && (made === undefined || !('faults' in made))}
      onSubmit={add}
      onClose={onClose}
    >
      {example === undefined ? (
        <p class="dim">
          Each example is a draft: its expectation repeats what the run did. Edit it to what the run should have done, then mark it as
          reviewed.
        </p>
      ) : null}
      <DatasetField
        hint={datasetHint(
          name,
          known.find((one) => one.name === name),
        )}
        fault={fault}
        value={fields.name}
        options={names}
        onChange={(given) => change({ name: given })}
      />
      <SplitAndTags split={fields.split} tags={fields.tags} onChange={change} />
      {made === undefined ? (
        <>
          <CheckField
            label="Leave out runs whose input another example has"
            isChecked={fields.isDistinct}
            onChange={(isDistinct) => change({ isDistinct })}
          />
          <CheckField
            label="Replace examples that are reviewed"
            isChecked={fields.replaces}
            onChange={(replaces) => change({ replaces })}
          />
        </>
      ) : (
        <DraftFields
          draft={draft}
          faults={'faults' in made ? made.faults : {}}
          onChange={(changes) => setDraft((before) => ({ ...before, ...changes }))}
        />
      )}
    </DialogForm>
  );
}

interface DraftFieldsProps {
  readonly draft: ExampleDraft;
  readonly faults: { readonly input?: string; readonly expect?: string };
  readonly onChange: (changes: Partial<ExampleDraft>) => void;
}

function DraftFields({ draft, faults, onChange }: DraftFieldsProps) {
  return (
    <>
      <TextField
        label={draft.isInputJson ? 'Input (JSON)' : 'Input'}
        fault={faults.input}
        rows={4}
        isCode={draft.isInputJson}
        value={draft.input}
        onChange={(input) => onChange({ input })}
      />
      <TextField
        label="Expected (JSON)"
        hint="It repeats what the run did: correct what was wrong."
        fault={faults.expect}
        rows={12}
        isCode
        value={draft.expect}
        onChange={(expect) => onChange({ expect })}
      />
      <CheckField
        label="The expectation is correct; otherwise the example stays a draft"
        isChecked={draft.isReviewed}
        onChange={(isReviewed) => onChange({ isReviewed })}
      />
    </>
  );
}

/** The fields of the form hold the tags. */
function untagged({ tags: _tags, ...rest }: Example): Omit<Example, 'tags'> {
  return rest;
}

function datasetHint(name: string, found: { readonly examples: number; readonly drafts: number } | undefined): string {
  if (found !== undefined)
    return `It has ${found.examples} ${found.examples === 1 ? 'example' : 'examples'}, and ${found.drafts} of them ${found.drafts === 1 ? 'is a draft' : 'are drafts'}.`;
  return name === '' ? 'A dataset that is there, or the name of a new one.' : 'A new dataset: there is none of this name yet.';
}

interface AdditionDoneProps extends Pick<AddToDatasetProps, 'runs' | 'onClose'> {
  readonly name: string;
  readonly additions: readonly Addition[];
}

function AdditionDone({ name, additions, runs, onClose }: AdditionDoneProps) {
  const [only, ...more] = runs;
  const hasExample = additions.some(({ added, changed, unchanged }) => added + changed + unchanged > 0);
  const example = only === undefined || more.length > 0 || !hasExample ? undefined : `${only.trace_id}-${only.span_id}`;
  return (
    <div class="stack" role="status">
      {additionTexts(additions).map((text) => (
        <p key={text}>{text}</p>
      ))}
      <DialogDone
        href={pageAddress(`/datasets/${name}`, { tenant: only?.tenant, example })}
        link={example === undefined ? `Open ${name}` : 'Open the example'}
        onClose={onClose}
      />
    </div>
  );
}
