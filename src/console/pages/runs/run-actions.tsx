/** Actions on the selected runs: keep them as examples, put them into a queue, download them. */
import { addressOf } from '../../api/client.ts';
import { KeepRuns } from '../../parts/keep-runs.tsx';
import { type RunRequest, runRequests } from '../../parts/run-requests.ts';
import type { Run } from './filters.ts';

export interface RunActionsProps {
  readonly runs: readonly Run[];
  readonly onDone: () => void;
}

/** Runs of one change, as the API takes them, and of one file of spans. */
const runsAtOnceMax = 200;

export function RunActions({ runs, onDone }: RunActionsProps) {
  const chosen = runs.slice(0, runsAtOnceMax);

  return (
    <div class="box" role="group" aria-label="Selected runs">
      <strong>
        {runs.length} selected{runs.length > runsAtOnceMax ? `, the first ${runsAtOnceMax} are used` : ''}
      </strong>
      <KeepRuns runs={chosen} />
      {runRequests(chosen).map(({ tenant, runs: own }) =>
        (['csv', 'otlp'] as const).map((format) => (
          <a key={`${tenant} ${format}`} class="button" href={exportAddress(tenant, own, format)} download>
            Save {tenant === '' ? '' : `those of ${tenant} `}as {format.toUpperCase()}
          </a>
        )),
      )}
      <button type="button" onClick={onDone}>
        Clear the selection
      </button>
    </div>
  );
}

function exportAddress(tenant: string, runs: RunRequest['runs'], format: 'csv' | 'otlp'): string {
  return addressOf('/runs/export', { query: { tenant, format, runs: runs.map((run) => `${run.trace_id}/${run.span_id}`).join(',') } });
}
