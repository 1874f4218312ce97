/** Issues, those with the most impact first, with every filter in the address. */
import { useState } from 'preact/hooks';
import { useList } from '../../api/use-api.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { FilterBar } from '../../parts/filter-bar.tsx';
import { countText, lineText, timeText, unknownText } from '../../parts/format.ts';
import { PageFrame } from '../../parts/page-frame.tsx';
import { RateCell } from '../../parts/rate-cell.tsx';
import { useMay } from '../../parts/session.tsx';
import { Sparkline } from '../../parts/sparkline.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { useSelection } from '../../parts/use-selection.ts';
import { IgnoreDialog, ResolveDialog } from './issue-dialogs.tsx';
import { IssueState } from './issue-state.tsx';
import { type Issue, issueAddress, issueFilters, issuesQuery, versionsText } from './issue-text.ts';

/** By importance: a narrow table has the first ones. */
const columns: readonly Column<Issue>[] = [
  {
    key: 'title',
    title: 'Issue',
    isText: true,
    cell: (issue) => (
      <a href={issueAddress(issue)} title={issue.title}>
        {lineText(issue.title)}
      </a>
    ),
  },
  { key: 'state', title: 'State', cell: ({ state }) => <IssueState state={state} /> },
  { key: 'runs', title: 'Runs', isNumber: true, cell: ({ runs }) => countText(runs) },
  {
    key: 'days',
    title: '14 days',
    cell: ({ days }) => <Sparkline values={days} min={0} label={`Runs by day, today last: ${days.join(', ')}`} />,
  },
  {
    key: 'sessions',
    title: 'Sessions in 14 days',
    from: 'wide',
    isNumber: true,
    cell: ({ sessions }) => countText(sessions),
  },
  { key: 'agent', title: 'Agent', from: 'narrow', cell: ({ agent }) => (agent === null ? unknownText : <bdi>{agent}</bdi>) },
  { key: 'evaluator', title: 'Evaluator', from: 'wide', cell: ({ evaluator }) => evaluator },
  { key: 'share', title: 'Share of judged runs', from: 'wide', isNumber: true, cell: ({ share }) => <RateCell estimate={share} /> },
  { key: 'versions', title: 'Versions', from: 'wide', cell: (issue) => versionsText(issue) || unknownText },
  { key: 'first', title: 'First seen', from: 'wide', cell: ({ first_seen: at }) => timeText(at) },
  { key: 'last', title: 'Last seen', from: 'narrow', cell: ({ last_seen: at }) => timeText(at) },
];

const issueKey = ({ id }: Issue): string => id;

export function IssuesPage() {
  const { query } = useAddress();
  const found = useList('/issues', 'issues', { query: { ...issuesQuery(query), limit: 100 } });
  const { rows, isLoading, error, more, reload } = found;
  const mayDecide = useMay('annotate');
  const { selection, selected, clear } = useSelection(rows, issueKey);
  const isFiltered = Object.values(issuesQuery(query)).some((value) => value !== undefined && value !== '');
  return (
    <PageFrame title="Issues" isFull>
      <FilterBar filters={issueFilters} />
      <AnswerState of={found} what="the issues" />
      {selected.length > 0 ? (
        <Decisions
          issues={selected}
          onClear={clear}
          onDone={() => {
            clear();
            reload();
          }}
        />
      ) : null}
      {rows.length > 0 ? (
        <DataTable
          name="issues"
          caption="Issues, those with the most impact first"
          columns={columns}
          rows={rows}
          rowKey={issueKey}
          href={issueAddress}
          onEnd={more}
          isLong
          {...(mayDecide ? { selection } : {})}
        />
      ) : isLoading || error !== undefined ? null : isFiltered ? (
        <EmptyState title="No issue matches">
          <p>
            Clear a filter. <a href="/issues">Show all issues.</a>
          </p>
        </EmptyState>
      ) : (
        <EmptyState title="There is no issue">
          <p>
            An issue is a class of failures: failed verdicts of one evaluator, agent and tool with the same fault. Each failed verdict makes
            one or joins one.
          </p>
        </EmptyState>
      )}
    </PageFrame>
  );
}

interface DecisionsProps {
  readonly issues: readonly Issue[];
  readonly onClear: () => void;
  readonly onDone: () => void;
}

function Decisions({ issues, onClear, onDone }: DecisionsProps) {
  const toast = useToast();
  const [opened, setOpened] = useState<'resolve' | 'ignore'>();
  const close = (): void => setOpened(undefined);
  const done = (word: string): void => {
    close();
    toast(`${countText(issues.length)} ${issues.length === 1 ? 'issue is' : 'issues are'} ${word}.`);
    onDone();
  };
  return (
    <div class="box" role="group" aria-label="Selected issues">
      <strong>{countText(issues.length)} selected</strong>
      <button type="button" onClick={() => setOpened('resolve')}>
        Resolve …
      </button>
      <button type="button" onClick={() => setOpened('ignore')}>
        Ignore …
      </button>
      <button type="button" onClick={onClear}>
        Clear the selection
      </button>
      {opened === 'resolve' ? <ResolveDialog issues={issues} onClose={close} onDone={() => done('resolved')} /> : null}
      {opened === 'ignore' ? <IgnoreDialog issues={issues} onClose={close} onDone={() => done('ignored')} /> : null}
    </div>
  );
}
