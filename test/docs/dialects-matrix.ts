/** Which fields the recordings of each instrumentation and version carry, as one table: where each was read from, or that it is not there. */
import type { Provenance, Run } from '../../src/model/agent-trace.ts';
import { mainDialect } from '../../src/pipeline/reporting/missing-data.ts';
import { isClaimed, notClaimed } from '../recordings/claimed.ts';
import type { ExpectedCall, ExpectedRecording, ExpectedTrace } from '../recordings/expected.ts';
import { play, recordingsIn, type Recording } from '../recordings/read.ts';

/** Undefined: the recorded runs had nothing of the kind, so nothing can be said. Empty: they had, and the spans do not carry it. */
type Cell = readonly string[] | undefined;

interface Field {
  readonly title: string;
  readonly cell: (of: Recorded) => Cell;
}

interface Recorded {
  readonly expected: ExpectedRecording;
  readonly runs: readonly Run[];
}

interface Row {
  readonly folder: string;
  readonly source: ExpectedRecording['source'];
  readonly dialects: readonly string[];
  readonly names: readonly string[];
  readonly cells: readonly Cell[];
}

const words: { readonly [provenance in Provenance]: string } = {
  tool_span: 'span',
  span_event: 'span',
  agent_span: 'span',
  given: 'span',
  model_message: '*messages*',
  log_record: '*log*',
};

const fields: readonly Field[] = [
  {
    title: 'agent',
    cell: ofTrace(
      'agent_name',
      ({ agent_name }) => agent_name,
      ({ trace }) => trace.agent,
    ),
  },
  {
    title: 'session',
    cell: ofTrace(
      'session_id',
      ({ session_id }) => session_id,
      ({ trace }) => trace.sessionId,
    ),
  },
  {
    title: 'input',
    cell: ofTrace(
      'input',
      ({ input }) => input,
      ({ trace }) => trace.input,
    ),
  },
  {
    title: 'final response',
    cell: ofTrace(
      'final_response',
      ({ final_response }) => final_response,
      ({ trace }) => trace.finalResponse,
    ),
  },
  {
    title: 'model',
    cell: ofTrace(
      'model',
      ({ model }) => model,
      ({ trace }) => trace.model,
    ),
  },
  {
    title: 'tokens',
    cell: ofTrace(
      'tokens',
      ({ tokens }) => tokens,
      ({ trace }) => trace.tokens,
    ),
  },
  { title: 'tool names', cell: ofCalls('name', () => true) },
  { title: 'call ids', cell: ofCalls('id', ({ id }) => id !== undefined) },
  { title: 'arguments', cell: ofCalls('arguments', () => true) },
  { title: 'results', cell: ofCalls('result', ({ error }) => error === undefined) },
  { title: 'errors', cell: ofCalls('error', ({ error }) => error !== undefined) },
  { title: 'definitions', cell: definitions },
  { title: 'sub-agents', cell: subAgents },
];

function ofTrace(path: string, wanted: (trace: ExpectedTrace) => unknown, carried: (run: Run) => unknown): Field['cell'] {
  return ({ expected, runs }) => {
    if (runs.some((run) => carried(run) !== undefined)) return [expected.only_in_logs.includes(path) ? words.log_record : words.agent_span];
    return expected.traces.some((trace) => (wanted(trace) ?? undefined) !== undefined) ? [] : undefined;
  };
}

function ofCalls(field: 'name' | 'id' | 'arguments' | 'result' | 'error', wanted: (call: ExpectedCall) => boolean): Field['cell'] {
  return ({ expected, runs }) => {
    const calls = expected.traces.flatMap((trace) => [...trace.tool_calls, ...trace.sub_agents.flatMap((sub) => sub.tool_calls)]);
    const from = runs.flatMap(({ trace }) =>
      trace.toolCalls.flatMap(({ provenance, executed }) =>
        executed && provenance?.[field] !== undefined ? [words[provenance[field]]] : [],
      ),
    );
    return from.length === 0 && !calls.some(wanted) ? undefined : [...new Set(from)].sort().reverse();
  };
}

function definitions({ expected, runs }: Recorded): Cell {
  if (expected.traces.every(({ tools }) => tools.length === 0)) return undefined;
  const found = runs.flatMap(({ trace }) => trace.toolDefinitions);
  if (found.length === 0) return [];
  if (!found.some(({ inputSchema }) => inputSchema !== undefined)) return ['names only'];
  return [expected.only_in_logs.includes('tools[].input_schema') ? words.log_record : words.agent_span];
}

function subAgents({ expected, runs }: Recorded): Cell {
  if (expected.traces.every((trace) => trace.sub_agents.length === 0)) return undefined;
  return runs.some(({ trace }) => trace.subAgents.length > 0) ? [words.agent_span] : [];
}

export function matrix(folder: string): string {
  const claimed = recordingsIn(folder).filter(({ expected }) => isClaimed(expected));
  const rows = [...Map.groupBy(claimed, groupOf).values()].flatMap(rowsOf);
  const head = ['instrumentation', 'with', 'collector', 'recordings', ...fields.map(({ title }) => title)];
  return [
    legend,
    [`| ${head.join(' | ')} |`, `|${head.map(() => '---|').join('')}`, ...rows.map(rowText)].join('\n'),
    `Recordings that the tests replay and that have no row:\n\n${notClaimed.map(({ dialect, scenario, because }) => `- ${dialect}${scenario === undefined ? '' : `, ${scenario}`}: ${because}.`).join('\n')}`,
  ].join('\n\n');
}

const legend = `## What recordings of real SDKs carry

Each row is an instrumentation in one version and configuration, recorded while a scripted model answered a real SDK. Its runs
are read as the agent really ran. Where recordings of one folder in \`test/fixtures/recordings\` carry different fields, because content was switched on or
another format was chosen, each has a row.

| cell | meaning |
|---|---|
| span | carried where it belongs and read: by the span of the run, of the model call or of the tool, or by its event |
| *messages* | recovered: no span of the tool tells it, so it is taken from what the model asked for or was told |
| *log* | recovered: it is in log records only |
| names only | definitions without schemas |
| **–** | the run had it, and nothing carries it: evaluators that need it are skipped |
| (empty) | the recorded runs had nothing of the kind, as far as it is known |`;

function groupOf({ name, expected: { source } }: Recording): string {
  return JSON.stringify([name.split('/')[0], source.package, source.version]);
}

/** Recordings whose fields go together share a row: what one says of a field the other does not contradict. */
function rowsOf(recordings: readonly Recording[]): readonly Row[] {
  const rows: Row[] = [];
  for (const recording of recordings) {
    const { name, expected } = recording;
    const [folder = name, scenario = name] = name.split('/');
    const { runs } = play(recording);
    const cells = fields.map(({ cell }) => cell({ expected, runs }));
    const dialects = runs.map((run) => mainDialect(run.dialects));
    const at = rows.findIndex((row) => row.cells.every((cell, index) => goTogether(cell, cells[index])));
    const row = rows[at];
    if (row === undefined) rows.push({ folder, source: expected.source, dialects, names: [scenario], cells });
    else
      rows[at] = {
        ...row,
        dialects: [...row.dialects, ...dialects],
        names: [...row.names, scenario],
        cells: row.cells.map((cell, index) => both(cell, cells[index])),
      };
  }
  return rows;
}

function goTogether(left: Cell, right: Cell): boolean {
  return left === undefined || right === undefined || (left.length === 0) === (right.length === 0);
}

function both(left: Cell, right: Cell): Cell {
  return left === undefined ? right : [...new Set([...left, ...(right ?? [])])];
}

function rowText({ folder, source, dialects, names, cells }: Row): string {
  const framework =
    source.framework === null || source.framework === source.package
      ? ''
      : [source.framework, source.framework_version ?? ''].join(' ').trim();
  const collectors = [...new Set(dialects)].map((id) => `[${id}](#${id})`).join(', ');
  return `| ${source.package} ${source.version} | ${framework} | ${collectors} | ${folder}: ${names.join(', ')} | ${cells.map(cellText).join(' | ')} |`;
}

function cellText(cell: Cell): string {
  if (cell === undefined) return '';
  return cell.length === 0 ? '**–**' : cell.join(', ');
}
