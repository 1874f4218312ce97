/** Properties of the runs of an issue beside those of other runs of its agent. */
import type { Loaded } from '../../api/use-api.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { pText } from '../../parts/estimate.ts';
import { countText, percentText } from '../../parts/format.ts';
import { type Difference, differenceName } from './issue-text.ts';

/** Rows without a clear difference that stand below the clear ones. */
const unclearMax = 5;

const columns: readonly Column<Difference>[] = [
  { key: 'property', title: 'Property', cell: (row) => differenceName(row).title },
  {
    key: 'value',
    title: 'Value',
    cell: (row) => (
      <bdi title={row.value}>
        <code>{differenceName(row).value}</code>
      </bdi>
    ),
  },
  {
    key: 'share',
    title: 'Here',
    isNumber: true,
    cell: ({ share, runs, of }) => <span title={`${countText(runs)} of ${countText(of)}`}>{percentText(share)}</span>,
  },
  {
    key: 'other',
    title: 'In other runs',
    isNumber: true,
    cell: ({ other_share: share, other_runs: runs, other_of: of }) => (
      <span title={`${countText(runs)} of ${countText(of)}`}>{percentText(share)}</span>
    ),
  },
  {
    key: 'lift',
    title: 'Lift',
    isNumber: true,
    cell: ({ lift }) => (lift === null ? 'only here' : `${lift.toFixed(lift < 10 ? 1 : 0)} ×`),
  },
  { key: 'p', title: 'p, adjusted', isNumber: true, cell: ({ p_adjusted: p }) => pText(p) },
  { key: 'n', title: 'Runs here / others', isNumber: true, cell: ({ of, other_of: others }) => `${countText(of)} / ${countText(others)}` },
];

export function Differences({ found }: { readonly found: Loaded<FoundProps> }) {
  const { value } = found;
  return (
    <section class="stack" aria-labelledby="differences-title">
      <h2 id="differences-title">What is different about these runs</h2>
      {value === undefined || found.error !== undefined ? (
        <AnswerState of={found} what="the comparison" />
      ) : value.differences.length === 0 ? (
        <p class="dim">
          {value.runs === 0
            ? 'The issue has no run in the last 14 days.'
            : 'The evaluator judged no other run of the agent in the last 14 days, so there is nothing to compare.'}
        </p>
      ) : (
        <Found {...value} />
      )}
    </section>
  );
}

interface FoundProps {
  readonly differences: readonly Difference[];
  readonly runs: number;
  readonly other_runs: number;
  readonly tested: number;
}

function Found({ differences, runs, other_runs: others, tested }: FoundProps) {
  const clear = differences.filter(({ differs }) => differs);
  const rows = [...clear, ...differences.filter(({ differs }) => !differs).slice(0, unclearMax)];
  return (
    <>
      <p class="dim small">
        {countText(runs)} runs of the issue against {countText(others)} other runs that the evaluator judged in the last 14 days.{' '}
        {clear.length === 0
          ? `None of the ${countText(tested)} tested values differs by more than chance explains.`
          : `${clear.length === 1 ? 'One' : countText(clear.length)} of the ${countText(tested)} tested values ${clear.length === 1 ? 'differs' : 'differ'} by more than chance explains (p up to 0.05). A difference goes with the failure; it need not be its cause.`}
      </p>
      <DataTable
        caption="Properties of the runs, the clearest difference first"
        columns={columns}
        rows={rows}
        rowKey={({ property, value }) => `${property} ${value}`}
      />
    </>
  );
}
