/** Asks before something that cannot be undone. */
import type { ComponentChildren } from 'preact';
import { useSend } from '../api/use-send.ts';
import { Dialog } from './dialog.tsx';
import { ErrorBox } from './error-box.tsx';

export interface ConfirmDialogProps {
  readonly title: string;
  /** Text of the button. */
  readonly action: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  /** The dialog closes when it resolves, and shows the failure when it rejects. */
  readonly onConfirm: () => Promise<void>;
  readonly children: ComponentChildren;
}

export function ConfirmDialog({ title, action, isOpen, onClose, onConfirm, children }: ConfirmDialogProps) {
  const { isSending, error, send } = useSend();
  async function confirm(): Promise<void> {
    if (await send(onConfirm)) onClose();
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
