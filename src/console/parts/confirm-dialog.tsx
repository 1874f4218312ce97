/** Asks before something that cannot be undone. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { ApiFailure } from '../api/client.ts';
import { Dialog } from './dialog.tsx';
import { ErrorBox } from './error-box.tsx';

export interface ConfirmDialogProps {
  readonly title: string;
  /** Text of the button. */
  readonly action: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** Resolves with the failure that the dialog shows; `undefined` closes it. */
  readonly onConfirm: () => Promise<ApiFailure | undefined>;
  readonly children: ComponentChildren;
}

export function ConfirmDialog({ title, action, isOpen, onClose, onConfirm, children }: ConfirmDialogProps) {
  const [error, setError] = useState<ApiFailure>();
  const [isSending, setSending] = useState(false);
  async function confirm(): Promise<void> {
    setSending(true);
    const failure = await onConfirm();
    setSending(false);
    setError(failure);
    if (failure === undefined) onClose();
  }
  return (
    <Dialog title={title} isOpen={isOpen} onClose={onClose}>
      <div class="stack">
        {children}
        {error === undefined ? null : <ErrorBox error={error} />}
        <div class="row">
          <button type="button" class="primary" disabled={isSending} onClick={() => void confirm()}>
            {action}
          </button>
          <button type="button" onClick={onClose}>
            Cancel
          </button>
        </div>
      </div>
    </Dialog>
  );
}
