/** The examples of a comparison: those that flipped, or all that both have. Both runs stand next to each other. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ApiFailure, ApiClient, Schemas } from '../../api/client.ts';
import { failureOf, useApi } from '../../api/use-api.ts';
import { changedQuery, pageAddress } from '../../parts/address.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import { type Filter, FilterBar } from '../../parts/filter-bar.tsx';
import { costText, countText, durationText, lineText } from '../../parts/format.ts';
import { Loading } from '../../parts/page-frame.tsx';
import { TabLinks } from '../../parts/tab-links.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { ExampleLink } from './experiment-results.tsx';
import { flippedRows, type PairRow, type PairSide, sharedRows } from './paired-rows.ts';
import { RunSide } from './run-side.tsx';

type Compared = Schemas['ExperimentComparison'];
type Result = Schemas['ExperimentResult'];

const shownAtFirst = 25;
/** Results of each experiment that the page reads for the list of all examples. */
const resultsMax = 10_000;

export function ComparedExamples({ comparison, tenant }: { readonly comparison: Compared; readonly tenant: string }) {
  const { query } = useAddress();
  const { evaluator, direction } = query;
  const isAll = query['examples'] === 'all';
  const { evaluators } = comparison;
  const all = useAllResults(comparison, tenant, !isAll);
  const rows = useMemo(() => {
    const found = isAll ? sharedRows(all.first, all.second, evaluator) : flippedRows(evaluators, evaluator === '' ? undefined : evaluator);
    return direction === undefined || direction === '' ? found : found.filter((row) => row.direction === direction);
  }, [comparison, isAll, all.first, all.second, evaluator, direction]);
  const filters: readonly Filter[] = [
    { name: 'evaluator', title: 'Evaluator', kind: 'choice', options: evaluators.map(({ name }) => ({ value: name, title: name })) },
    {
      name: 'direction',
      title: 'Change',
      kind: 'choice',
      options: [
        { value: 'worse', title: 'worse in B' },
        { value: 'better', title: 'better in B' },
      ],
    },
  ];
  const [shown, setShown] = useState(shownAtFirst);
  const address = (examples: string | undefined): string => pageAddress('/experiments/compare', changedQuery(query, { examples }));
  return (
    <section class="stack" aria-label="Examples">
      <h2>Examples</h2>
      <TabLinks
        label="Which examples"
        tabs={[
          { title: 'That changed', href: address(undefined), isCurrent: !isAll },
          { title: 'All that both have', href: address('all'), isCurrent: isAll },
        ]}
      />
      <FilterBar filters={filters} label="Filters of examples" />
      {all.error === undefined ? null : <ErrorBox error={all.error} />}
      {isAll && all.isLoading ? <Loading what="the results" /> : null}
      {all.isCut ? <p class="dim">Only the first {countText(resultsMax)} results of each experiment are read.</p> : null}
      <p class="dim" role="status">
        {countText(rows.length)} {rows.length === 1 ? 'row' : 'rows'}
      </p>
      <ol class="pairs">
        {rows.slice(0, shown).map((row) => (
          <PairItem key={row.key} row={row} comparison={comparison} tenant={tenant} />
        ))}
      </ol>
      {rows.length > shown ? (
        <div>
          <button type="button" onClick={() => setShown((before) => before + shownAtFirst)}>
            More examples
          </button>
        </div>
      ) : null}
    </section>
  );
}

interface AllResults {
  readonly first: readonly Result[];
  readonly second: readonly Result[];
  readonly isLoading: boolean;
  readonly isCut: boolean;
  readonly error?: ApiFailure;
}

const noResults: AllResults = { first: [], second: [], isLoading: false, isCut: false };

function useAllResults({ a, b }: Compared, tenant: string, isOff: boolean): AllResults {
  const api = useApi();
  const [state, setState] = useState(noResults);
  useEffect(() => {
    if (isOff) return setState(noResults);
    const abort = new AbortController();
    setState({ ...noResults, isLoading: true });
    Promise.all([resultsOf(api, a.id, tenant, abort.signal), resultsOf(api, b.id, tenant, abort.signal)]).then(
      ([one, other]) => setState({ first: one.results, second: other.results, isLoading: false, isCut: one.isCut || other.isCut }),
      (error: unknown) => {
        if (!abort.signal.aborted) setState({ ...noResults, error: failureOf(error) });
      },
    );
    return () => abort.abort();
  }, [api, a.id, b.id, tenant, isOff]);
  return state;
}

async function resultsOf(
  api: ApiClient,
  id: string,
  tenant: string,
  signal: AbortSignal,
): Promise<{ readonly results: readonly Result[]; readonly isCut: boolean }> {
  const results: Result[] = [];
  let cursor: string | null = null;
  do {
    const page: { readonly results: readonly Result[]; readonly next: string | null } = await api.get(
      '/experiments/{id}/results',
      { path: { id }, query: { tenant, limit: 1_000, cursor: cursor ?? undefined } },
      signal,
    );
    results.push(...page.results);
    cursor = page.next;
  } while (cursor !== null && results.length < resultsMax);
  return { results, isCut: cursor !== null };
}

interface PairItemProps {
  readonly row: PairRow;
  readonly comparison: Compared;
  readonly tenant: string;
}

const directionChips = {
  worse: ['fail', '↓', 'worse'],
  better: ['pass', '↑', 'better'],
  same: ['raw', '=', 'the same'],
} as const;

function PairItem({ row, comparison: { b }, tenant }: PairItemProps) {
  const [isOpen, setOpen] = useState(false);
  const [kind, icon, word] = directionChips[row.direction];
  const hasRuns = row.a.traceId !== null || row.b.traceId !== null;
  return (
    <li class="card stack">
      <div class="row">
        <ExampleLink id={row.exampleId} tenant={tenant} dataset={b.dataset} />
        {row.evaluator === undefined ? null : <span class="dim">{lineText(row.evaluator, 60)}</span>}
        <span class={`chip ${kind}`}>
          <span aria-hidden="true">{icon}</span>
          {word}
        </span>
        {hasRuns ? (
          <button type="button" aria-expanded={isOpen} onClick={() => setOpen((before) => !before)}>
            {isOpen ? 'Hide both runs' : 'Show both runs'}
          </button>
        ) : null}
      </div>
      {row.input === null ? null : <p>{lineText(row.input, 400)}</p>}
      <div class="sides">
        <Side letter="A" side={row.a} tenant={tenant} isOpen={isOpen} />
        <Side letter="B" side={row.b} tenant={tenant} isOpen={isOpen} />
      </div>
    </li>
  );
}

const icons = { pass: '✓', fail: '✗', raw: '•', error: '!', skipped: '○' } as const;

function Side({
  letter,
  side,
  tenant,
  isOpen,
}: {
  readonly letter: string;
  readonly side: PairSide;
  readonly tenant: string;
  readonly isOpen: boolean;
}) {
  const { word, kind, explanation, cost, tokens, seconds } = side;
  const took = [
    ...(seconds === null ? [] : [durationText(seconds)]),
    ...(tokens === null ? [] : [`${countText(tokens)} tokens`]),
    ...(cost === null ? [] : [costText(cost)]),
  ];
  return (
    <div class="side">
      <div class="row">
        <span class="letter">{letter}</span>
        <span class={`chip ${kind}`}>
          <span aria-hidden="true">{icons[kind]}</span>
          {word}
        </span>
        <span class="dim">{took.join(', ')}</span>
      </div>
      <p>{lineText(explanation, 1_000)}</p>
      <RunSide traceId={side.traceId} spanId={side.spanId} tenant={tenant} isOpen={isOpen} />
    </div>
  );
}
