/** The learnt process of a version: its figures, its graph, and how it differs from the version before. */
import type { Schemas } from '../../api/client.ts';
import { useGet } from '../../api/use-api.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { pText } from '../../parts/estimate.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import { countText, durationText, percentText } from '../../parts/format.ts';
import { Loading } from '../../parts/page-frame.tsx';
import { useAddress } from '../../parts/use-address.ts';
import { ProcessGraph } from './process-graph.tsx';
import { processDataOf, type ProcessEdge, processSteps } from './process-steps.ts';

type Drift = Schemas['ProcessDrift'];

/** Names the version without a version in the address and in the path of the API. */
const noVersion = '-';
/** Evaluators that switch learning on. */
const learning: ReadonlySet<string> = new Set(['process_conformance', 'novelty']);

export function ProcessSection({ agent, version }: { readonly agent: string; readonly version: string | undefined }) {
  const { query, change } = useAddress();
  const learnt = useGet('/processes', { query: { agent, limit: 100 } });
  const evaluators = useGet('/evaluators', {});
  const isLearning = evaluators.value?.evaluators.some(({ on, evaluator }) => on && learning.has(evaluator ?? '')) === true;
  const names = [...new Set((learnt.value?.processes ?? []).map((one) => one.version ?? noVersion))];
  const wanted = query['process'] ?? version;
  const chosen = names.find((name) => name === wanted) ?? names[0];
  return (
    <section class="stack">
      <div class="row">
        <h2>Learnt process</h2>
        {names.length === 0 ? null : (
          <label>
            Version{' '}
            <select value={chosen} onChange={(event) => change({ process: event.currentTarget.value })}>
              {names.map((name) => (
                <option key={name} value={name}>
                  {name === noVersion ? 'without a version' : name}
                </option>
              ))}
            </select>
          </label>
        )}
      </div>
      {learnt.error === undefined ? null : <ErrorBox error={learnt.error} onRetry={learnt.reload} />}
      {learnt.value !== undefined && chosen === undefined ? (
        <EmptyState title="No process is learnt">
          {isLearning ? (
            <p>
              The service learns from complete runs that end without an error and that no other rule fails, or from those that{' '}
              <code>learn_when</code> names. So far no such run of this agent came.
            </p>
          ) : (
            <p>
              Add <code>process_conformance</code> or <code>novelty</code> to <code>evaluators</code> in the configuration. The service then
              learns from passing runs which tool follows which, and says when a run leaves its usual way.
            </p>
          )}
        </EmptyState>
      ) : null}
      {chosen === undefined ? null : (
        <LearntProcess key={chosen} agent={agent} version={chosen} tenant={tenantOf(learnt.value?.processes ?? [], chosen)} />
      )}
    </section>
  );
}

/** The first, which was used last. */
function tenantOf(processes: readonly Schemas['Process'][], version: string): string {
  return processes.find((one) => (one.version ?? noVersion) === version)?.tenant ?? '';
}

function LearntProcess({ agent, version, tenant }: { readonly agent: string; readonly version: string; readonly tenant: string }) {
  const found = useGet('/processes/{agent}/{version}', { path: { agent, version }, query: { tenant } });
  const { value, error } = found;
  if (error !== undefined) return <ErrorBox error={error} onRetry={found.reload} />;
  const data = processDataOf(value?.model);
  if (value === undefined || data === undefined) return <Loading what="the process" />;
  const { figures, drift, runs, frozen } = value;
  return (
    <>
      <p class="dim">
        Learnt from {countText(runs)} passing runs{frozen ? ' and frozen' : ', and still learning'}. A usual run makes{' '}
        {countText(figures.tool_calls.p50)} tool calls (99 % of runs at most {countText(figures.tool_calls.p99)}) and takes{' '}
        {durationText(figures.seconds.p50)} (at most {durationText(figures.seconds.p99)}).
      </p>
      <ProcessGraph agent={agent} version={version === noVersion ? undefined : version} data={data} drift={drift} />
      {drift === null ? null : <DriftSummary drift={drift} />}
      <details>
        <summary>All steps as a table</summary>
        <DataTable
          caption="Steps of the process, the most frequent first"
          columns={stepColumns}
          rows={processSteps(data)}
          rowKey={({ key }) => key}
          isLong
        />
      </details>
    </>
  );
}

const stepColumns: readonly Column<ProcessEdge>[] = [
  { key: 'from', title: 'From', cell: ({ fromName }) => fromName ?? 'start' },
  { key: 'to', title: 'To', cell: ({ toName }) => toName ?? 'end' },
  { key: 'times', title: 'Times', isNumber: true, cell: ({ times }) => countText(times) },
  { key: 'share', title: 'Share of steps from there', isNumber: true, cell: ({ share }) => percentText(share) },
  { key: 'runs', title: 'Runs', isNumber: true, cell: ({ runs }) => countText(runs) },
  { key: 'rare', title: 'Unusual', cell: ({ isRare }) => (isRare ? <span class="chip warn">! rare</span> : '') },
];

type ChangedStep = Drift['steps'][number];

function DriftSummary({ drift }: { readonly drift: Drift }) {
  const { against, against_runs: runs, p, new_tools: fresh, gone_tools: gone, steps } = drift;
  return (
    <>
      <h3>Against {against ?? 'the runs without a version'}</h3>
      <p>
        {p === null
          ? 'There are too few steps for a test.'
          : p < 0.01
            ? `The process differs from that of ${countText(runs)} runs before (G-test, p ${pText(p)}). People must judge whether that is good.`
            : `No difference from the process of ${countText(runs)} runs before is shown (G-test, p ${pText(p)}).`}
        {fresh.length === 0 ? '' : ` New tools: ${fresh.join(', ')}.`}
        {gone.length === 0 ? '' : ` Gone: ${gone.join(', ')}.`}
      </p>
      {steps.length === 0 ? null : (
        <DataTable
          caption="Steps that differ most"
          columns={changeColumns}
          rows={steps}
          rowKey={({ from, to }) => JSON.stringify([from, to])}
        />
      )}
    </>
  );
}

const changeColumns: readonly Column<ChangedStep>[] = [
  { key: 'from', title: 'From', cell: ({ from }) => from ?? 'start' },
  { key: 'to', title: 'To', cell: ({ to }) => to ?? 'end' },
  { key: 'before', title: 'Before', isNumber: true, cell: ({ before }) => `${percentText(before.share)} of ${countText(before.of)}` },
  { key: 'now', title: 'Now', isNumber: true, cell: ({ now }) => `${percentText(now.share)} of ${countText(now.of)}` },
];
