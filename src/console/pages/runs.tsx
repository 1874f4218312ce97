/** Runs, newest first, with every filter in the address. */
import { useMemo } from 'preact/hooks';
import { useList } from '../api/use-api.ts';
import { pageAddress } from '../parts/address.ts';
import { AnswerState } from '../parts/answer-state.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { FilterBar } from '../parts/filter-bar.tsx';
import { countText } from '../parts/format.ts';
import { PageFrame } from '../parts/page-frame.tsx';
import { useRunList } from '../parts/run-list.tsx';
import { useTimeRange } from '../parts/time-range-picker.tsx';
import { useAddress } from '../parts/use-address.ts';
import { useSelection } from '../parts/use-selection.ts';
import { runColumns } from './runs/columns.tsx';
import { type Run, runAddress, runFilters, runKey, runsQuery } from './runs/filters.ts';
import { isFirstSteps, FirstSteps } from './runs/first-steps.tsx';
import { useLiveRuns } from './runs/live-runs.ts';
import { RunActions } from './runs/run-actions.tsx';

export function Runs() {
  const { query, change } = useAddress();
  const { from, to } = useTimeRange();
  const filter = useMemo(() => runsQuery(query, { from, to }), [JSON.stringify(query), from, to]);
  const { rows: stored, isLoading, error, more, hasMore, reload } = useList('/runs', 'runs', { query: { ...filter, limit: 100 } });
  const isLive = query['live'] === 'on' && to === undefined;
  const live = useLiveRuns(filter, isLive);
  const rows = useMemo(() => merged(live.rows, stored), [live.rows, stored]);
  const { selection, selected, clear } = useSelection(rows, runKey);
  useRunList(useMemo(() => rows.map(runAddress), [rows]));
  const isFirst = isFirstSteps({ query, isLoading, rows });

  return (
    <PageFrame
      title="Runs"
      isFull
      actions={
        <>
          <span class="dim small" role="status">
            {isLive ? liveText(live) : ''}
          </span>
          <button
            type="button"
            aria-pressed={isLive}
            disabled={to !== undefined}
            onClick={() => change({ live: isLive ? undefined : 'on' })}
          >
            Live
          </button>
        </>
      }
    >
      <FilterBar filters={runFilters} />
      <AnswerState of={{ rows, isLoading, error, reload }} what="the runs" />
      {selected.length > 0 ? <RunActions runs={selected} onDone={clear} /> : null}
      {rows.length > 0 ? (
        <DataTable
          caption="Runs, newest first"
          name="runs"
          columns={runColumns}
          rows={rows}
          rowKey={runKey}
          href={runAddress}
          selection={selection}
          onEnd={more}
          onHover={live.hold}
          isLong
        />
      ) : isLoading ? null : isFirst ? (
        <FirstSteps onLoaded={reload} />
      ) : error === undefined && hasMore ? (
        <EmptyState title="None of the newest runs matches">
          <p>The service has examined as many runs as it does at once.</p>
          <button type="button" onClick={more}>
            Search older runs
          </button>
        </EmptyState>
      ) : error === undefined ? (
        <EmptyState title="No run matches">
          <p>
            Choose a longer time, or clear a filter. <a href={pageAddress('/runs', { range: '30d' })}>Show all runs of 30 days.</a>
          </p>
        </EmptyState>
      ) : null}
    </PageFrame>
  );
}

/** Live rows stand before those of the list; a newer revision replaces the row that it is about. */
function merged(live: readonly Run[], stored: readonly Run[]): readonly Run[] {
  if (live.length === 0) return stored;
  const known = new Map(live.map((run) => [runKey(run), run]));
  const first = stored.map((run) => {
    const newer = known.get(runKey(run));
    known.delete(runKey(run));
    return newer ?? run;
  });
  return [...[...known.values()].toSorted((one, other) => (one.started_at < other.started_at ? 1 : -1)), ...first];
}

function liveText({ held, leftOut, isOpen }: { readonly held: number; readonly leftOut: number; readonly isOpen: boolean }): string {
  if (!isOpen) return 'Connecting …';
  if (held > 0) return `${countText(held)} new, paused under the pointer`;
  return leftOut > 0 ? `Live; ${countText(leftOut)} came too fast and are left out` : 'Live';
}
