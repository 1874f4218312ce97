/** Agents with their versions. The page of an agent compares them. */
import { AnswerState } from '../parts/answer-state.tsx';
import type { Schemas } from '../api/client.ts';
import { useGet } from '../api/use-api.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { type Filter, FilterBar } from '../parts/filter-bar.tsx';
import { agoText, costText, countText, durationText, unknownText } from '../parts/format.ts';
import { PageFrame } from '../parts/page-frame.tsx';
import { agentAddress } from '../parts/page-links.ts';
import { useAddress } from '../parts/use-address.ts';
import { agentsOf, type AgentVersions } from './versions/agent-versions.ts';

const filters: readonly Filter[] = [{ name: 'search', title: 'Name has', kind: 'search' }];

export function Agents() {
  const { query } = useAddress();
  const versions = useGet('/versions', {}, { everyMs: 30_000 });
  const all = agentsOf(versions.value?.versions ?? []);
  const search = (query['search'] ?? '').toLowerCase();
  const rows = all.filter(({ agent }) => (agent ?? '').toLowerCase().includes(search));
  return (
    <PageFrame title="Agents">
      {all.length === 0 ? null : <FilterBar filters={filters} />}
      <AnswerState of={versions} what="the agents" />
      {versions.value !== undefined && !versions.value.whole ? <NotWhole /> : null}
      {rows.length > 0 ? (
        <DataTable
          name="agents"
          caption="Agents, the one with the newest run first"
          columns={columns}
          rows={rows}
          rowKey={({ agent }) => JSON.stringify(agent)}
          href={({ agent }) => (agent === null ? undefined : agentAddress(agent))}
        />
      ) : versions.value === undefined ? null : all.length > 0 ? (
        <EmptyState title="No agent has this in its name">
          <p>Clear the filter to see all.</p>
        </EmptyState>
      ) : (
        <EmptyState title="No runs yet">
          <p>
            An agent stands here as soon as a run of it is scored. Its version is the resource attribute <code>service.version</code> of its
            spans, or what <code>groups.version_key</code> in the configuration names.
          </p>
        </EmptyState>
      )}
    </PageFrame>
  );
}

/** Above figures that are not complete yet. */
export function NotWhole() {
  return <p class="box warning">Runs from before the last start are not counted yet. The service adds them step by step.</p>;
}

const columns: readonly Column<AgentVersions<Schemas['Version']>>[] = [
  { key: 'agent', title: 'Agent', cell: ({ agent }) => (agent === null ? unknownText : <a href={agentAddress(agent)}>{agent}</a>) },
  { key: 'runs', title: 'Runs', isNumber: true, cell: ({ runs }) => countText(runs) },
  { key: 'seen', title: 'Last run', cell: ({ lastSeen }) => agoText(lastSeen, Date.now()) },
  { key: 'newest', title: 'Newest version', from: 'narrow', cell: ({ newest }) => newest.version ?? unknownText },
  { key: 'versions', title: 'Versions', from: 'narrow', isNumber: true, cell: ({ versions }) => countText(versions.length) },
  { key: 'p95', title: 'p95 of the newest', from: 'narrow', isNumber: true, cell: ({ newest }) => durationText(newest.p95_seconds) },
  { key: 'cost', title: 'Cost per run', from: 'narrow', isNumber: true, cell: ({ newest }) => costText(newest.cost_per_run) },
];
