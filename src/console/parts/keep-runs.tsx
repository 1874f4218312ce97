/** What keeps runs for later, as buttons and keys: examples of a dataset. Without the right to annotate there is nothing. */
import { useState } from 'preact/hooks';
import { AddToDataset } from './add-to-dataset.tsx';
import { useKeys } from './keyboard.tsx';
import type { RunReference } from './run-requests.ts';
import { useMay } from './session.tsx';

export function KeepRuns({ runs }: { readonly runs: readonly RunReference[] }) {
  const mayAnnotate = useMay('annotate');
  const [opened, setOpened] = useState<'dataset'>();
  const close = (): void => setOpened(undefined);
  useKeys(
    mayAnnotate
      ? [{ key: 'a', does: `Adds ${runs.length === 1 ? 'the run' : 'the selected runs'} to a dataset`, run: () => setOpened('dataset') }]
      : [],
  );
  if (!mayAnnotate) return null;
  return (
    <>
      <button type="button" onClick={() => setOpened('dataset')}>
        Add to dataset …
      </button>
      <AddToDataset runs={runs} isOpen={opened === 'dataset'} onClose={close} />
    </>
  );
}
