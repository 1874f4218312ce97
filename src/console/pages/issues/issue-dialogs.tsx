/** Dialogs that decide on issues: resolve, ignore, or merge. */
import { useState } from 'preact/hooks';
import type { ApiClient, Sends } from '../../api/client.ts';
import { useApi, useGet } from '../../api/use-api.ts';
import { useSend } from '../../api/use-send.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { ChoiceField, TextField } from '../../parts/fields.tsx';
import { countText, lineText } from '../../parts/format.ts';
import { useOwnName } from '../../parts/session.tsx';
import type { Issue } from './issue-text.ts';

type Decision = Sends['PATCH /issues/{id}']['body'];

export interface IssueDialogProps {
  /** Issues that the decision is about. */
  readonly issues: readonly Issue[];
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const noteCharsMax = 1_000;

/** One issue after the other: the dialog shows the first failure, and a second try repeats the others without harm. */
export async function decide(api: ApiClient, issues: readonly Issue[], decision: Decision): Promise<void> {
  for (const { id } of issues) await api.send('PATCH /issues/{id}', { path: { id }, body: decision });
}

function titleOf(verb: string, issues: readonly Issue[]): string {
  return issues.length === 1 ? `${verb} the issue` : `${verb} ${countText(issues.length)} issues`;
}

const fixes = [
  { value: 'next', title: 'in the next version' },
  { value: 'version', title: 'in a version' },
  { value: 'now', title: 'for all runs that begin later' },
] as const;

export function ResolveDialog({ issues, onClose, onDone }: IssueDialogProps) {
  const api = useApi();
  const by = useOwnName();
  const sending = useSend();
  const [fix, setFix] = useState<string>('next');
  const [version, setVersion] = useState('');
  const [note, setNote] = useState('');

  async function resolve(): Promise<void> {
    const where = fix === 'next' ? { next_version: true } : fix === 'version' ? { version: version.trim() } : {};
    if (await sending.send(() => decide(api, issues, { state: 'resolved', ...where, note: note.trim(), by }))) onDone();
  }

  return (
    <Dialog title={titleOf('Resolve', issues)} isOpen onClose={onClose}>
      <DialogForm
        action="Resolve"
        sending={sending}
        isReady={fix !== 'version' || version.trim() !== ''}
        onSubmit={resolve}
        onClose={onClose}
      >
        <p>It regresses when a run has it that should not have it any more. Late runs of older versions change nothing.</p>
        <ChoiceField label="Fixed" value={fix} options={fixes} onChange={setFix} />
        {fix === 'version' ? <TextField label="Version" value={version} onChange={setVersion} charsMax={200} /> : null}
        <TextField label="Note" value={note} onChange={setNote} charsMax={noteCharsMax} />
      </DialogForm>
    </Dialog>
  );
}

const daysMs = 86_400_000;
const pauses = [
  { value: '', title: 'for good' },
  { value: '1', title: 'for a day' },
  { value: '7', title: 'for a week' },
  { value: '30', title: 'for 30 days' },
  { value: 'runs', title: 'until more runs have it' },
] as const;

export function IgnoreDialog({ issues, onClose, onDone }: IssueDialogProps) {
  const api = useApi();
  const by = useOwnName();
  const sending = useSend();
  const [pause, setPause] = useState<string>('');
  const [more, setMore] = useState('100');
  const [note, setNote] = useState('');
  const count = /^[1-9]\d{0,9}$/.test(more.trim()) ? Number(more) : undefined;

  async function ignore(): Promise<void> {
    const until = pause === '' || pause === 'runs' ? {} : { until: new Date(Date.now() + Number(pause) * daysMs).toISOString() };
    const isSent = await sending.send(async () => {
      for (const issue of issues)
        await decide(api, [issue], {
          state: 'ignored',
          ...until,
          ...(pause === 'runs' ? { until_runs: issue.runs + (count ?? 0) } : {}),
          note: note.trim(),
          by,
        });
    });
    if (isSent) onDone();
  }

  return (
    <Dialog title={titleOf('Ignore', issues)} isOpen onClose={onClose}>
      <DialogForm action="Ignore" sending={sending} isReady={pause !== 'runs' || count !== undefined} onSubmit={ignore} onClose={onClose}>
        <p>Its runs still count. It opens again by itself when the time or the number of runs is reached.</p>
        <ChoiceField label="How long" value={pause} options={pauses} onChange={setPause} />
        {pause === 'runs' ? (
          <TextField
            label="Further runs"
            value={more}
            fault={count === undefined ? 'Write a whole number above 0.' : undefined}
            onChange={setMore}
          />
        ) : null}
        <TextField label="Note" value={note} onChange={setNote} charsMax={noteCharsMax} />
      </DialogForm>
    </Dialog>
  );
}

/** Issues that one may choose from. */
const targetsMax = 100;

export function MergeDialog({ issue, onClose, onDone }: { readonly issue: Issue } & Omit<IssueDialogProps, 'issues'>) {
  const { tenant, evaluator } = issue;
  const found = useGet('/issues', { query: { tenant, evaluator, agent: issue.agent ?? undefined, limit: targetsMax } });
  const targets = (found.value?.issues ?? []).filter(({ id, agent }) => id !== issue.id && agent === issue.agent);
  return (
    <Dialog title="Merge the issue into another one" isOpen onClose={onClose}>
      {found.value === undefined || found.error !== undefined ? (
        <AnswerState of={found} what="the issues" />
      ) : targets.length === 0 ? (
        <p>The agent has no other issue of {evaluator}.</p>
      ) : (
        <MergeForm issue={issue} targets={targets} onClose={onClose} onDone={onDone} />
      )}
    </Dialog>
  );
}

interface MergeFormProps extends Omit<IssueDialogProps, 'issues'> {
  readonly issue: Issue;
  readonly targets: readonly Issue[];
}

function MergeForm({ issue, targets, onClose, onDone }: MergeFormProps) {
  const api = useApi();
  const by = useOwnName();
  const sending = useSend();
  const [into, setInto] = useState(targets[0]?.id ?? '');

  async function merge(): Promise<void> {
    if (await sending.send(() => decide(api, [issue], { state: 'merged', into, by }))) onDone();
  }

  return (
    <DialogForm action="Merge" sending={sending} onSubmit={merge} onClose={onClose}>
      <p>Its runs count with the other issue, also later ones. It cannot be undone.</p>
      <ChoiceField
        label="Into"
        value={into}
        options={targets.map(({ id, title }) => ({ value: id, title: lineText(title, 120) }))}
        onChange={setInto}
      />
    </DialogForm>
  );
}
