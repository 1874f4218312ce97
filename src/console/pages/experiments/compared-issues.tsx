/** The issues that the second of two experiments closes and opens. */
import type { Schemas } from '../../api/client.ts';
import { pageAddress } from '../../parts/address.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { countText, lineText } from '../../parts/format.ts';

type Found = NonNullable<Schemas['ExperimentComparison']['issues']>;
type Row = Found['closed'][number] & { readonly change: keyof typeof changes };

const changes = { opened: { kind: 'fail', icon: '✗' }, closed: { kind: 'pass', icon: '✓' } } as const;
/** Issues of each kind. */
const rowsMax = 50;

const columns: readonly Column<Row>[] = [
  {
    key: 'title',
    title: 'Issue',
    isText: true,
    cell: ({ title, evaluator, tool }) => (
      <a href={pageAddress('/issues', { evaluator, tool: tool ?? undefined })} title={title}>
        {lineText(title)}
      </a>
    ),
  },
  {
    key: 'change',
    title: 'In B',
    cell: ({ change }) => (
      <span class={`chip ${changes[change].kind}`}>
        <span aria-hidden="true">{changes[change].icon}</span>
        <span>{change}</span>
      </span>
    ),
  },
  { key: 'evaluator', title: 'Evaluator', cell: ({ evaluator }) => lineText(evaluator, 60) },
  { key: 'examples', title: 'Examples', isNumber: true, cell: ({ examples }) => countText(examples.count) },
];

export function ComparedIssues({ issues }: Pick<Schemas['ExperimentComparison'], 'issues'>) {
  const rows = (['opened', 'closed'] as const).flatMap((change) =>
    (issues?.[change] ?? []).slice(0, rowsMax).map((one): Row => ({ ...one, change })),
  );
  if (rows.length === 0) return null;
  return (
    <section class="stack" aria-label="Issues">
      <h2>Issues</h2>
      <DataTable
        caption="Issues that B opens and closes"
        columns={columns}
        rows={rows}
        rowKey={({ change, evaluator, tool, signature }) => JSON.stringify([change, evaluator, tool, signature])}
      />
    </section>
  );
}
