/** One experiment: what was run, its rates by evaluator, and its results with the failed ones first. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import '../../styles/experiments.css';
import { addressOf, type Schemas } from '../../api/client.ts';
import { useApi, useGet } from '../../api/use-api.ts';
import { pageAddress } from '../../parts/address.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { costText, countText, lineText, percentText, timeText } from '../../parts/format.ts';
import { PageFrame } from '../../parts/page-frame.tsx';
import { useMay } from '../../parts/session.tsx';
import { useToast } from '../../parts/toast.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { commitText, datasetText } from './experiment-text.ts';
import { ExperimentResults } from './experiment-results.tsx';
import { EstimateFigure } from './estimate-figure.tsx';
import { StatusCounts } from './status-counts.tsx';

type Summarised = Schemas['ExperimentWithSummary'];
type EvaluatorSummary = Summarised['summary']['evaluators'][number];

const columns: readonly Column<EvaluatorSummary>[] = [
  { key: 'name', title: 'Evaluator', cell: ({ name }) => lineText(name, 80) },
  {
    key: 'rate',
    title: 'Rate or mean',
    isNumber: true,
    cell: ({ estimate, measure }) => <EstimateFigure estimate={estimate} measure={measure} />,
  },
  { key: 'passed', title: 'Passed', isNumber: true, cell: ({ passed }) => countText(passed) },
  { key: 'failed', title: 'Failed', isNumber: true, cell: ({ failed }) => countText(failed) },
  { key: 'raw', title: 'Scored only', isNumber: true, cell: ({ raw }) => countText(raw) },
  { key: 'skipped', title: 'Skipped', isNumber: true, cell: ({ skipped }) => countText(skipped) },
  { key: 'errors', title: 'No judge', isNumber: true, cell: ({ errors }) => countText(errors) },
];
const repeatColumn: Column<EvaluatorSummary> = {
  key: 'repeats',
  title: 'pass@k, pass^k',
  cell: ({ repeats }) => {
    const last = repeats.at(-1);
    return last === undefined ? null : `k=${last.k}: ${percentText(last.pass_at_k)}, ${percentText(last.pass_hat_k)}`;
  },
};

export function Experiment({ params: { id = '' } }: { readonly params: { readonly [name: string]: string } }) {
  const { query } = useAddress();
  const tenant = query['tenant'] ?? '';
  const found = useGet('/experiments/{id}', { path: { id }, query: { tenant } });
  const { value, error } = found;
  const mayChange = useMay('annotate');
  const [isDeleting, setDeleting] = useState(false);
  if (value === undefined)
    return (
      <PageFrame title={lineText(id, 100)}>
        {error?.status === 404 ? (
          <EmptyState title="There is no such experiment">
            <p>
              It may be deleted, or belong to another tenant. <a href="/experiments">All experiments</a>
            </p>
          </EmptyState>
        ) : (
          <AnswerState of={found} what="the experiment" />
        )}
      </PageFrame>
    );
  const { summary } = value;
  return (
    <PageFrame
      title={lineText(value.name, 100)}
      actions={
        <>
          <a class="button" href={pageAddress('/experiments/compare', { b: id, tenant })}>
            Compare with another
          </a>
          <a
            class="button"
            download={`${id}.json`}
            href={addressOf('/experiments/{id}/results', { path: { id }, query: { tenant, limit: 1_000 } })}
          >
            Results as JSON
          </a>
          {mayChange ? (
            <button type="button" onClick={() => setDeleting(true)}>
              Delete
            </button>
          ) : null}
        </>
      }
    >
      <Facts experiment={value} />
      <DataTable
        caption="Rates by evaluator"
        columns={summary.evaluators.some(({ repeats }) => repeats.length > 0) ? [...columns, repeatColumn] : columns}
        rows={summary.evaluators}
        rowKey={({ name }) => name}
      />
      <ExperimentResults id={id} tenant={tenant} dataset={value.dataset} statuses={value.statuses} />
      <DeleteDialog experiment={value} isOpen={isDeleting} onClose={() => setDeleting(false)} />
    </PageFrame>
  );
}

function Facts({ experiment }: { readonly experiment: Summarised }) {
  const { id, tenant, dataset, state, began_at: began, ended_at: ended, provenance, statuses, repeats, summary } = experiment;
  const address =
    dataset === null || dataset.version === null
      ? undefined
      : pageAddress(`/datasets/${dataset.name}`, { tenant, version: String(dataset.version) });
  return (
    <dl class="facts">
      <Fact title="Results">
        <StatusCounts statuses={statuses} />
      </Fact>
      <Fact title="State">
        {state}
        {state === 'running' ? <span class="dim">, or nobody has ended it</span> : null}
      </Fact>
      <Fact title="Dataset">
        {address === undefined ? lineText(datasetText(dataset), 100) : <a href={address}>{lineText(datasetText(dataset), 100)}</a>}
        {repeats > 1 ? <span class="dim">, each example {repeats} times</span> : null}
      </Fact>
      <Fact title="Began">{timeText(began)}</Fact>
      <Fact title="Ended">{timeText(ended)}</Fact>
      <Fact title="Commit">
        <span class="mono">{lineText(commitText(provenance), 100)}</span>
      </Fact>
      <Fact title="Cost">
        {costText(summary.cost_usd)}
        {summary.results_without_cost > 0 && summary.cost_usd !== null ? (
          <span class="dim"> ({countText(summary.results_without_cost)} without a cost)</span>
        ) : null}
      </Fact>
      <Fact title="Tokens">{countText(summary.tokens)}</Fact>
      <Fact title="Id">
        <span class="mono">{lineText(id, 100)}</span>
      </Fact>
    </dl>
  );
}

function Fact({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <div>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function DeleteDialog({
  experiment: { id, tenant, name, results },
  isOpen,
  onClose,
}: {
  readonly experiment: Summarised;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}) {
  const api = useApi();
  const toast = useToast();
  const { go } = useAddress();
  return (
    <ConfirmDialog
      title={`Delete ${lineText(name, 60)}`}
      action="Delete the experiment"
      isOpen={isOpen}
      onClose={onClose}
      onConfirm={async () => {
        await api.send('DELETE /experiments/{id}', { path: { id }, query: { tenant } });
        toast(`${lineText(name, 60)} is deleted.`);
        go('/experiments');
      }}
    >
      <p>
        This deletes {countText(results)} {results === 1 ? 'result' : 'results'}. It cannot be undone. The runs themselves stay.
      </p>
    </ConfirmDialog>
  );
}
