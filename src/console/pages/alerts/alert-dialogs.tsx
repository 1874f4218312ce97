/** Dialogs of an alert: silence it for a time, or note who looks after it. */
import { useState } from 'preact/hooks';
import { useApi } from '../../api/use-api.ts';
import { useSend } from '../../api/use-send.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogForm } from '../../parts/dialog-form.tsx';
import { CheckField, ChoiceField, TextField } from '../../parts/fields.tsx';
import { useOwnName } from '../../parts/session.tsx';
import { type Alert, silenceChoices } from './alert-text.ts';

export interface AlertDialogProps {
  readonly alert: Alert;
  readonly onClose: () => void;
  readonly onDone: () => void;
}

const noteCharsMax = 500;

export function SilenceDialog({ alert, onClose, onDone }: AlertDialogProps) {
  const api = useApi();
  const by = useOwnName();
  const sending = useSend();
  const [seconds, setSeconds] = useState<string>(silenceChoices[0].value);
  const [reason, setReason] = useState('');
  const [isOfAll, setOfAll] = useState(false);

  async function silence(): Promise<void> {
    const body = { seconds: Number(seconds), reason: reason.trim(), by, ...(isOfAll ? {} : { agent: alert.agent }) };
    const isSent = await sending.send(
      async () => void (await api.send('POST /alerts/{name}/silence', { path: { name: alert.name }, body })),
    );
    if (isSent) onDone();
  }

  return (
    <Dialog title={`Silence ${alert.name}`} isOpen onClose={onClose}>
      <DialogForm action="Silence" sending={sending} isReady={reason.trim() !== ''} onSubmit={silence} onClose={onClose}>
        <p>Its webhooks get no message until the silence ends. What still holds then is sent then.</p>
        <ChoiceField label="For" value={seconds} options={silenceChoices} onChange={setSeconds} />
        <TextField label="Reason" value={reason} onChange={setReason} charsMax={noteCharsMax} />
        <CheckField label="All agents of this alert" isChecked={isOfAll} onChange={setOfAll} />
      </DialogForm>
    </Dialog>
  );
}

export function AcknowledgeDialog({ alert, onClose, onDone }: AlertDialogProps) {
  const api = useApi();
  const by = useOwnName();
  const sending = useSend();
  const [note, setNote] = useState('');

  async function acknowledge(): Promise<void> {
    const body = { note: note.trim(), by, agent: alert.agent };
    const isSent = await sending.send(
      async () => void (await api.send('POST /alerts/{name}/acknowledge', { path: { name: alert.name }, body })),
    );
    if (isSent) onDone();
  }

  return (
    <Dialog title={`Acknowledge ${alert.name}`} isOpen onClose={onClose}>
      <DialogForm action="Acknowledge" sending={sending} onSubmit={acknowledge} onClose={onClose}>
        <p>Others see that you look after it. Its webhooks are not told again while it fires, and once when it is over.</p>
        <TextField label="Note" value={note} onChange={setNote} charsMax={noteCharsMax} />
      </DialogForm>
    </Dialog>
  );
}
