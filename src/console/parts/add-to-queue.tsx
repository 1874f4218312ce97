/** The dialog that puts runs into a queue. Afterwards it lists the added runs, those that were in it already, and those that failed. */
import { useState } from 'preact/hooks';
import type { Schemas } from '../api/client.ts';
import { useApi, useGet } from '../api/use-api.ts';
import { useSend } from '../api/use-send.ts';
import { AnswerState } from './answer-state.tsx';
import { Dialog, DialogDone } from './dialog.tsx';
import { DialogForm } from './dialog-form.tsx';
import { ChoiceField, TextField } from './fields.tsx';
import { countText } from './format.ts';
import { type QueueAddition, queueAdditionTexts } from './queue/queue-additions.ts';
import { type RunReference, runRequests, runsText } from './run-requests.ts';
import { useOwnName } from './session.tsx';

export interface AddToQueueProps {
  readonly runs: readonly RunReference[];
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

export function AddToQueue({ runs, isOpen, onClose }: AddToQueueProps) {
  return (
    <Dialog title={`Put ${runsText(runs.length)} into a queue`} isOpen={isOpen} onClose={onClose}>
      <Queues runs={runs} onClose={onClose} />
    </Dialog>
  );
}

function Queues({ runs, onClose }: Pick<AddToQueueProps, 'runs' | 'onClose'>) {
  const found = useGet('/queues', {});
  const { value } = found;
  if (value === undefined || found.error !== undefined) return <AnswerState of={found} what="the queues" />;
  const queues = value.queues.filter(({ configured }) => configured);
  if (queues.length === 0)
    return (
      <p>
        The configuration has no queue. <a href="/queues">The page of queues</a> has the lines that make one.
      </p>
    );
  return <AdditionForm runs={runs} queues={queues} onClose={onClose} />;
}

interface AdditionFormProps extends Pick<AddToQueueProps, 'runs' | 'onClose'> {
  readonly queues: readonly Schemas['Queue'][];
}

function AdditionForm({ runs, queues, onClose }: AdditionFormProps) {
  const api = useApi();
  const by = useOwnName();
  const sending = useSend();
  const [name, setName] = useState(queues[0]?.name ?? '');
  const [note, setNote] = useState('');
  const [additions, setAdditions] = useState<readonly QueueAddition[]>([]);
  const [isDone, setDone] = useState(false);

  async function add(): Promise<void> {
    const why = note.trim();
    setAdditions([]);
    const isSent = await sending.send(async () => {
      for (const { tenant, runs: own } of runRequests(runs)) {
        const body = { runs: own, person: by, ...(why === '' ? {} : { note: why }) };
        const answer = await api.send('POST /queues/{name}/items', { path: { name }, query: { tenant }, body });
        setAdditions((before) => [...before, answer]);
      }
    });
    setDone(isSent);
  }

  const texts = queueAdditionTexts(additions);
  const said = (
    <div role="status">
      {texts.map((text) => (
        <p key={text}>{text}</p>
      ))}
    </div>
  );
  if (isDone)
    return (
      <div class="stack">
        {said}
        <DialogDone href={`/queues/${encodeURIComponent(name)}`} link={`Open ${name}`} onClose={onClose} />
      </div>
    );
  return (
    <DialogForm
      action={`Put ${runsText(runs.length)} into the queue`}
      doing="Adding …"
      sending={sending}
      isReady={runs.length > 0}
      onSubmit={add}
      onClose={onClose}
    >
      <ChoiceField
        label="Queue"
        value={name}
        options={queues.map(({ name: value, open, ask }) => ({
          value,
          title: `${value}: ${ask.map((question) => question.name).join(', ')} (${countText(open)} open)`,
        }))}
        onChange={setName}
      />
      <TextField label="Why" hint="Reviewers see it after their answer. May stay empty." value={note} charsMax={1_000} onChange={setNote} />
      {said}
    </DialogForm>
  );
}
