/** Two experiments side by side: rates with the paired difference, what they took, and the examples that flipped. */
import '../../styles/experiments.css';
import { addressOf, type Schemas } from '../../api/client.ts';
import { useGet } from '../../api/use-api.ts';
import { pageAddress } from '../../parts/address.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { ChoiceField } from '../../parts/fields.tsx';
import { countText, lineText, timeText, unknownText } from '../../parts/format.ts';
import { PageFrame } from '../../parts/page-frame.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { ComparedExamples } from './compared-examples.tsx';
import { ComparedIssues } from './compared-issues.tsx';
import { EstimateFigure } from './estimate-figure.tsx';
import {
  commitText,
  datasetText,
  differenceText,
  type EvaluatorComparison,
  headline,
  probabilityText,
  resultTexts,
  unscoredText,
  usageDifferenceText,
  usageText,
} from './experiment-text.ts';
import { NoExperiments } from './no-experiments.tsx';

type Experiment = Schemas['Experiment'];
type Compared = Schemas['ExperimentComparison'];

export function ExperimentComparison() {
  const { query } = useAddress();
  const { a = '', b = '', tenant = '' } = query;
  const list = useGet('/experiments', { query: { tenant, limit: 200 } });
  const isPair = a !== '' && b !== '';
  const comparison = useGet('/experiments/compare', { query: { a, b, tenant } }, { isOff: !isPair });
  const experiments = list.value?.experiments ?? [];
  return (
    <PageFrame
      title="Compare two experiments"
      actions={isPair && comparison.value !== undefined ? <Reports a={a} b={b} tenant={tenant} /> : undefined}
    >
      {list.error === undefined ? null : <ErrorBox error={list.error} onRetry={list.reload} />}
      {list.value?.experiments.length === 0 ? <NoExperiments isFiltered={false} /> : <Choices experiments={experiments} />}
      {!isPair ? (
        experiments.length === 0 ? null : (
          <EmptyState title="Choose two experiments">
            <p>A is what was before, and B is what is to be better. Both should have run on the same dataset.</p>
          </EmptyState>
        )
      ) : comparison.value !== undefined ? (
        <Found comparison={comparison.value} tenant={tenant} />
      ) : (
        <AnswerState of={comparison} what="the comparison" />
      )}
    </PageFrame>
  );
}

const reports = [
  ['markdown', 'Markdown'],
  ['html', 'HTML'],
  ['junit', 'JUnit'],
  ['json', 'JSON'],
  ['table', 'Text'],
] as const;

function Reports({ a, b, tenant }: { readonly a: string; readonly b: string; readonly tenant: string }) {
  return (
    <>
      <span class="dim">Report:</span>
      {reports.map(([format, title]) => (
        <a key={format} class="button" download href={addressOf('/experiments/compare', { query: { a, b, tenant, format } })}>
          {title}
        </a>
      ))}
    </>
  );
}

function Choices({ experiments }: { readonly experiments: readonly Experiment[] }) {
  const { query, change } = useAddress();
  const { a = '', b = '' } = query;
  const optionsOf = (chosen: string) => [
    { value: '', title: 'Choose …' },
    // A name means its newest experiment, and is not an id of the list.
    ...(chosen === '' || experiments.some(({ id }) => id === chosen) ? [] : [{ value: chosen, title: chosen }]),
    ...experiments.map(({ id, name, began_at: at }) => ({
      value: id,
      title: `${lineText(name, 40)} · ${timeText(at)} · ${lineText(id, 40)}`,
    })),
  ];
  return (
    <div class="compared">
      <ChoiceField label="A, before" value={a} options={optionsOf(a)} onChange={(id) => change({ a: id })} />
      <button type="button" disabled={a === '' && b === ''} onClick={() => change({ a: b, b: a })}>
        Swap
      </button>
      <ChoiceField label="B, after" value={b} options={optionsOf(b)} onChange={(id) => change({ b: id })} />
    </div>
  );
}

function Found({ comparison, tenant }: { readonly comparison: Compared; readonly tenant: string }) {
  const { a, b, examples, only_a: onlyA, only_b: onlyB, evaluators, usage, lost, warnings } = comparison;
  const isWorse = comparison.regressions.length + comparison.unscored_regressions.length > 0;
  const hasLessScored = evaluators.some(({ unscored }) => unscored !== null && unscored.less_scored.count > 0);
  const kind = isWorse ? 'failed' : examples === 0 || lost.length > 0 || hasLessScored ? 'warning' : '';
  return (
    <>
      <div class={`box ${kind}`} role="status">
        <div class="text">
          <strong>{headline(comparison)}</strong>
          <br />
          <span class="dim">
            {countText(examples)} {examples === 1 ? 'example is' : 'examples are'} in both.
            {unpairedText('A', onlyA)}
            {unpairedText('B', onlyB)}
            {lost.length === 0 ? '' : ` Nothing of B has a score of ${lost.join(', ')}, so a regression there stays unseen.`}
          </span>
        </div>
      </div>
      {warnings.map((text) => (
        <p key={text} class="box warning">
          <span class="text">{text}</span>
        </p>
      ))}
      <div class="sides">
        <ExperimentFacts letter="A" experiment={a} />
        <ExperimentFacts letter="B" experiment={b} />
      </div>
      <section class="stack" aria-label="Rates by evaluator">
        <h2>By evaluator</h2>
        <DataTable
          name="experiment-comparison"
          caption="Rates of A and B, and the paired difference"
          columns={evaluatorColumns(comparison)}
          rows={evaluators}
          rowKey={({ name }) => name}
        />
        {evaluators.map((one) => {
          const text = unscoredText(one);
          return text === undefined ? null : (
            <p key={one.name} class="box warning">
              <span class="text">{text}</span>
            </p>
          );
        })}
      </section>
      {usage.length === 0 ? null : (
        <section class="stack" aria-label="What a run takes">
          <h2>What a run takes</h2>
          <DataTable caption="Means of a run" columns={usageColumns} rows={usage} rowKey={({ of }) => of} />
        </section>
      )}
      <ComparedIssues issues={comparison.issues} />
      <ComparedExamples comparison={comparison} tenant={tenant} />
    </>
  );
}

function unpairedText(letter: string, { count }: Compared['only_a']): string {
  return count === 0 ? '' : ` ${countText(count)} ${count === 1 ? 'is' : 'are'} only in ${letter} and left out.`;
}

function ExperimentFacts({
  letter,
  experiment: { id, tenant, name, dataset, provenance, began_at: began },
}: {
  readonly letter: string;
  readonly experiment: Compared['a'];
}) {
  return (
    <div class="side">
      <div class="row">
        <span class="letter">{letter}</span>
        <a href={pageAddress(`/experiments/${id}`, { tenant })}>{lineText(name, 80)}</a>
        <span class="dim mono">{lineText(id, 60)}</span>
      </div>
      <span class="dim">
        {timeText(began)}, dataset {lineText(datasetText(dataset), 80)}, commit {lineText(commitText(provenance), 60)}
      </span>
    </div>
  );
}

function evaluatorColumns({ a, b }: Pick<Compared, 'a' | 'b'>): readonly Column<EvaluatorComparison>[] {
  const { tenant } = a;
  return [
    { key: 'name', title: 'Evaluator', cell: ({ name }) => lineText(name, 60) },
    { key: 'result', title: 'Result', cell: ({ result }) => <ResultChip result={result} /> },
    { key: 'a', title: 'A', isNumber: true, cell: (one) => <EstimateFigure estimate={one.a} measure={one.measure} /> },
    { key: 'b', title: 'B', isNumber: true, cell: (one) => <EstimateFigure estimate={one.b} measure={one.measure} /> },
    { key: 'difference', title: 'Difference, B less A', isNumber: true, cell: (one) => <Difference of={one} /> },
    { key: 'picture', title: 'Interval', from: 'wide', cell: (one) => <IntervalPicture of={one} /> },
    { key: 'p', title: 'p (Holm)', isNumber: true, cell: ({ adjusted_p: p }) => probabilityText(p) },
    { key: 'examples', title: 'Examples', from: 'medium', isNumber: true, cell: ({ examples }) => countText(examples) },
    {
      key: 'flipped',
      title: 'Changed',
      isNumber: true,
      cell: ({ name, flipped_count: count }) =>
        count === 0 ? (
          <span class="dim">0</span>
        ) : (
          <a href={pageAddress('/experiments/compare', { a: a.id, b: b.id, tenant, evaluator: name })}>{countText(count)}</a>
        ),
    },
  ];
}

const resultKinds = {
  better: 'pass',
  worse: 'fail',
  worse_with_unscored: 'fail',
  no_difference_shown: 'raw',
  not_comparable: 'skipped',
} as const;
const resultIcons = { better: '↑', worse: '↓', worse_with_unscored: '↓', no_difference_shown: '=', not_comparable: '○' } as const;

function ResultChip({ result }: Pick<EvaluatorComparison, 'result'>) {
  return (
    <span class={`chip ${resultKinds[result]}`}>
      <span aria-hidden="true">{resultIcons[result]}</span>
      {resultTexts[result]}
    </span>
  );
}

function Difference({ of: { difference, measure } }: { readonly of: EvaluatorComparison }) {
  if (difference.kind === 'not_estimable')
    return (
      <span class="dim" title={difference.explanation}>
        {unknownText}
        <span class="visually-hidden">{difference.explanation}</span>
      </span>
    );
  const text = (value: number): string => differenceText(value, measure);
  return (
    <span class="figure">
      <span class="figure-value">{text(difference.point)}</span>{' '}
      <span class="figure-interval">
        ({text(difference.low)} to {text(difference.high)}
        {measure === 'rate' ? ' points' : ''})
      </span>
    </span>
  );
}

const picture = { width: 140, height: 16, margin: 4 } as const;

/** From −1 to 1, with a mark at 0. The column before it has the figures. */
function IntervalPicture({ of: { difference, result } }: { readonly of: EvaluatorComparison }) {
  if (difference.kind === 'not_estimable') return null;
  const { width, height, margin } = picture;
  const x = (value: number): number => margin + ((Math.max(-1, Math.min(1, value)) + 1) / 2) * (width - 2 * margin);
  const middle = height / 2;
  return (
    <svg class={`interval ${result}`} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      <line class="zero" x1={x(0)} x2={x(0)} y1={0} y2={height} />
      <line class="range" x1={x(difference.low)} x2={x(difference.high)} y1={middle} y2={middle} />
      <circle cx={x(difference.point)} cy={middle} r={3.5} />
    </svg>
  );
}

type Usage = Compared['usage'][number];

const usageTitles = { cost: 'Cost', tokens: 'Tokens', duration: 'Duration' } as const;
const usageColumns: readonly Column<Usage>[] = [
  { key: 'of', title: 'Mean of a run', cell: ({ of }) => usageTitles[of] },
  { key: 'a', title: 'A', isNumber: true, cell: (one) => usageText(one, one.a) },
  { key: 'b', title: 'B', isNumber: true, cell: (one) => usageText(one, one.b) },
  {
    key: 'difference',
    title: 'Difference, B less A',
    isNumber: true,
    cell: (one) =>
      one.difference.kind === 'estimated' ? (
        <span class="figure">
          {usageDifferenceText(one, one.difference.point)}{' '}
          <span class="figure-interval">
            ({usageDifferenceText(one, one.difference.low)} to {usageDifferenceText(one, one.difference.high)})
          </span>
        </span>
      ) : (
        <span title={one.difference.explanation}>
          {usageDifferenceText(one, one.b - one.a)}
          <span class="visually-hidden"> {one.difference.explanation}</span>
        </span>
      ),
  },
  { key: 'examples', title: 'Examples', isNumber: true, cell: ({ examples }) => countText(examples) },
];
