/** The results of one experiment: failed ones first, or those of one status. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import type { ApiFailure, Schemas } from '../../api/client.ts';
import { failureOf, useApi } from '../../api/use-api.ts';
import { pageAddress } from '../../parts/address.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { costText, countText, durationText, lineText, unknownText } from '../../parts/format.ts';
import { TabLinks } from '../../parts/tab-links.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { whyText } from './paired-rows.ts';

type Result = Schemas['ExperimentResult'];
type Status = Result['status'];

/** Failed ones first. */
const statusOrder: readonly Status[] = ['failed', 'error', 'skipped', 'passed'];
const statusTitles: { readonly [status in Status]: string } = {
  failed: 'Failed',
  error: 'Without a usable judge',
  skipped: 'Without a score',
  passed: 'Passed',
};
const statusKinds: { readonly [status in Status]: readonly [kind: string, icon: string] } = {
  failed: ['fail', '✗'],
  error: ['error', '!'],
  skipped: ['skipped', '○'],
  passed: ['pass', '✓'],
};
const pageSize = 100;

export interface ExperimentResultsProps {
  readonly id: string;
  readonly tenant: string;
  readonly dataset: Schemas['Experiment']['dataset'];
  readonly statuses: Schemas['Experiment']['statuses'];
}

export function ExperimentResults({ id, tenant, dataset, statuses }: ExperimentResultsProps) {
  const { query } = useAddress();
  const chosen = statusOrder.find((status) => status === query['status']);
  const { rows, hasMore, isLoading, error, more, again } = useResults(id, tenant, chosen);
  const address = (status: Status | undefined): string => pageAddress(`/experiments/${id}`, { tenant, status });
  const columns = resultColumns(tenant, dataset);
  return (
    <section class="stack" aria-label="Results">
      <h2>Results</h2>
      <TabLinks
        label="Results by status"
        tabs={[
          { title: 'All, failed first', href: address(undefined), isCurrent: chosen === undefined },
          ...statusOrder
            .filter((status) => statuses[status] > 0 || status === chosen)
            .map((status) => ({
              title: `${statusTitles[status]} (${countText(statuses[status])})`,
              href: address(status),
              isCurrent: chosen === status,
            })),
        ]}
      />
      <AnswerState of={{ rows, isLoading, error, reload: again }} what="the results" />
      {rows.length > 0 ? (
        <DataTable
          caption="Results, failed first"
          columns={columns}
          rows={rows}
          rowKey={({ example_id: of, repeat }) => `${of}/${repeat}`}
        />
      ) : !isLoading && error === undefined ? (
        <p class="dim">There is no result of this status.</p>
      ) : null}
      {hasMore ? (
        <div>
          <button type="button" disabled={isLoading} onClick={more}>
            {isLoading ? 'Loading …' : 'More results'}
          </button>
        </div>
      ) : null}
    </section>
  );
}

interface ResultsState {
  readonly rows: readonly Result[];
  /** Beginning of the next page; `undefined` at the end. */
  readonly next: { readonly status: number; readonly cursor: string | undefined } | undefined;
  readonly isLoading: boolean;
  readonly error?: ApiFailure;
}

/** Reads status by status, each page by page. */
function useResults(id: string, tenant: string, chosen: Status | undefined) {
  const api = useApi();
  const [state, setState] = useState<ResultsState>({ rows: [], next: undefined, isLoading: true });
  const request = useRef(new AbortController());
  const order = chosen === undefined ? statusOrder : [chosen];

  const read = useCallback(
    async (from: NonNullable<ResultsState['next']>, before: readonly Result[]): Promise<void> => {
      request.current.abort();
      const abort = new AbortController();
      request.current = abort;
      setState({ rows: before, next: from, isLoading: true });
      const rows = [...before];
      let next: ResultsState['next'] = from;
      try {
        while (next !== undefined && rows.length < before.length + pageSize) {
          const at: NonNullable<ResultsState['next']> = next;
          const page = await api.get(
            '/experiments/{id}/results',
            { path: { id }, query: { tenant, status: order[at.status], cursor: at.cursor, limit: pageSize } },
            abort.signal,
          );
          rows.push(...page.results);
          next =
            page.next !== null
              ? { status: at.status, cursor: page.next }
              : at.status + 1 < order.length
                ? { status: at.status + 1, cursor: undefined }
                : undefined;
        }
        setState({ rows, next, isLoading: false });
      } catch (error) {
        if (!abort.signal.aborted) setState({ rows, next, isLoading: false, error: failureOf(error) });
      }
    },
    [api, id, tenant, chosen],
  );

  useEffect(() => {
    void read({ status: 0, cursor: undefined }, []);
    return () => request.current.abort();
  }, [read]);

  const goOn = (): void => {
    if (state.next !== undefined) void read(state.next, state.rows);
  };
  return { rows: state.rows, hasMore: state.next !== undefined, isLoading: state.isLoading, error: state.error, more: goOn, again: goOn };
}

function resultColumns(tenant: string, dataset: ExperimentResultsProps['dataset']): readonly Column<Result>[] {
  return [
    {
      key: 'status',
      title: 'Status',
      cell: ({ status }) => {
        const [kind, icon] = statusKinds[status];
        return (
          <span class={`chip ${kind}`}>
            <span aria-hidden="true">{icon}</span>
            {status}
          </span>
        );
      },
    },
    {
      key: 'example',
      title: 'Example',
      cell: (result) => <ExampleLink id={result.example_id} tenant={tenant} dataset={dataset} repeat={result.repeat} />,
    },
    { key: 'input', title: 'Input', cell: ({ input }) => lineText(input, 200), wraps: true },
    { key: 'why', title: 'Why', cell: (result) => lineText(whyText(result), 400) || <span class="dim">{unknownText}</span>, wraps: true },
    {
      key: 'duration',
      title: 'Duration',
      isNumber: true,
      cell: ({ duration_us: took }) => durationText(took === null ? null : took / 1_000_000),
    },
    {
      key: 'tokens',
      title: 'Tokens',
      isNumber: true,
      cell: ({ input_tokens: read, output_tokens: written }) =>
        countText(read === null && written === null ? null : (read ?? 0) + (written ?? 0)),
    },
    { key: 'cost', title: 'Cost', isNumber: true, cell: ({ cost_usd: cost }) => costText(cost) },
    {
      key: 'run',
      title: 'Run',
      cell: ({ trace_id: trace, span_id: span }) =>
        trace === null || span === null ? (
          <span class="dim">none</span>
        ) : (
          <a href={pageAddress(`/runs/${trace}/${span}`, { tenant })}>open</a>
        ),
    },
  ];
}

interface ExampleLinkProps {
  readonly id: string;
  readonly tenant: string;
  readonly dataset: ExperimentResultsProps['dataset'];
  readonly repeat?: number;
}

/** A link where the dataset is in the store: a file has no page. */
export function ExampleLink({ id, tenant, dataset, repeat = 1 }: ExampleLinkProps) {
  const text = <span class="mono">{lineText(id, 40)}</span>;
  return (
    <>
      {dataset === null || dataset.version === null ? (
        text
      ) : (
        <a href={pageAddress(`/datasets/${dataset.name}`, { tenant, version: String(dataset.version), example: id })}>{text}</a>
      )}
      {repeat > 1 ? <span class="dim"> run {repeat}</span> : null}
    </>
  );
}
