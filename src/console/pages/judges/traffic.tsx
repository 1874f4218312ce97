/** Requests to judges since the start of the service: outcomes, cache, queue, and the time to a verdict. */
import type { Schemas } from '../../api/client.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { costText, countText, durationText, percentText, unknownText } from '../../parts/format.ts';

type Traffic = Schemas['JudgeTraffic'];
type Latency = Schemas['JudgeLatency'];

export function TrafficSection({ traffic, latency }: { readonly traffic: readonly Traffic[]; readonly latency: readonly Latency[] }) {
  return (
    <section class="stack">
      <h2>Requests and queue</h2>
      {traffic.length === 0 ? (
        <p class="dim">No judge was asked since the start of the service.</p>
      ) : (
        <>
          <p class="dim">Counts since the start of the service. What waits is that of now.</p>
          <DataTable caption="Requests by judge" columns={trafficColumns} rows={traffic} rowKey={({ judge }) => judge} />
        </>
      )}
      {latency.length === 0 ? null : (
        <>
          <h3>Time to a verdict</h3>
          <p class="dim">From the choice of the run to its verdict, with the time in the queue.</p>
          <DataTable caption="Time to a verdict by evaluator" columns={latencyColumns} rows={latency} rowKey={({ name }) => name} />
        </>
      )}
    </section>
  );
}

const trafficColumns: readonly Column<Traffic>[] = [
  { key: 'judge', title: 'Judge', cell: ({ judge }) => judge },
  { key: 'state', title: 'State', cell: ({ circuit }) => stateText(circuit) },
  { key: 'waiting', title: 'Waiting', isNumber: true, cell: ({ waiting }) => countText(waiting) },
  {
    key: 'oldest',
    title: 'Oldest waits',
    isNumber: true,
    cell: ({ waiting, oldest_seconds: seconds }) => (waiting === 0 ? unknownText : durationText(seconds)),
  },
  { key: 'answered', title: 'Answered', isNumber: true, cell: ({ answered }) => countText(answered) },
  { key: 'failed', title: 'Failed', isNumber: true, cell: ({ failed }) => countText(failed) },
  { key: 'retried', title: 'Retried', isNumber: true, cell: ({ retried }) => countText(retried) },
  { key: 'cache', title: 'Cached', isNumber: true, cell: cacheText },
  { key: 'tokens', title: 'Tokens', isNumber: true, cell: ({ tokens }) => countText(tokens) },
  { key: 'cost', title: 'Cost', isNumber: true, cell: ({ cost_usd: cost }) => costText(cost) },
];

function stateText(circuit: Traffic['circuit']) {
  if (circuit === 'open') return <span class="chip fail">✗ down, not asked</span>;
  if (circuit === 'half_open') return <span class="chip warn">! tried again</span>;
  return circuit === 'closed' ? 'answers' : unknownText;
}

function cacheText({ cached, not_cached: asked }: Traffic): string {
  if (cached === null || asked === null) return 'no cache';
  return cached + asked === 0 ? unknownText : `${percentText(cached / (cached + asked))} of ${countText(cached + asked)}`;
}

const latencyColumns: readonly Column<Latency>[] = [
  { key: 'name', title: 'Evaluator', cell: ({ name }) => name },
  { key: 'verdicts', title: 'Verdicts', isNumber: true, cell: ({ verdicts }) => countText(verdicts) },
  { key: 'mean', title: 'Mean', isNumber: true, cell: ({ mean_seconds: seconds }) => durationText(seconds) },
  { key: 'p50', title: 'p50', isNumber: true, cell: ({ p50_seconds: seconds }) => durationText(seconds) },
  { key: 'p95', title: 'p95', isNumber: true, cell: ({ p95_seconds: seconds }) => durationText(seconds) },
];
