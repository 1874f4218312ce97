/** One evaluator: its rates by agent and over time, its skipped runs by reason, and the drift of its judge. */
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/use-api.ts';
import { changedQuery, pageAddress, type Query } from '../../parts/address.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { countText, percentText, scoreText, unknownText } from '../../parts/format.ts';
import { Histogram } from '../../parts/histogram.tsx';
import { LineChart } from '../../parts/line-chart.tsx';
import { type EvaluabilityRow, evaluableOf, skipReasons } from '../../parts/missing-data.ts';
import { MissingDataList } from '../../parts/missing-data-list.tsx';
import { runsAddress } from '../../parts/page-links.ts';
import { RateCell } from '../../parts/rate-cell.tsx';
import { bucketOf, verdictSteps } from './verdict-steps.ts';

type Rate = Schemas['Rate'];

export interface EvaluatorDetailProps {
  readonly evaluator: Schemas['Evaluator'];
  /** Attempts of this evaluator since the start of the service. */
  readonly attempts: readonly EvaluabilityRow[];
  readonly query: Query;
  readonly from: string;
  readonly to: string | undefined;
}

export function EvaluatorDetail({ evaluator, attempts, query, from, to }: EvaluatorDetailProps) {
  const { name, on, summary, evaluator: id, version, threshold, target, conditional } = evaluator;
  return (
    <section class="card stack">
      <div class="row spread">
        <h2>{name}</h2>
        <a href={pageAddress('/evaluators', changedQuery(query, { evaluator: undefined }))}>Close</a>
      </div>
      <p>
        {on ? summary : 'It has verdicts in this time, but the configuration does not have it.'}{' '}
        <span class="dim">
          {on ? (
            <>
              <code>{id}</code> version {version}, {threshold === null ? 'without a threshold' : `passes from ${scoreText(threshold)}`},
              scores each {target}
              {conditional === true ? ' that its condition chooses' : ''}.
            </>
          ) : null}
        </span>
      </p>
      <VerdictLinks evaluator={evaluator} query={query} />
      <RatesByAgent evaluator={evaluator} query={query} from={from} to={to} />
      <RateOverTime evaluator={evaluator} query={query} from={from} to={to} />
      <ScoreHistogram evaluator={evaluator} query={query} from={from} to={to} />
      <Skipped attempts={attempts} />
      {evaluator.kind === 'judge' ? (
        <p>
          <a href={pageAddress('/judges', { evaluator: name })}>Agreement with people, drift and cost of its judge</a>
        </p>
      ) : null}
    </section>
  );
}

const words = [
  ['pass', 'passed'],
  ['fail', 'failed'],
  ['raw', 'scored without a threshold'],
  ['skipped', 'skipped'],
  ['error', 'without a verdict for an error'],
] as const;

function VerdictLinks({ evaluator: { name, verdicts }, query }: Pick<EvaluatorDetailProps, 'evaluator' | 'query'>) {
  const { agent, version, model } = query;
  return (
    <ul class="row plain-list" aria-label="Runs by verdict">
      {words.map(([word, text]) =>
        verdicts[word] === 0 ? null : (
          <li key={word}>
            <a href={runsAddress(query, { agent, version, model, evaluator: name, verdict: word })}>
              {countText(verdicts[word])} {text}
            </a>
          </li>
        ),
      )}
    </ul>
  );
}

function RatesByAgent({ evaluator: { name }, query, from, to }: Omit<EvaluatorDetailProps, 'attempts'>) {
  const { agent, version, model } = query;
  // The total of one agent is its rate already.
  const by = agent === undefined || agent === '' ? 'agent' : undefined;
  const found = useGet('/rates', { query: { from, to, agent, version, model, evaluator: name, by } });
  if (found.error !== undefined) return <ErrorBox error={found.error} onRetry={found.reload} />;
  const rows = (found.value?.rates ?? []).toSorted((one, other) => (one.rate.point ?? 2) - (other.rate.point ?? 2));
  if (rows.length === 0) return null;
  const address = (row: Rate): string => runsAddress(query, { agent: row.agent ?? agent, version, model, evaluator: name });
  const columns: readonly Column<Rate>[] = [
    { key: 'agent', title: 'Agent', cell: (row) => <a href={address(row)}>{row.agent ?? 'all agents'}</a> },
    {
      key: 'rate',
      title: rows[0]?.measure === 'mean_score' ? 'Mean score of all traffic' : 'Pass rate of all traffic',
      cell: ({ rate }) => <RateCell estimate={rate} />,
    },
    ...(rows.some(({ corrected }) => corrected)
      ? [{ key: 'judged', title: 'As judged', cell: ({ judged }: Rate) => <RateCell estimate={judged} /> }]
      : []),
    { key: 'runs', title: 'Runs scored', isNumber: true, cell: ({ judged }) => countText(judged.n) },
    {
      key: 'labels',
      title: 'Labels of people',
      isNumber: true,
      cell: ({ labels, drawn_labels: drawn, corrected, uncorrected }) => (
        <span title={uncorrected?.explanation}>
          {`${countText(labels)}, ${countText(drawn)} drawn at random${corrected ? ' correct the rate' : ''}`}
        </span>
      ),
    },
    {
      key: 'covered',
      title: 'Covers',
      isNumber: true,
      cell: ({ uncovered }) => (uncovered === null ? unknownText : percentText(1 - uncovered)),
    },
    { key: 'waiting', title: 'Waiting', isNumber: true, cell: ({ waiting }) => percentText(waiting) },
  ];
  return (
    <DataTable
      caption={`Rates of ${name} by agent`}
      columns={columns}
      rows={rows}
      rowKey={(row) => JSON.stringify(row.agent)}
      href={address}
    />
  );
}

function RateOverTime({ evaluator: { name }, query, from, to }: Omit<EvaluatorDetailProps, 'attempts'>) {
  const { agent, version, model } = query;
  const bucket = bucketOf(from, to, Date.now());
  const found = useGet('/summary', { query: { from, to, agent, version, model, evaluator: name, bucket } });
  if (found.error !== undefined) return <ErrorBox error={found.error} onRetry={found.reload} />;
  const steps = verdictSteps(found.value?.summary ?? []);
  if (steps.length < 2) return null;
  const hasRates = steps.some(({ rate }) => rate !== null);
  return (
    <LineChart
      title={`${hasRates ? 'Passed among the scored runs' : 'Mean score'}, by ${bucket}`}
      times={steps.map(({ at }) => at)}
      series={[
        hasRates
          ? { title: 'passed', values: steps.map(({ rate }) => rate), text: percentText }
          : { title: 'mean score', values: steps.map(({ score }) => score), text: scoreText },
      ]}
      range={[0, 1]}
      height={150}
    />
  );
}

/** The rollups behind it have no version and no model. */
function ScoreHistogram({ evaluator: { name }, query, from, to }: Omit<EvaluatorDetailProps, 'attempts'>) {
  const { agent, version, model } = query;
  const isSplit = (version ?? '') !== '' || (model ?? '') !== '';
  const found = useGet('/distributions', { query: { from, to, agent, of: 'score', by: 'evaluator', evaluator: name } }, { isOff: isSplit });
  if (found.error !== undefined) return <ErrorBox error={found.error} onRetry={found.reload} />;
  const one = found.value?.distributions.find((distribution) => distribution.name === name);
  if (one === undefined || one.count === 0) return null;
  return (
    <Histogram
      title={`Scores of ${countText(one.count)} runs, mean ${scoreText(one.mean)}`}
      bins={one.histogram}
      min={0}
      max={1}
      text={scoreText}
    />
  );
}

function Skipped({ attempts }: Pick<EvaluatorDetailProps, 'attempts'>) {
  const reasons = skipReasons(attempts);
  const { scored, of, agents, agentsScored } = evaluableOf(attempts);
  if (attempts.length === 0) return null;
  return (
    <>
      <h3>Skipped runs, since the start of the service</h3>
      <p class="dim">
        {of === 0
          ? 'No run had anything to score.'
          : `It scored ${countText(scored)} of ${countText(of)} runs with something to score, of ${agentsScored} of ${agents} agents.`}
      </p>
      {reasons.length === 0 ? <p>No run was skipped.</p> : <MissingDataList reasons={reasons} />}
    </>
  );
}
