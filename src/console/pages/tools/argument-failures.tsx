/** How arguments fail: the place in the arguments, and the keyword of the tool's schema that refuses it. */
import type { Schemas } from '../../api/client.ts';
import type { Query } from '../../parts/address.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { countText, percentText, unknownText } from '../../parts/format.ts';
import { runsAddress } from '../../parts/page-links.ts';

type Tool = Schemas['Tool'];

interface Failure {
  readonly tool: Tool;
  readonly path: string;
  readonly keyword: string;
  readonly count: number;
}

const rowsMax = 50;

export interface ArgumentFailuresProps {
  readonly tools: readonly Tool[];
  readonly query: Query;
  /** Name of the evaluator of arguments; `undefined` when none is on. */
  readonly evaluator: string | undefined;
}

export function ArgumentFailures({ tools, query, evaluator }: ArgumentFailuresProps) {
  const all = tools
    .flatMap((tool) => tool.argument_failures.map((failure): Failure => ({ tool, ...failure })))
    .toSorted((one, other) => other.count - one.count);
  const runs = ({ tool }: Failure): string =>
    runsAddress(query, { agent: tool.agent ?? undefined, tool: tool.name, version: query['version'], evaluator, verdict: 'fail' });
  const columns: readonly Column<Failure>[] = [
    { key: 'tool', title: 'Tool', cell: (row) => <a href={runs(row)}>{row.tool.name}</a> },
    { key: 'agent', title: 'Agent', cell: ({ tool }) => tool.agent ?? unknownText },
    { key: 'path', title: 'Argument', cell: ({ path }) => (path === '' ? 'the arguments as a whole' : <code>{path}</code>) },
    { key: 'keyword', title: 'Refused by', cell: ({ keyword }) => <code>{keyword}</code> },
    { key: 'count', title: 'Calls', isNumber: true, cell: ({ count }) => countText(count) },
    {
      key: 'share',
      title: 'Share of all calls',
      isNumber: true,
      cell: ({ count, tool }) => percentText(tool.calls === 0 ? null : count / tool.calls),
    },
  ];
  return (
    <section class="stack">
      <h2>How arguments fail</h2>
      {all.length > 0 ? (
        <DataTable
          caption="Arguments that the schema of the tool refuses"
          columns={columns}
          rows={all.slice(0, rowsMax)}
          rowKey={({ tool, path, keyword }) =>
            JSON.stringify([tool.agent, tool.name, tool.version, tool.model, tool.prompt, path, keyword])
          }
          href={runs}
        />
      ) : (
        <p class="dim">
          {evaluator === undefined ? (
            <>
              No evaluator checks arguments. Add <code>tool_call_validity</code> to <code>evaluators</code> in the configuration.
            </>
          ) : (
            'No argument was refused in this time. Calls without a known schema are not checked.'
          )}
        </p>
      )}
      {all.length > rowsMax ? <p class="dim small">{all.length - rowsMax} rarer failures are left out: name a tool.</p> : null}
    </section>
  );
}
