/** Short messages at the edge of the page, which a screen reader reads out. */
import { useCallback, useContext, useEffect, useRef, useState } from 'preact/hooks';
import { AppContext } from './app-context.ts';

export interface Toast {
  readonly id: number;
  readonly text: string;
  readonly kind: 'done' | 'failed';
}

/** Messages at a time; the oldest goes first. */
const toastsMax = 4;
const shownForMs = 8_000;

export function useToast(): (text: string, kind?: Toast['kind']) => void {
  return useContext(AppContext).toast;
}

export interface ToastList {
  readonly toasts: readonly Toast[];
  readonly add: (text: string, kind?: Toast['kind']) => void;
  readonly remove: (id: number) => void;
}

export function useToastList(): ToastList {
  const [toasts, setToasts] = useState<readonly Toast[]>([]);
  const last = useRef(0);
  const remove = useCallback((id: number) => setToasts((before) => before.filter((one) => one.id !== id)), []);
  const add = useCallback((text: string, kind: Toast['kind'] = 'done') => {
    last.current += 1;
    const id = last.current;
    setToasts((before) => [...before, { id, text, kind }].slice(-toastsMax));
  }, []);
  return { toasts, add, remove };
}

export function Toasts({ toasts, remove }: Pick<ToastList, 'toasts' | 'remove'>) {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.map((toast) => (
        <ToastMessage key={toast.id} toast={toast} remove={remove} />
      ))}
    </div>
  );
}

function ToastMessage({ toast: { id, text, kind }, remove }: { readonly toast: Toast; readonly remove: (id: number) => void }) {
  useEffect(() => {
    const timer = setTimeout(() => remove(id), shownForMs);
    return () => clearTimeout(timer);
  }, [id, remove]);
  return (
    <div class={`toast ${kind}`}>
      <span>{text}</span>
      <button type="button" class="plain" aria-label="Close the message" onClick={() => remove(id)}>
        ×
      </button>
    </div>
  );
}
