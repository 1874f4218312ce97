/** Keys: the hook that binds them, the listener, and the list that `?` opens. */
import { useContext, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { AppContext } from './app-context.ts';
import { Dialog } from './dialog.tsx';
import { isCommand, type KeyBinding } from './key-registry.ts';

/** Binds keys while the component is on screen: from the turn that draws it on, so that no key of a quick person is lost. */
export function useKeys(bindings: readonly KeyBinding[]): void {
  const { keys } = useContext(AppContext);
  const latest = useRef(bindings);
  latest.current = bindings;
  useLayoutEffect(() => keys.add(() => latest.current), [keys]);
}

/** Listens for keys of the whole page, and shows the list of keys. */
export function KeyboardHelp({
  isOpen,
  onOpen,
  onClose,
}: {
  readonly isOpen: boolean;
  readonly onOpen: () => void;
  readonly onClose: () => void;
}) {
  const { keys } = useContext(AppContext);
  const [listed, setListed] = useState<readonly KeyBinding[]>([]);
  useKeys([
    { key: '?', does: 'Shows this list', run: onOpen },
    { key: '/', does: 'Goes to the search', run: focusSearch },
  ]);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const on = document.activeElement;
      const isMeant = isCommand({
        key: event.key,
        ctrlKey: event.ctrlKey,
        metaKey: event.metaKey,
        altKey: event.altKey,
        isComposing: event.isComposing,
        on: {
          tag: on?.tagName ?? '',
          type: on instanceof HTMLInputElement ? on.type : '',
          isEditable: on instanceof HTMLElement && on.isContentEditable,
        },
      });
      // A dialog keeps the page behind it still.
      if (!isMeant || document.querySelector('dialog[open]') !== null) return;
      if (keys.press(event.key)) event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [keys]);
  useEffect(() => {
    if (isOpen) setListed(keys.list());
  }, [isOpen, keys]);

  return (
    <Dialog title="Keys" isOpen={isOpen} onClose={onClose}>
      <dl class="key-list">
        {listed.map(({ key, does }) => (
          <>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </>
        ))}
      </dl>
    </Dialog>
  );
}

/** The search field of the page has the attribute `data-search`. */
function focusSearch(): void | false {
  const field = document.querySelector<HTMLElement>('[data-search]');
  if (field === null) return false;
  field.focus();
  return undefined;
}
