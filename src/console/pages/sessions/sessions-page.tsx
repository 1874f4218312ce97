/** Sessions, newest first: who worked, how many turns, and the worst verdict. */
import type { Schemas } from '../../api/client.ts';
import { useList } from '../../api/use-api.ts';
import { pageAddress } from '../../parts/address.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { type Filter, FilterBar } from '../../parts/filter-bar.tsx';
import { costText, countText, durationText, scoreText, shortCountText, timeText, unknownText } from '../../parts/format.ts';
import { PageFrame } from '../../parts/page-frame.tsx';
import { useTimeRange } from '../../parts/time-range-picker.tsx';
import { useAddress } from '../../parts/use-address.ts';

type Session = Schemas['Session'];

const filters: readonly Filter[] = [
  { name: 'agent', title: 'Agent', kind: 'text' },
  { name: 'service', title: 'Service', kind: 'text' },
  {
    name: 'verdict',
    title: 'Verdict',
    kind: 'choice',
    options: ['pass', 'fail', 'raw', 'skipped', 'error'].map((value) => ({ value, title: value })),
  },
];

const columns: readonly Column<Session>[] = [
  { key: 'time', title: 'Last turn', cell: (session) => <a href={sessionAddress(session)}>{timeText(session.ended_at)}</a> },
  { key: 'id', title: 'Session', cell: ({ id }) => id },
  { key: 'agents', title: 'Agents', cell: ({ agents }) => (agents.length === 0 ? unknownText : agents.join(', ')) },
  { key: 'turns', title: 'Turns', isNumber: true, cell: ({ turns }) => countText(turns) },
  { key: 'worst', title: 'Worst verdict', cell: ({ worst }) => <Worst worst={worst} /> },
  { key: 'took', title: 'Time in turns', isNumber: true, cell: ({ duration_seconds: seconds }) => durationText(seconds) },
  {
    key: 'tokens',
    title: 'Tokens',
    from: 'wide',
    isNumber: true,
    cell: ({ input_tokens: input, output_tokens: output }) =>
      input === null && output === null ? unknownText : shortCountText((input ?? 0) + (output ?? 0)),
  },
  { key: 'cost', title: 'Cost', from: 'wide', isNumber: true, cell: ({ cost_usd: usd }) => costText(usd) },
];

export function SessionsPage() {
  const { query } = useAddress();
  const { from, to } = useTimeRange();
  const { agent, service, verdict } = query;
  const found = useList('/sessions', 'sessions', {
    query: { from, to, agent, service, verdict: verdict as 'pass', limit: 100 },
  });
  const { rows, isLoading, error, more } = found;
  return (
    <PageFrame title="Sessions" isFull>
      <FilterBar filters={filters} />
      <AnswerState of={found} what="the sessions" />
      {rows.length > 0 ? (
        <DataTable
          name="sessions"
          caption="Sessions, newest first"
          columns={columns}
          rows={rows}
          rowKey={sessionKey}
          href={sessionAddress}
          onEnd={more}
          isLong
        />
      ) : !isLoading && error === undefined ? (
        <EmptyState title="No session in this time">
          <p>
            A session is what runs with the same <code>session.id</code> or <code>gen_ai.conversation.id</code> have in common. Choose a
            longer time, or set the attribute on the spans of the agent.
          </p>
        </EmptyState>
      ) : null}
    </PageFrame>
  );
}

function Worst({ worst }: { readonly worst: Session['worst'] }) {
  if (worst === null) return <span class="dim">{unknownText}</span>;
  const isFail = worst.verdict === 'fail';
  return (
    <span class={`chip ${worst.verdict}`}>
      <span aria-hidden="true">{isFail ? '✗' : worst.verdict === 'pass' ? '✓' : '•'}</span>
      <span>
        {worst.evaluator} {worst.score === null ? worst.verdict : scoreText(worst.score)}
        <span class="visually-hidden"> {worst.verdict}</span>
      </span>
    </span>
  );
}

function sessionKey({ tenant, id }: Session): string {
  return `${tenant}/${id}`;
}

function sessionAddress({ tenant, id }: Session): string {
  return pageAddress(`/sessions/${encodeURIComponent(id)}`, { tenant });
}
