/** Spending of judges against their budgets: this day, and the days before. */
import type { Schemas } from '../../api/client.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { costText, countText, percentText, unknownText } from '../../parts/format.ts';

type Budget = Schemas['BudgetFigures'];
type Day = Schemas['JudgeDay'];

export function BudgetSection({ budgets, days }: { readonly budgets: readonly Budget[]; readonly days: readonly Day[] }) {
  return (
    <section class="stack">
      <h2>Cost against budgets</h2>
      {budgets.length === 0 ? (
        <p class="dim">
          No judge has a budget for a day. Set <code>usd_per_day</code> under <code>budget</code> of a judge: the service then asks less
          often before the money is spent.
        </p>
      ) : (
        <DataTable
          caption="Budgets of this day (UTC)"
          columns={budgetColumns}
          rows={budgets}
          rowKey={({ judge, evaluator, budget }) => JSON.stringify([judge, evaluator, budget])}
        />
      )}
      {days.length === 0 ? null : (
        <>
          <h3>By day</h3>
          <DataTable
            caption="Spending by day (UTC)"
            columns={dayColumns}
            rows={days}
            rowKey={({ day, judge, evaluator }) => JSON.stringify([day, judge, evaluator])}
          />
        </>
      )}
    </section>
  );
}

const units: { readonly [budget in Budget['budget']]: { readonly title: string; readonly text: (value: number) => string } } = {
  usd_per_day: { title: 'US dollars', text: costText },
  requests_per_day: { title: 'requests', text: countText },
  tokens_per_day: { title: 'tokens', text: countText },
};

const budgetColumns: readonly Column<Budget>[] = [
  { key: 'of', title: 'Of', cell: (row) => payerText(row) },
  { key: 'unit', title: 'Limit of', cell: ({ budget }) => units[budget].title },
  {
    key: 'used',
    title: 'Used',
    cell: ({ budget, spent, limit }) => (
      <span class="rate-cell">
        <span>
          {percentText(limit === 0 ? 1 : spent / limit)} <span class="dim">of {units[budget].text(limit)}</span>
        </span>
        <meter min={0} max={Math.max(limit, 1e-9)} value={spent} high={limit * 0.8} optimum={0}>
          {percentText(limit === 0 ? 1 : spent / limit)}
        </meter>
      </span>
    ),
  },
  { key: 'spent', title: 'Spent', isNumber: true, cell: ({ budget, spent }) => units[budget].text(spent) },
  { key: 'reserved', title: 'Reserved', isNumber: true, cell: ({ budget, reserved }) => units[budget].text(reserved) },
  {
    key: 'left',
    title: 'Left',
    isNumber: true,
    cell: ({ budget, left }) => (left === 0 ? <span class="chip warn">! spent</span> : units[budget].text(left)),
  },
  {
    key: 'pace',
    title: 'Sample rates',
    isNumber: true,
    cell: ({ pace }) => (pace === 1 ? 'in full' : pace === 0 ? 'stopped' : `at ${percentText(pace)}`),
  },
];

const dayColumns: readonly Column<Day>[] = [
  { key: 'day', title: 'Day (UTC)', cell: ({ day }) => day },
  { key: 'of', title: 'Of', cell: (row) => payerText(row) },
  { key: 'cost', title: 'Cost', isNumber: true, cell: ({ cost_usd: cost }) => costText(cost) },
  { key: 'requests', title: 'Requests', isNumber: true, cell: ({ requests }) => countText(requests) },
  { key: 'input', title: 'Tokens in', isNumber: true, cell: ({ input_tokens: tokens }) => countText(tokens) },
  { key: 'output', title: 'Tokens out', isNumber: true, cell: ({ output_tokens: tokens }) => countText(tokens) },
];

function payerText({ judge, evaluator }: Pick<Budget, 'judge' | 'evaluator'>): string {
  return judge !== null ? `judge ${judge}` : evaluator !== null ? `evaluator ${evaluator}` : unknownText;
}
