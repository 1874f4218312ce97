/** The editor of an example. The API checks the example, and the editor shows each fault at its field. A fault keeps the typed text. */
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiFailure } from '../../api/client.ts';
import { failureOf, useApi } from '../../api/use-api.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import { CheckField, ChoiceField, TextField, type TextFieldProps } from '../../parts/fields.tsx';
import { lineText } from '../../parts/format.ts';
import { useOwnName } from '../../parts/session.tsx';
import { useToast } from '../../parts/toast.tsx';
import type { DatasetKey } from './dataset-key.ts';
import { CallsField } from './calls-field.tsx';
import { EditConflict, type Theirs } from './edit-conflict.tsx';
import { apiFaults, emptyForm, type ExampleForm, exampleOf, type FormFaults, type FormField, formOf } from './example-form.ts';
import { type ExampleBody, memberDifferences } from './example-members.ts';
import { useUnsavedExamples } from './unsaved-example.ts';

export interface ExampleEditorProps {
  readonly datasetKey: DatasetKey;
  readonly id: string;
  /** The example when the editor opened. */
  readonly base: ExampleBody;
  /** Default: what the person has typed before and not saved, or the fields of `base`. */
  readonly form?: ExampleForm;
  /** Version of `base`; 0 for a new example. */
  readonly since: number;
  readonly isReadOnly: boolean;
  readonly onSaved: (example: ExampleBody, since: number) => void;
  /** Puts another body into the editor, and drops what was typed. */
  readonly onTake?: (example: ExampleBody, since: number) => void;
}

const noFaults: ReadonlyMap<FormField, string> = new Map();

export function ExampleEditor({ datasetKey, id, base, form: given, since, isReadOnly, onSaved, onTake }: ExampleEditorProps) {
  const { name, tenant } = datasetKey;
  const api = useApi();
  const by = useOwnName();
  const toast = useToast();
  const unsaved = useUnsavedExamples(datasetKey);
  const kept = useMemo(() => (given === undefined && !isReadOnly ? unsaved.get(keyOf(id, since)) : undefined), []);
  const first = useMemo(() => (since === 0 ? emptyForm : formOf(base)), []);
  const [form, setForm] = useState(given ?? kept?.form ?? first);
  const [note, setNote] = useState(kept?.note ?? '');
  const [faults, setFaults] = useState<FormFaults>(noFaults);
  const [error, setError] = useState<ApiFailure>();
  const [theirs, setTheirs] = useState<Theirs>();
  const [isSending, setSending] = useState(false);
  const isChanged = JSON.stringify(form) !== JSON.stringify(first);
  const change = (changes: Partial<ExampleForm>): void => setForm((before) => ({ ...before, ...changes }));

  const isSaved = useRef(false);
  useLayoutEffect(() => {
    if (isReadOnly || isSaved.current) return;
    if (isChanged) unsaved.keep(keyOf(id, since), { id, base, since, form, note });
    else unsaved.drop(keyOf(id, since));
  }, [id, form, note]);
  // The page is left: what is said depends on the last text.
  const isLeft = useRef(false);
  isLeft.current = isChanged;
  useEffect(
    () => () => {
      if (isLeft.current && unsaved.get(keyOf(id, since)) !== undefined)
        toast(`The edits${id === '' ? '' : ` of ${lineText(id, 60)}`} are not saved. They stay until you close the tab.`);
    },
    [],
  );

  async function conflictOf(failure: ApiFailure): Promise<void> {
    try {
      const found = await api.get('/datasets/{name}/examples/{id}', { path: { name, id }, query: { tenant } });
      setTheirs({ body: found, since: found.since });
    } catch (reason) {
      const why = failureOf(reason);
      if (why.status === 404) setTheirs({ body: undefined, since: 0 });
      else setError(failure);
    }
  }

  async function save(of: ExampleForm, basedOn: number): Promise<void> {
    const { example, faults: found } = exampleOf(of);
    const wrong: FormFaults = id === '' ? new Map([...found, ['id', 'Write an id.']]) : found;
    setFaults(wrong);
    setError(undefined);
    if (wrong.size > 0) return;
    setSending(true);
    try {
      const said = note.trim();
      const { version } = await api.send('PUT /datasets/{name}/examples/{id}', {
        path: { name, id },
        query: { tenant },
        body: { example, since: basedOn, ...(said === '' ? {} : { note: said }), by },
      });
      // The stored example may differ from the sent one, because the service redacts.
      const stored = await api.get('/datasets/{name}/examples/{id}', { path: { name, id }, query: { tenant } });
      toast(stored.since === version ? `Saved as version ${version}.` : 'Nothing was changed.');
      setTheirs(undefined);
      isSaved.current = true;
      unsaved.drop(keyOf(id, since));
      onSaved(stored, stored.since);
    } catch (reason) {
      const failure = failureOf(reason);
      const at = apiFaults(failure.message);
      setFaults(at);
      if (failure.status === 409 && failure.code === 'conflict') await conflictOf(failure);
      else if (at.size === 0) setError(failure);
      else
        setError(
          new ApiFailure({
            status: failure.status,
            code: failure.code,
            message: 'Some fields have faults.',
            todo: 'Each fault is shown at its field.',
          }),
        );
    }
    setSending(false);
  }

  const reviewed = { ...form, isDraft: false };
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void save(form, since);
      }}
    >
      {faults.get('id') === undefined ? null : (
        <p class="box failed" role="alert">
          {faults.get('id')}
        </p>
      )}
      <fieldset disabled={isReadOnly} class="editor">
        <ExampleFields form={form} faults={faults} change={change} />
      </fieldset>
      {theirs === undefined ? null : (
        <EditConflict
          base={base}
          theirs={theirs}
          mine={exampleOf(form).example}
          onOverwrite={() => void save(form, theirs.since)}
          {...(onTake === undefined || theirs.body === undefined ? {} : { onTake: () => onTake(theirs.body ?? {}, theirs.since) })}
        />
      )}
      {error === undefined ? null : <ErrorBox error={error} />}
      {isReadOnly ? null : (
        <>
          <TextField label="Why" hint="A note for the history. May stay empty." value={note} charsMax={1_000} onChange={setNote} />
          <div class="row save">
            {form.isDraft ? (
              <button type="button" class="primary" disabled={isSending} onClick={() => void save(reviewed, since)}>
                Save as reviewed
              </button>
            ) : null}
            <button type="submit" class={form.isDraft ? undefined : 'primary'} disabled={isSending || (!isChanged && since !== 0)}>
              {form.isDraft ? 'Save as draft' : 'Save'}
            </button>
            {isChanged ? (
              <>
                <button
                  type="button"
                  onClick={() => {
                    setForm(first);
                    setFaults(noFaults);
                    setTheirs(undefined);
                  }}
                >
                  Undo all edits
                </button>
                <span class="dim" role="status">
                  {changedText(base, form)}
                </span>
              </>
            ) : null}
          </div>
        </>
      )}
    </form>
  );
}

/** Key of an example; the id of a new one may still change. */
function keyOf(id: string, since: number): string {
  return since === 0 ? '' : id;
}

function changedText(base: ExampleBody, form: ExampleForm): string {
  const members = memberDifferences(base, exampleOf(form).example).map(({ member }) => member.replace(/^expect\./, ''));
  return members.length === 0 ? 'Only spaces differ.' : `Changed: ${members.join(', ')}.`;
}

interface ExampleFieldsProps {
  readonly form: ExampleForm;
  readonly faults: FormFaults;
  readonly change: (changes: Partial<ExampleForm>) => void;
}

type TextMember = { readonly [Name in keyof ExampleForm]: string extends ExampleForm[Name] ? Name : never }[keyof ExampleForm];

/** Gives the field of a member, with its text and its fault. */
function textFields({ form, faults, change }: ExampleFieldsProps) {
  return (name: TextMember, label: string, more: Partial<TextFieldProps> = {}) => (
    <TextField label={label} fault={faults.get(name)} value={form[name]} onChange={(text) => change({ [name]: text })} {...more} />
  );
}

function ExampleFields({ form, faults, change }: ExampleFieldsProps) {
  const field = textFields({ form, faults, change });
  return (
    <>
      <section class="stack card" aria-label="Input">
        <h3>Input</h3>
        <ChoiceField
          label="Kind"
          value={form.isJsonInput ? 'json' : 'text'}
          options={[
            { value: 'text', title: 'a text' },
            { value: 'json', title: 'JSON: the conversation so far, or named inputs' },
          ]}
          onChange={(kind) => change({ isJsonInput: kind === 'json' })}
        />
        {field('input', 'Input of the agent', { rows: rowsOf(form.input), isCode: form.isJsonInput })}
      </section>
      <section class="stack card" aria-label="Expectation">
        <h3>What the run should do</h3>
        <CallsField form={form} fault={faults.get('calls')} change={change} />
        {field('output', 'Answer', {
          hint: 'exact_match wants these very words. Leave it empty for an answer in free words, and name an evaluator below.',
          rows: rowsOf(form.output),
        })}
        {field('tasks', 'Tasks', { hint: 'The tasks that the user wants done, one per line.', rows: 2 })}
        {field('constraints', 'Constraints', { rows: 2 })}
        <CheckField
          label="Draft: the expectation still has to be edited"
          isChecked={form.isDraft}
          onChange={(isDraft) => change({ isDraft })}
        />
      </section>
      <section class="two-fields" aria-label="Place in the dataset">
        {field('split', 'Split', { charsMax: 200 })}
        {field('tags', 'Tags', { hint: 'Separated by commas.', charsMax: 5_000 })}
      </section>
      <MoreMembers form={form} faults={faults} change={change} />
    </>
  );
}

/** Fields that few examples have. */
function MoreMembers(props: ExampleFieldsProps) {
  const { form, faults } = props;
  const field = textFields(props);
  const json = (name: TextMember, label: string, hint?: string) =>
    field(name, `${label} (JSON)`, { hint, rows: Math.min(12, rowsOf(form[name])), isCode: true });
  const hasMore = [form.tools, form.evaluators, form.metadata, form.timeout, form.otherExpectation].some((text) => text !== '');
  const isAtFault = (['tools', 'evaluators', 'metadata', 'timeout', 'otherExpectation'] as const).some((name) => faults.has(name));
  return (
    <details class="card" open={isAtFault || undefined}>
      <summary>{hasMore ? 'More members (some are set)' : 'More members'}</summary>
      <div class="stack">
        {json('otherExpectation', 'Other expectations', 'As tool_calls_count, context or messages.')}
        {json('evaluators', 'Evaluators', 'A list of names or entries as in the configuration; it replaces the configured evaluators.')}
        {json('tools', 'Tool definitions')}
        {json('metadata', 'Notes', 'Notes are for people; no evaluator reads them.')}
        {field('timeout', 'Limit of one run, in seconds')}
      </div>
    </details>
  );
}

const rowsMin = 3;
const rowsMax = 16;
/** Characters in a line of a field as wide as a page. */
const lineChars = 110;

function rowsOf(text: string): number {
  const lines = text
    .slice(0, 10_000)
    .split('\n')
    .reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / lineChars)), 0);
  return Math.min(rowsMax, Math.max(rowsMin, lines));
}
