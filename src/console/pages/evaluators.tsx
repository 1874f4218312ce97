/** Evaluators: what is on, what they scored, and what they could not score. One of them in full under `?evaluator=`. */
import type { Schemas } from '../api/client.ts';
import { useGet } from '../api/use-api.ts';
import { changedQuery, pageAddress, type Query } from '../parts/address.ts';
import { AnswerState } from '../parts/answer-state.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { ErrorBox } from '../parts/error-box.tsx';
import { type Filter, FilterBar } from '../parts/filter-bar.tsx';
import { countText, percentText, scoreText, unknownText } from '../parts/format.ts';
import { type EvaluabilityRow, evaluableOf } from '../parts/missing-data.ts';
import { PageFrame } from '../parts/page-frame.tsx';
import { runsAddress } from '../parts/page-links.ts';
import { RateCell } from '../parts/rate-cell.tsx';
import { useTimeRange } from '../parts/time-range-picker.tsx';
import { useAddress } from '../parts/use-address.ts';
import { EvaluatorDetail } from './evaluators/evaluator-detail.tsx';

type Evaluator = Schemas['Evaluator'];
type Rate = Schemas['Rate'];

const filters: readonly Filter[] = [
  { name: 'agent', title: 'Agent', kind: 'text' },
  { name: 'version', title: 'Version', kind: 'text' },
  { name: 'model', title: 'Model', kind: 'text' },
];

export function Evaluators() {
  const { query } = useAddress();
  const { from, to } = useTimeRange();
  const { agent, version, model, evaluator: chosen } = query;
  const period = { from, to, agent, version, model };
  const evaluators = useGet('/evaluators', { query: period });
  const rates = useGet('/rates', { query: period });
  const evaluability = useGet('/evaluability', {});
  const rows = evaluators.value?.evaluators ?? [];
  const one = rows.find(({ name }) => name === chosen);
  const attempts = evaluability.value?.evaluability ?? [];
  return (
    <PageFrame title="Evaluators">
      <FilterBar filters={filters} />
      <AnswerState of={evaluators} what="the evaluators" />
      {[rates, evaluability].map(({ error, reload }, at) =>
        error === undefined ? null : <ErrorBox key={at} error={error} onRetry={reload} />,
      )}
      {chosen === undefined || evaluators.value === undefined ? null : one === undefined ? (
        <EmptyState title="No evaluator of this name">
          <p>
            It is not in the configuration, and has no verdict in this time.{' '}
            <a href={pageAddress('/evaluators', { ...query, evaluator: undefined })}>Show all.</a>
          </p>
        </EmptyState>
      ) : (
        <EvaluatorDetail evaluator={one} attempts={attempts.filter(({ name }) => name === one.name)} query={query} from={from} to={to} />
      )}
      {rows.length === 0 ? (
        evaluators.value === undefined ? null : (
          <EmptyState title="No evaluator is on">
            <p>
              Name evaluators under <code>evaluators</code> in the configuration: <code>defaults</code> stands for those that need no
              setting.
            </p>
          </EmptyState>
        )
      ) : (
        <>
          {chosen === undefined ? null : <h2>All evaluators</h2>}
          <DataTable
            name="evaluators"
            caption="Evaluators with their verdicts in this time"
            columns={columnsOf({ query, rates: rates.value?.rates ?? [], attempts })}
            rows={rows}
            rowKey={({ name }) => name}
            href={({ name }) => evaluatorAddress(query, name)}
          />
          <p class="dim small">
            Rates are of all traffic: sampled verdicts are weighted, and labels of people correct them where there are enough. “Can score”
            counts since the start of the service, among runs in which the evaluator had something to score.
          </p>
        </>
      )}
    </PageFrame>
  );
}

function evaluatorAddress(query: Query, name: string): string {
  return pageAddress('/evaluators', changedQuery(query, { evaluator: name }));
}

interface ColumnParts {
  readonly query: Query;
  readonly rates: readonly Rate[];
  readonly attempts: readonly EvaluabilityRow[];
}

function columnsOf({ query, rates, attempts }: ColumnParts): readonly Column<Evaluator>[] {
  const rateOf = (one: Evaluator): Rate | undefined => rates.find(({ name, agent }) => name === one.name && agent === null);
  const runs = (one: Evaluator, verdict?: string): string => {
    const { agent, version, model } = query;
    return runsAddress(query, { agent, version, model, evaluator: one.name, verdict });
  };
  return [
    {
      key: 'name',
      title: 'Evaluator',
      cell: (one) => (
        <>
          <a href={evaluatorAddress(query, one.name)}>{one.name}</a> <span class="dim small">{one.on ? `v${one.version}` : 'off'}</span>
        </>
      ),
    },
    {
      key: 'rate',
      title: 'Pass rate, or mean score',
      cell: (one) => {
        if (scoredRuns(one) === 0) return <span class="chip warn">! nothing scored</span>;
        const rate = rateOf(one);
        if (rate !== undefined)
          return (
            <>
              <RateCell estimate={rate.rate} />
              {rate.measure === 'mean_score' ? <span class="dim small"> mean</span> : null}
            </>
          );
        if (one.pass_rate !== null && one.pass_rate.point !== null) return <RateCell estimate={one.pass_rate} />;
        // The mean of a sample does not hold for all runs.
        if (one.mean_score === null) return '–';
        return (
          <>
            {scoreText(one.mean_score)} <span class="dim small">mean</span>
          </>
        );
      },
    },
    {
      key: 'failed',
      title: 'Failed',
      isNumber: true,
      cell: (one) => (one.verdicts.fail === 0 ? '0' : <a href={runs(one, 'fail')}>{countText(one.verdicts.fail)}</a>),
    },
    { key: 'scored', title: 'Scored', from: 'narrow', isNumber: true, cell: (one) => countText(scoredRuns(one)) },
    {
      key: 'skipped',
      title: 'Skipped',
      from: 'narrow',
      isNumber: true,
      cell: (one) => (one.verdicts.skipped === 0 ? '0' : <a href={runs(one, 'skipped')}>{countText(one.verdicts.skipped)}</a>),
    },
    {
      key: 'errors',
      title: 'Errors',
      from: 'narrow',
      isNumber: true,
      cell: (one) => (one.verdicts.error === 0 ? '0' : <a href={runs(one, 'error')}>{countText(one.verdicts.error)}</a>),
    },
    {
      key: 'evaluable',
      title: 'Can score',
      from: 'narrow',
      isNumber: true,
      cell: ({ name }) => {
        const { scored, of, agents, agentsScored } = evaluableOf(attempts.filter((row) => row.name === name));
        return of === 0 ? (
          unknownText
        ) : (
          <span title={`${scored} of ${of} runs, ${agentsScored} of ${agents} agents`}>{percentText(scored / of)}</span>
        );
      },
    },
    { key: 'kind', title: 'Scored by', from: 'narrow', cell: kindText },
    {
      key: 'threshold',
      title: 'Threshold',
      from: 'narrow',
      isNumber: true,
      cell: ({ threshold }) => (threshold === null ? unknownText : scoreText(threshold)),
    },
  ];
}

function kindText({ kind, judges, sample_rate: rate }: Evaluator): string {
  if (kind === null) return unknownText;
  if (kind === 'rule') return 'rule';
  const by = kind === 'http' ? 'endpoint' : judges.join(', ');
  return rate === null || rate === 1 ? by : `${by}, ${percentText(rate)}`;
}

function scoredRuns({ verdicts: { pass, fail, raw } }: Evaluator): number {
  return pass + fail + raw;
}
