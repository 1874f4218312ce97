/** Verdicts on the names and descriptions of tools, by agent. */
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/use-api.ts';
import type { Query } from '../../parts/address.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { countText, unknownText } from '../../parts/format.ts';
import { runsAddress } from '../../parts/page-links.ts';
import { RateCell } from '../../parts/rate-cell.tsx';

type Rate = Schemas['Rate'];

const evaluatorIds: ReadonlySet<string> = new Set(['tool_name_reliability', 'tool_description_reliability']);

export interface DefinitionVerdictsProps {
  /** `undefined` while they are not read. */
  readonly evaluators: readonly Schemas['Evaluator'][] | undefined;
  readonly query: Query;
  readonly from: string;
  readonly to: string | undefined;
}

export function DefinitionVerdicts({ evaluators, query, from, to }: DefinitionVerdictsProps) {
  if (evaluators === undefined) return null;
  const names = evaluators.filter(({ on, evaluator }) => on && evaluatorIds.has(evaluator ?? '')).map(({ name }) => name);
  return (
    <section class="stack">
      <h2>Names and descriptions</h2>
      {names.length === 0 ? (
        <p class="dim">
          No evaluator checks the definitions of tools. Add <code>tool_name_reliability</code> and <code>tool_description_reliability</code>{' '}
          to <code>evaluators</code> in the configuration.
        </p>
      ) : (
        names.map((name) => <DefinitionTable key={name} name={name} query={query} from={from} to={to} />)
      )}
    </section>
  );
}

interface DefinitionTableProps extends Omit<DefinitionVerdictsProps, 'evaluators'> {
  readonly name: string;
}

function DefinitionTable({ name, query, from, to }: DefinitionTableProps) {
  const { agent, version, model } = query;
  const rates = useGet('/rates', { query: { from, to, agent, version, model, evaluator: name, by: 'agent' } });
  if (rates.error !== undefined) return <ErrorBox error={rates.error} onRetry={rates.reload} />;
  const all = rates.value?.rates ?? [];
  const byAgent = all.filter((rate) => rate.agent !== null);
  const rows = byAgent.length > 0 ? byAgent : all;
  const scored = rows.filter(({ judged }) => judged.point !== null);
  if (rates.value === undefined) return null;
  if (scored.length === 0)
    return (
      <p class="dim">
        <code>{name}</code> scored nothing in this time: the spans carry no tool definitions, or none came.
      </p>
    );
  const columns: readonly Column<Rate>[] = [
    { key: 'agent', title: 'Agent', cell: (row) => <a href={runsOf(row)}>{row.agent ?? unknownText}</a> },
    {
      key: 'rate',
      title: scored[0]?.measure === 'mean_score' ? 'Mean score' : 'Runs that pass',
      cell: ({ rate }) => <RateCell estimate={rate} />,
    },
    { key: 'runs', title: 'Runs scored', isNumber: true, cell: ({ judged }) => countText(judged.n) },
  ];
  const runsOf = (row: Rate): string => runsAddress(query, { agent: row.agent ?? agent, version, model, evaluator: name, verdict: 'fail' });
  return (
    <>
      <h3>
        <code>{name}</code>
      </h3>
      <DataTable
        caption={`Verdicts of ${name} by agent`}
        columns={columns}
        rows={scored}
        rowKey={({ agent: of }) => of ?? ''}
        href={runsOf}
      />
    </>
  );
}
