/** The first page: how the agents do, worst first. */
import { useGet } from '../api/use-api.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { Loading, PageFrame } from '../parts/page-frame.tsx';
import { useTimeRange } from '../parts/time-range-picker.tsx';

export function Overview() {
  const { from, to } = useTimeRange();
  const runs = useGet('/runs', { query: { from, to, limit: 1 } });
  return (
    <PageFrame title="Overview">
      {runs.error === undefined ? null : <ErrorBox error={runs.error} onRetry={runs.reload} />}
      {runs.value === undefined && runs.isLoading ? <Loading what="the agents" /> : null}
      {runs.value?.runs.length === 0 ? (
        <EmptyState title="No runs in this time">
          <p>Send spans of an agent over OTLP, or choose a longer time.</p>
        </EmptyState>
      ) : null}
    </PageFrame>
  );
}
