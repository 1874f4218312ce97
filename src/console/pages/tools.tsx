/** Tool calls by agent and tool: errors, time, how arguments fail, and the verdicts on names and descriptions. */
import type { Schemas } from '../api/client.ts';
import { useGet } from '../api/use-api.ts';
import type { Query } from '../parts/address.ts';
import { AnswerState } from '../parts/answer-state.tsx';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { type Filter, FilterBar } from '../parts/filter-bar.tsx';
import { countText, durationText, unknownText } from '../parts/format.ts';
import { skipReasons } from '../parts/missing-data.ts';
import { MissingDataList } from '../parts/missing-data-list.tsx';
import { PageFrame } from '../parts/page-frame.tsx';
import { runsAddress } from '../parts/page-links.ts';
import { RateCell } from '../parts/rate-cell.tsx';
import { useTimeRange } from '../parts/time-range-picker.tsx';
import { useAddress } from '../parts/use-address.ts';
import { ArgumentFailures } from './tools/argument-failures.tsx';
import { DefinitionVerdicts } from './tools/definition-verdicts.tsx';

type Tool = Schemas['Tool'];

const splits = ['version', 'model', 'prompt'] as const;
const filters: readonly Filter[] = [
  { name: 'agent', title: 'Agent', kind: 'text' },
  { name: 'tool', title: 'Tool', kind: 'search' },
  { name: 'version', title: 'Version', kind: 'text' },
  { name: 'model', title: 'Model', kind: 'text' },
  { name: 'by', title: 'Split by', kind: 'choice', noChoice: 'nothing', options: splits.map((value) => ({ value, title: value })) },
];

export function Tools() {
  const { query } = useAddress();
  const { from, to } = useTimeRange();
  const { agent, tool, version, model } = query;
  const by = splits.find((one) => one === query['by']);
  const tools = useGet('/tools', { query: { from, to, agent, version, model, by } });
  const evaluators = useGet('/evaluators', { query: { from, to, agent, version, model } });
  const named = (id: string): string | undefined => evaluators.value?.evaluators.find(({ on, evaluator }) => on && evaluator === id)?.name;
  const failing = named('tool_error');
  const rows = worstToolsFirst(tools.value?.tools ?? []).filter(({ name }) => tool === undefined || tool === '' || name === tool);
  return (
    <PageFrame title="Tools">
      <FilterBar filters={filters} />
      <AnswerState of={tools} what="the tools" />
      {rows.length > 0 ? (
        <DataTable
          name="tools"
          caption="Tools by agent, the highest error rate first"
          columns={columnsOf({ query, by, failing })}
          rows={rows}
          rowKey={(row) => JSON.stringify([row.agent, row.name, by === undefined ? null : row[by]])}
          href={(row) => runsAddress(query, runFilters(row, query))}
        />
      ) : tools.value === undefined ? null : (
        <NoTools hasOthers={(tools.value?.tools.length ?? 0) > 0} />
      )}
      {rows.length === 0 ? null : (
        <p class="dim small">
          The error rate counts calls that ended, with a 95 % interval. Calls of one run are not independent, so the true interval is
          somewhat wider.
        </p>
      )}
      {rows.length === 0 ? null : <ArgumentFailures tools={rows} query={query} evaluator={named('tool_call_validity')} />}
      <DefinitionVerdicts evaluators={evaluators.value?.evaluators} query={query} from={from} to={to} />
    </PageFrame>
  );
}

/** First the tools that certainly fail most. */
function worstToolsFirst(tools: readonly Tool[]): readonly Tool[] {
  return tools.toSorted(
    (one, other) => (other.error_rate.low ?? -1) - (one.error_rate.low ?? -1) || other.errors - one.errors || other.calls - one.calls,
  );
}

interface ColumnParts {
  readonly query: Query;
  readonly by: (typeof splits)[number] | undefined;
  /** Name of the evaluator of failed calls; `undefined` when none is on. */
  readonly failing: string | undefined;
}

function columnsOf({ query, by, failing }: ColumnParts): readonly Column<Tool>[] {
  return [
    { key: 'tool', title: 'Tool', cell: (row) => <a href={runsAddress(query, runFilters(row, query))}>{row.name}</a> },
    { key: 'agent', title: 'Agent', from: 'narrow', cell: ({ agent }) => agent ?? unknownText },
    ...(by === undefined ? [] : [{ key: 'split', title: by, cell: (row: Tool) => row[by] ?? unknownText }]),
    { key: 'rate', title: 'Error rate', cell: ({ error_rate: rate }) => <RateCell estimate={rate} /> },
    {
      key: 'errors',
      title: 'Errors',
      isNumber: true,
      cell: (row) =>
        row.errors === 0 ? (
          '0'
        ) : (
          <a href={runsAddress(query, { ...runFilters(row, query), evaluator: failing, verdict: 'fail' })}>{countText(row.errors)}</a>
        ),
    },
    { key: 'calls', title: 'Calls', from: 'narrow', isNumber: true, cell: ({ calls }) => countText(calls) },
    { key: 'p50', title: 'p50', from: 'narrow', isNumber: true, cell: ({ p50_seconds: seconds }) => durationText(seconds) },
    { key: 'p95', title: 'p95', from: 'narrow', isNumber: true, cell: ({ p95_seconds: seconds }) => durationText(seconds) },
    { key: 'lost', title: 'Without a result', from: 'narrow', isNumber: true, cell: ({ not_executed: lost }) => countText(lost) },
  ];
}

function runFilters({ agent, name, ...row }: Tool, { version, model }: Query): Query {
  return { agent: agent ?? undefined, tool: name, version: row.version ?? version, model: row.model ?? model };
}

function NoTools({ hasOthers }: { readonly hasOthers: boolean }) {
  const evaluability = useGet('/evaluability', {});
  const reasons = skipReasons((evaluability.value?.evaluability ?? []).filter(({ need }) => need === 'tool_calls'));
  if (hasOthers)
    return (
      <EmptyState title="No tool of this name">
        <p>Other tools were called in this time. Clear the filter to see them.</p>
      </EmptyState>
    );
  return (
    <EmptyState title="No tool calls in this time">
      <p>A tool stands here as soon as a run calls it. Choose a longer time, or clear a filter.</p>
      {reasons.length === 0 ? null : (
        <>
          <p>Spans of these runs carry no tool calls:</p>
          <MissingDataList reasons={reasons} />
        </>
      )}
    </EmptyState>
  );
}
