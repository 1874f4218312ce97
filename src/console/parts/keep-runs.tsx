/** Buttons and keys that keep runs for later: examples of a dataset, items of a queue. Without the right to annotate there is nothing. */
import { useState } from 'preact/hooks';
import { AddToDataset } from './add-to-dataset.tsx';
import { AddToQueue } from './add-to-queue.tsx';
import { useKeys } from './keyboard.tsx';
import type { RunReference } from './run-requests.ts';
import { useMay } from './session.tsx';

export function KeepRuns({ runs }: { readonly runs: readonly RunReference[] }) {
  const mayAnnotate = useMay('annotate');
  const [opened, setOpened] = useState<'dataset' | 'queue'>();
  const close = (): void => setOpened(undefined);
  const what = runs.length === 1 ? 'the run' : 'the selected runs';
  useKeys(
    mayAnnotate
      ? [
          { key: 'a', does: `Adds ${what} to a dataset`, run: () => setOpened('dataset') },
          { key: 'q', does: `Puts ${what} into a queue`, run: () => setOpened('queue') },
        ]
      : [],
  );
  if (!mayAnnotate) return null;
  return (
    <>
      <button type="button" onClick={() => setOpened('dataset')}>
        Add to dataset …
      </button>
      <button type="button" onClick={() => setOpened('queue')}>
        Put into queue …
      </button>
      <AddToDataset runs={runs} isOpen={opened === 'dataset'} onClose={close} />
      <AddToQueue runs={runs} isOpen={opened === 'queue'} onClose={close} />
    </>
  );
}
