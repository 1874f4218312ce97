/** Page of a fresh service: how to point an agent at it, and a demonstration. */
import { useEffect, useState } from 'preact/hooks';
import { failureOf, useApi, useGet } from '../../api/use-api.ts';
import type { Query } from '../../parts/address.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { useMay } from '../../parts/session.tsx';
import { useToast } from '../../parts/toast.tsx';
import { rangeParameters } from '../../parts/time-range.ts';
import { useTimeRange } from '../../parts/time-range-picker.tsx';

/** True when no filter is set, and there is no run yet. */
export function isFirstSteps({
  query,
  isLoading,
  rows,
}: {
  readonly query: Query;
  readonly isLoading: boolean;
  readonly rows: readonly unknown[];
}): boolean {
  return !isLoading && rows.length === 0 && Object.keys(query).every((name) => rangeParameters.includes(name) || name === 'live');
}

/** A newcomer waits for the first run. */
const everyMs = 2_000;

/** `onLoaded`: there are runs, which the page reads again. */
export function FirstSteps({ onLoaded }: { readonly onLoaded: () => void }) {
  const { value } = useGet('/addresses', {});
  const { from } = useTimeRange();
  const newest = useGet('/runs', { query: { limit: 1 } }, { everyMs }).value;
  const newestAt = newest?.runs[0]?.started_at;
  useEffect(() => {
    if (newestAt !== undefined) onLoaded();
  }, [newest]);
  if (newestAt !== undefined)
    return Date.parse(newestAt) < Date.parse(from) ? (
      <EmptyState title="No runs in this time">
        <p>The service has runs of another time: choose a longer one.</p>
      </EmptyState>
    ) : (
      <EmptyState title="The first runs are here">
        <p>The service counts them.</p>
      </EmptyState>
    );
  const http = value?.otlp_http ?? 'http://127.0.0.1:4318';
  return (
    <EmptyState title="No runs yet">
      <p>Point an agent here. Every SDK that sends OpenTelemetry spans works:</p>
      <pre>
        {[
          `export OTEL_EXPORTER_OTLP_ENDPOINT=${http}`,
          'export OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf',
          ...(value?.token_needed === true ? ['export OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer YOUR_TOKEN"'] : []),
          'python agent.py',
        ].join('\n')}
      </pre>
      {value?.otlp_grpc === undefined || value.otlp_grpc === null ? null : (
        <p class="small dim">
          An SDK that sends gRPC uses <code>{value.otlp_grpc}</code>. A run is here six seconds after its last span.
        </p>
      )}
      <p class="small dim">The first run comes to this page by itself.</p>
      <DemoButton onLoaded={onLoaded} />
    </EmptyState>
  );
}

/** Runs of the demonstration close a while after their spans. */
const closingMs = 8_000;

function DemoButton({ onLoaded }: { readonly onLoaded: () => void }) {
  const api = useApi();
  const toast = useToast();
  const mayOperate = useMay('operate');
  const [state, setState] = useState<'ready' | 'sending' | 'scoring'>('ready');
  if (!mayOperate) return null;
  const load = async (): Promise<void> => {
    setState('sending');
    try {
      const { runs } = await api.send('POST /demo', {});
      setState('scoring');
      await new Promise((resolve) => setTimeout(resolve, closingMs));
      toast(`${runs} runs of the demonstration are scored.`);
      onLoaded();
    } catch (error) {
      const { message, todo } = failureOf(error);
      toast(`${message} ${todo}`, 'failed');
    }
    setState('ready');
  };
  return (
    <p class="row">
      <button type="button" class="primary" disabled={state !== 'ready'} onClick={() => void load()}>
        Load the demonstration
      </button>
      <span class="dim" role="status">
        {state === 'sending'
          ? 'Sending a day of simulated runs …'
          : state === 'scoring'
            ? 'Scoring them …'
            : 'A day of simulated runs, good and bad.'}
      </span>
    </p>
  );
}
