/** What can be done with the selected runs: keep them as examples, put them into a queue, take them along. */
import { useState } from 'preact/hooks';
import { addressOf } from '../../api/client.ts';
import { AddToDataset } from '../../parts/add-to-dataset.tsx';
import { useMay } from '../../parts/session.tsx';
import type { Run } from './filters.ts';

export interface RunActionsProps {
  readonly runs: readonly Run[];
  readonly onDone: () => void;
}

/** Runs of one change, as the API takes them, and of one file of spans. */
const runsAtOnceMax = 200;

export function RunActions({ runs, onDone }: RunActionsProps) {
  const mayAnnotate = useMay('annotate');
  const [isDatasetOpen, setDatasetOpen] = useState(false);
  const chosen = runs.slice(0, runsAtOnceMax);

  return (
    <div class="box" role="group" aria-label="Selected runs">
      <strong>
        {runs.length} selected{runs.length > runsAtOnceMax ? `, the first ${runsAtOnceMax} are used` : ''}
      </strong>
      {mayAnnotate ? (
        <button type="button" onClick={() => setDatasetOpen(true)}>
          Add to dataset …
        </button>
      ) : null}
      {byTenant(chosen).map(([tenant, own]) =>
        (['csv', 'otlp'] as const).map((format) => (
          <a key={`${tenant} ${format}`} class="button" href={exportAddress(tenant, own, format)} download>
            Save {tenant === '' ? '' : `those of ${tenant} `}as {format.toUpperCase()}
          </a>
        )),
      )}
      <button type="button" onClick={onDone}>
        Clear the selection
      </button>
      <AddToDataset runs={chosen} isOpen={isDatasetOpen} onClose={() => setDatasetOpen(false)} />
    </div>
  );
}

interface RunIds {
  readonly trace_id: string;
  readonly span_id: string;
}

/** A change of a dataset or a queue is about runs of one tenant. */
function byTenant(runs: readonly Run[]): readonly (readonly [tenant: string, runs: readonly RunIds[]])[] {
  const groups = Map.groupBy(runs, ({ tenant }) => tenant);
  return [...groups].map(([tenant, own]) => [tenant, own.map(({ trace_id, span_id }) => ({ trace_id, span_id }))]);
}

function exportAddress(tenant: string, runs: readonly RunIds[], format: 'csv' | 'otlp'): string {
  return addressOf('/runs/export', { query: { tenant, format, runs: runs.map((run) => `${run.trace_id}/${run.span_id}`).join(',') } });
}
