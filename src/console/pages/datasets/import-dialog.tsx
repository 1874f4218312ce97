/** Import of a file: the API reads it first and reports its contents; only then the examples are added. */
import { useEffect, useId, useState } from 'preact/hooks';
import type { SendAnswer, SendOptions } from '../../api/client.ts';
import { useApi } from '../../api/use-api.ts';
import { useSend } from '../../api/use-send.ts';
import { pageAddress } from '../../parts/address.ts';
import { additionTexts, datasetNameFault, placeOf, presentText, examplesText } from '../../parts/dataset-additions.ts';
import { DatasetField, SplitAndTags } from '../../parts/dataset-fields.tsx';
import { Dialog, DialogDone } from '../../parts/dialog.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { CheckField, ChoiceField } from '../../parts/fields.tsx';
import { bytesText, lineText } from '../../parts/format.ts';
import { useOwnName } from '../../parts/session.tsx';
import { expectationText, inputText } from './example-members.ts';

type ImportPath = 'POST /datasets/{name}/import';
type Form = NonNullable<SendOptions<ImportPath>['body']['form']>;
type Answer = SendAnswer<ImportPath>;

/** A larger file does not fit the limit of a request. */
const fileBytesMax = 15 * 1024 * 1024;
const previewShown = 5;

const forms: readonly { readonly value: Form; readonly title: string }[] = [
  { value: 'tracejury', title: 'tracejury: YAML, JSON, JSON lines or CSV' },
  { value: 'deepeval', title: 'DeepEval: goldens or test cases' },
  { value: 'agentevals', title: 'agentevals: reference trajectories' },
  { value: 'adk', title: 'Agent Development Kit: eval sets' },
  { value: 'dokimos', title: 'Dokimos: datasets' },
  { value: 'langsmith', title: 'LangSmith: JSON, JSON lines or CSV' },
  { value: 'braintrust', title: 'Braintrust: JSON, JSON lines or CSV' },
  { value: 'phoenix', title: 'Phoenix: CSV' },
];

export interface ImportDialogProps {
  /** Without it, the dialog asks for the name. */
  readonly dataset?: { readonly name: string; readonly tenant: string; readonly version: number } | undefined;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

export function ImportDialog({ dataset, isOpen, onClose, onDone }: ImportDialogProps) {
  return (
    <Dialog title={dataset === undefined ? 'Import a dataset' : `Import into ${dataset.name}`} isOpen={isOpen} onClose={onClose}>
      <ImportForm dataset={dataset} onClose={onClose} onDone={onDone} />
    </Dialog>
  );
}

interface Given {
  readonly name: string;
  readonly form: Form;
  readonly file: string;
  readonly text: string;
  readonly split: string;
  readonly tags: string;
  readonly isDistinct: boolean;
  readonly keeps: boolean;
}

function ImportForm({ dataset, onClose, onDone }: Pick<ImportDialogProps, 'dataset' | 'onClose' | 'onDone'>) {
  const api = useApi();
  const by = useOwnName();
  const [given, setGiven] = useState<Given>({
    name: dataset?.name ?? '',
    form: 'tracejury',
    file: '',
    text: '',
    split: '',
    tags: '',
    isDistinct: false,
    keeps: false,
  });
  const [faults, setFaults] = useState<{ readonly name?: string | undefined; readonly file?: string | undefined }>({});
  const [checked, setChecked] = useState<Answer>();
  const [written, setWritten] = useState<Answer>();
  const sending = useSend();
  const change = (changes: Partial<Given>): void => {
    setGiven((before) => ({ ...before, ...changes }));
    setChecked(undefined);
  };

  async function send(isCheck: boolean): Promise<void> {
    const name = given.name.trim();
    const wrong = { name: datasetNameFault(name), file: given.text === '' ? 'Choose a file that is not empty.' : undefined };
    setFaults(wrong);
    if (wrong.name !== undefined || wrong.file !== undefined) return;
    await sending.send(async () => {
      const answer = await api.send('POST /datasets/{name}/import', {
        path: { name },
        query: { tenant: dataset?.tenant },
        body: {
          text: given.text,
          form: given.form,
          file: given.file,
          ...placeOf(given),
          check: isCheck,
          distinct: given.isDistinct,
          replace: !given.keeps,
          by,
        },
      });
      if (isCheck) setChecked(answer);
      else {
        setWritten(answer);
        onDone();
      }
    });
  }

  if (written !== undefined) return <ImportDone name={given.name.trim()} tenant={dataset?.tenant} answer={written} onClose={onClose} />;
  return (
    <DialogForm
      action={checked === undefined ? 'Check the file' : `Import ${examplesText(checked.examples)}`}
      doing={checked === undefined ? 'Reading …' : 'Importing …'}
      sending={sending}
      isReady={checked?.examples !== 0}
      onSubmit={() => send(checked === undefined)}
      onClose={onClose}
    >
      {dataset === undefined ? (
        <DatasetField
          hint="Letters, digits, dots, underscores and hyphens. A new name makes a dataset."
          fault={faults.name}
          value={given.name}
          onChange={(name) => change({ name })}
        />
      ) : null}
      <FileField fault={faults.file} onFile={(file, text) => change({ file, text })} onFault={(file) => setFaults({ file })} />
      <ChoiceField label="Form of the file" value={given.form} options={forms} onChange={(form) => change({ form: form as Form })} />
      <SplitAndTags
        split={given.split}
        tags={given.tags}
        splitHint="Used for examples that name none. Optional."
        tagsHint="Separated by commas; they come beside the tags in the file."
        onChange={change}
      />
      <CheckField label="Keep examples whose id the dataset has" isChecked={given.keeps} onChange={(keeps) => change({ keeps })} />
      <CheckField
        label="Leave out examples whose input another one has"
        isChecked={given.isDistinct}
        onChange={(isDistinct) => change({ isDistinct })}
      />
      {checked === undefined ? null : <Checked answer={checked} keeps={given.keeps} />}
    </DialogForm>
  );
}

interface FileFieldProps {
  readonly fault: string | undefined;
  readonly onFile: (name: string, text: string) => void;
  readonly onFault: (fault: string) => void;
}

function FileField({ fault, onFile, onFault }: FileFieldProps) {
  const id = useId();
  const [chosen, setChosen] = useState<File>();
  useEffect(() => {
    if (chosen === undefined) return undefined;
    let isGone = false;
    if (chosen.size > fileBytesMax) {
      onFault(`The file has ${bytesText(chosen.size)}; at most ${bytesText(fileBytesMax)} fit. Use tracejury dataset import.`);
      return undefined;
    }
    chosen.text().then(
      (text) => {
        if (!isGone) onFile(chosen.name, text);
      },
      () => {
        if (!isGone) onFault('The file cannot be read.');
      },
    );
    return () => {
      isGone = true;
    };
  }, [chosen]);
  return (
    <div class="form-field">
      <label class="form-field">
        File
        <input
          type="file"
          accept=".json,.jsonl,.ndjson,.yaml,.yml,.csv,.txt"
          aria-describedby={fault === undefined ? undefined : `${id}-fault`}
          aria-invalid={fault === undefined ? undefined : true}
          onChange={(event) => setChosen(event.currentTarget.files?.[0])}
        />
      </label>
      {fault === undefined ? null : (
        <span id={`${id}-fault`} class="hint fault" role="alert">
          {fault}
        </span>
      )}
    </div>
  );
}

function Checked({ answer, keeps }: { readonly answer: Answer; readonly keeps: boolean }) {
  const { examples, entries_left_out: left, preview } = answer;
  const shown = preview.slice(0, previewShown);
  return (
    <section class="box" role="status">
      <div class="text stack">
        <p>
          <strong>The file has {examplesText(examples)}.</strong>
          {presentText(answer, keeps)}
        </p>
        {left.length === 0 ? null : (
          <p>
            {left.length} {left.length === 1 ? 'entry is' : 'entries are'} left out: {lineText(left.join('; '), 500)}
          </p>
        )}
        <ol class="preview">
          {shown.map((example) => (
            <li key={String(example.id)}>
              {lineText(inputText(example.input), 120)}{' '}
              <span class="dim">{lineText(expectationText(example as object as never), 120)}</span>
            </li>
          ))}
        </ol>
        {examples > shown.length ? <p class="dim">… and {examples - shown.length} more</p> : null}
      </div>
    </section>
  );
}

interface ImportDoneProps {
  readonly name: string;
  readonly tenant: string | undefined;
  readonly answer: Answer;
  readonly onClose: () => void;
}

function ImportDone({ name, tenant, answer: { written }, onClose }: ImportDoneProps) {
  return (
    <div class="stack" role="status">
      {written === null ? null : (
        <>
          {additionTexts([written]).map((text) => (
            <p key={text}>{text}</p>
          ))}
          <p>The dataset has version {written.version}.</p>
        </>
      )}
      <DialogDone href={pageAddress(`/datasets/${name}`, { tenant })} link={`Open ${name}`} onClose={onClose} />
    </div>
  );
}
