/** A modal dialog. The first field of its form has the focus. Escape and the button close it, and the focus goes back to where it was. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

export interface DialogProps {
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

export function Dialog({ title, isOpen, onClose, children }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    if (dialog === null) return;
    if (isOpen && !dialog.open) {
      dialog.showModal();
      dialog.querySelector<HTMLElement>('form :is(input, select, textarea)')?.focus();
    }
    if (!isOpen && dialog.open) dialog.close();
  }, [isOpen]);
  return (
    <dialog ref={element} aria-labelledby={id} onClose={onClose}>
      <header>
        <h2 id={id}>{title}</h2>
        <button type="button" onClick={() => element.current?.close()}>
          Close
        </button>
      </header>
      {isOpen ? children : null}
    </dialog>
  );
}

export interface DialogDoneProps {
  /** Address of the result. */
  readonly href: string;
  /** Text of the link, such as "Open the example". */
  readonly link: string;
  readonly onClose: () => void;
}

/** The buttons of a dialog that has done its work. */
export function DialogDone({ href, link, onClose }: DialogDoneProps) {
  return (
    <div class="row">
      <a class="button primary" href={href} onClick={onClose}>
        {link}
      </a>
      <button type="button" onClick={onClose}>
        Close
      </button>
    </div>
  );
}
