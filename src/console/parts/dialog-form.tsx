/** The form of a dialog: fields, the failure of the last attempt, and the buttons that send and cancel. */
import type { ComponentChildren } from 'preact';
import type { Sending } from '../api/use-send.ts';
import { ErrorBox } from './error-box.tsx';

export interface DialogFormProps {
  /** Text of the button that sends. */
  readonly action: string;
  /** Its text while the form is sent. */
  readonly doing?: string;
  readonly sending: Pick<Sending, 'isSending' | 'error'>;
  /** False when a required field is empty. */
  readonly isReady?: boolean;
  readonly onSubmit: () => Promise<void>;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function DialogForm({
  action,
  doing = action,
  sending: { isSending, error },
  isReady = true,
  onSubmit,
  onClose,
  children,
}: DialogFormProps) {
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault();
        void onSubmit();
      }}
    >
      {children}
      {error === undefined ? null : <ErrorBox error={error} />}
      <div class="row">
        <button type="submit" class="primary" disabled={isSending || !isReady}>
          {isSending ? doing : action}
        </button>
        <button type="button" onClick={onClose}>
          Cancel
        </button>
      </div>
    </form>
  );
}
