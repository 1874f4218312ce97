/** The newest experiments of each agent: the rate of each evaluator as a line over time. */
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/use-api.ts';
import { pageAddress } from '../../parts/address.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { Figure } from '../../parts/figure.tsx';
import { lineText, percentText, timeText, unknownText } from '../../parts/format.ts';
import { LineChart, type LineSeries } from '../../parts/line-chart.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { NoExperiments } from './no-experiments.tsx';
import { evaluatorNames, rateOf, rateSeries } from './rate-series.ts';

type Entry = Schemas['ExperimentInHistory'];

/** Lines of one chart; the table below it has all. */
const linesMax = 5;
const colours: readonly NonNullable<LineSeries['colour']>[] = ['--accent', '--fail', '--pass', '--warn', '--skip'];

export function ExperimentHistory() {
  const { query } = useAddress();
  const { name, dataset, agent } = query;
  const found = useGet('/experiments/history', { query: { name, dataset, agent, limit: 50 } });
  const { value } = found;
  if (value === undefined || found.error !== undefined) return <AnswerState of={found} what="the rates" />;
  if (value.agents.length === 0) return <NoExperiments isFiltered={[name, dataset, agent].some((one) => (one ?? '') !== '')} />;
  return (
    <>
      {value.left_out === 0 ? null : (
        <p class="box warning">
          <span class="text">
            {value.left_out} of the newest experiments {value.left_out === 1 ? 'is' : 'are'} left out, because together they have too many
            results. Name one dataset.
          </span>
        </p>
      )}
      {value.agents.map((one) => (
        <AgentHistory key={one.agent ?? ''} agent={one.agent} experiments={one.experiments} />
      ))}
    </>
  );
}

function AgentHistory({ agent, experiments }: { readonly agent: string | null; readonly experiments: readonly Entry[] }) {
  const names = evaluatorNames(experiments);
  const series = names.slice(0, linesMax).map((evaluator, at): LineSeries => ({
    title: evaluator,
    values: rateSeries(experiments, evaluator),
    colour: colours[at] ?? '--accent',
    text: percentText,
  }));
  const columns: readonly Column<Entry>[] = [
    {
      key: 'name',
      title: 'Experiment',
      cell: ({ id, tenant, name }) => <a href={pageAddress(`/experiments/${id}`, { tenant })}>{lineText(name, 50)}</a>,
    },
    { key: 'began', title: 'Began', cell: ({ began_at: at }) => timeText(at) },
    { key: 'version', title: 'Version', cell: ({ versions }) => lineText(versions.join(', '), 40) || unknownText },
    { key: 'model', title: 'Model', cell: ({ models }) => lineText(models.join(', '), 40) || unknownText },
    ...names.map((evaluator): Column<Entry> => ({
      key: `rate ${evaluator}`,
      title: evaluator,
      isNumber: true,
      cell: (entry) => {
        const rate = rateOf(entry, evaluator);
        return <Figure value={rate?.point} low={rate?.low} high={rate?.high} why={rate?.why ?? 'It scored nothing of this experiment.'} />;
      },
    })),
  ];
  const what = agent ?? 'runs that name no agent';
  return (
    <section class="stack card" aria-label={`Experiments of ${what}`}>
      <h2>{lineText(what, 100)}</h2>
      {experiments.length < 2 ? (
        <p class="dim">One experiment so far: a line needs two.</p>
      ) : (
        <LineChart
          title="Share that passed, by evaluator"
          times={experiments.map(({ began_at: at }) => at)}
          series={series}
          range={[0, 1]}
        />
      )}
      {names.length > linesMax ? (
        <p class="dim">
          The chart has the first {linesMax} evaluators; the table has all {names.length}.
        </p>
      ) : null}
      <DataTable
        caption={`Experiments of ${what}, newest first`}
        columns={columns}
        rows={experiments.toReversed()}
        rowKey={({ id, tenant }) => `${tenant}/${id}`}
        href={({ id, tenant }) => pageAddress(`/experiments/${id}`, { tenant })}
      />
    </section>
  );
}
