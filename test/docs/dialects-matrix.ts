/** One table of the fields that the recordings of each instrumentation and version carry: the source of each, or its absence. */
import type { Provenance, Run } from '../../src/model/agent-trace.ts';
import { mainDialect, missingDataOf, type Lack } from '../../src/pipeline/reporting/missing-data.ts';
import { isClaimed, notClaimed } from '../recordings/claimed.ts';
import { differences } from '../recordings/compare.ts';
import { openRecordings } from '../recordings/data/open.ts';
import type { ExpectedCall, ExpectedRecording, ExpectedTrace } from '../recordings/expected.ts';
import { ownRecordings, play, type Recording } from '../recordings/read.ts';

/** Undefined when the recorded runs had nothing of the kind. Empty when they had, and the spans do not carry it. */
type Sources = readonly string[] | undefined;

interface Cell {
  readonly sources: Sources;
  /** The value read is not what the agent did. */
  readonly differs: boolean;
}

interface Field {
  readonly title: string;
  readonly cell: (of: Recorded) => Sources;
  /** Differences of recordings that are about it. */
  readonly about: RegExp;
  /** The data that an evaluator lacks where it is absent. */
  readonly lack?: Lack;
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
  /** Switches for the absent fields. */
  readonly switches: ReadonlySet<string>;
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
    about: /^(?:agent_name|trace|traces|status)\b/,
    cell: ofTrace(
      'agent_name',
      ({ agent_name }) => agent_name,
      ({ trace }) => trace.agent,
    ),
  },
  {
    title: 'session',
    about: /^session_id:/,
    cell: ofTrace(
      'session_id',
      ({ session_id }) => session_id,
      ({ trace }) => trace.sessionId,
    ),
  },
  {
    title: 'input',
    about: /^input:/,
    lack: 'input',
    cell: ofTrace(
      'input',
      ({ input }) => input,
      ({ trace }) => trace.input,
    ),
  },
  {
    title: 'final response',
    about: /^final_response:/,
    lack: 'final_response',
    cell: ofTrace(
      'final_response',
      ({ final_response }) => final_response,
      ({ trace }) => trace.finalResponse,
    ),
  },
  {
    title: 'system prompt',
    about: /^system_prompt:/,
    lack: 'input',
    cell: ofTrace(
      'system_prompt',
      ({ system_prompt }) => system_prompt,
      ({ trace }) => trace.systemPrompt,
    ),
  },
  {
    title: 'model',
    about: /^model:/,
    cell: ofTrace(
      'model',
      ({ model }) => model,
      ({ trace }) => trace.model,
    ),
  },
  {
    title: 'model calls',
    about: /^llm_calls:/,
    cell: ofTrace(
      'llm_calls',
      ({ llm_calls }) => (llm_calls === 0 ? undefined : llm_calls),
      ({ trace }) => trace.modelCalls[0],
    ),
  },
  {
    title: 'tokens',
    about: /^tokens\./,
    lack: 'tokens',
    cell: ofTrace(
      'tokens',
      ({ tokens }) => tokens,
      ({ trace }) => trace.tokens,
    ),
  },
  { title: 'tool names', about: /tool_calls(?:\[\d+\])?(?:\.name)?:/, lack: 'tool_calls', cell: ofCalls('name', () => true) },
  { title: 'call ids', about: /tool_calls\[\d+\]\.id:/, cell: ofCalls('id', ({ id }) => id !== undefined) },
  { title: 'arguments', about: /tool_calls\[\d+\]\.arguments:/, lack: 'tool_arguments', cell: ofCalls('arguments', () => true) },
  {
    title: 'results',
    about: /tool_calls\[\d+\]\.result:/,
    lack: 'tool_results',
    cell: ofCalls('result', ({ error }) => error === undefined),
  },
  { title: 'errors', about: /tool_calls\[\d+\]\.error/, cell: ofCalls('error', ({ error }) => error !== undefined) },
  { title: 'definitions', about: /^tools[.:]/, lack: 'tool_definitions', cell: definitions },
  { title: 'sub-agents', about: /^sub_agents:/, cell: subAgents },
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

function definitions({ expected, runs }: Recorded): Sources {
  if (expected.traces.every(({ tools }) => tools.length === 0)) return undefined;
  const found = runs.flatMap(({ trace }) => trace.toolDefinitions);
  if (found.length === 0) return [];
  if (!found.some(({ inputSchema }) => inputSchema !== undefined)) return ['names only'];
  return [expected.only_in_logs.includes('tools[].input_schema') ? words.log_record : words.agent_span];
}

function subAgents({ expected, runs }: Recorded): Sources {
  if (expected.traces.every((trace) => trace.sub_agents.length === 0)) return undefined;
  return runs.some(({ trace }) => trace.subAgents.length > 0) ? [words.agent_span] : [];
}

export function matrix(): string {
  const claimed = ownRecordings().filter(({ expected }) => isClaimed(expected));
  const rows = [...Map.groupBy(claimed, groupOf).values()].flatMap(rowsOf);
  const head = ['instrumentation', 'with', 'collector', 'recordings', ...fields.map(({ title }) => title), 'what brings the rest'];
  return [
    legend,
    [`| ${head.join(' | ')} |`, `|${head.map(() => '---|').join('')}`, ...rows.map(rowText)].join('\n'),
    `### Recordings that are read differently\n\n${[
      '| recording | fields | why |',
      '|---|---|---|',
      ...openRecordings.map(({ recording, fields: open, because }) => `| ${recording} | ${open.join(', ')} | ${cellOf(because)} |`),
    ].join('\n')}`,
    `Recordings that the tests replay and that have no row:\n\n${notClaimed.map(({ dialect, scenario, because }) => `- ${dialect}${scenario === undefined ? '' : `, ${scenario}`}: ${because}.`).join('\n')}`,
  ].join('\n\n');
}

const legend = `## Coverage in recordings of real SDKs

Each row is an instrumentation in one version and configuration, recorded while a scripted model answered a real SDK. Where recordings of one folder have
different fields, because content was switched on or another format was chosen, each has a row. So does one whose reading differs from what the agent did.

| cell | meaning |
|---|---|
| span | read, and equal to what the agent did: the span of the run, model call or tool has it, or its event |
| *messages* | recovered: no span of the tool has it, so it is read from the model's requests and answers |
| *log* | recovered: it is in log records only |
| names only | definitions without schemas |
| ≠ | read, but not all of it is what the agent did; the table below gives the reason |
| **–** | the run had it, and no span has it: evaluators that need it are skipped |
| (empty) | the recorded runs had nothing of the kind, as far as known |`;

function groupOf({ name, expected: { source } }: Recording): string {
  return JSON.stringify([name.split('/')[0], source.package, source.version]);
}

/** Recordings whose fields go together share a row: they do not contradict each other on any field. */
function rowsOf(recordings: readonly Recording[]): readonly Row[] {
  const rows: Row[] = [];
  for (const recording of recordings) {
    const { name, expected } = recording;
    const [folder = name, scenario = name] = name.split('/');
    const { runs } = play(recording);
    const wrong = differences(expected, runs);
    const cells = fields.map(({ cell, about }) => ({ sources: cell({ expected, runs }), differs: wrong.some((one) => about.test(one)) }));
    const read = [...new Set(runs.flatMap(({ dialects }) => dialects))];
    const own: Row = {
      folder,
      source: expected.source,
      dialects: runs.map((run) => mainDialect(run)),
      names: [scenario],
      cells,
      switches: new Set(
        fields.flatMap(({ lack }, index) =>
          lack !== undefined && cells[index]?.sources?.length === 0 ? (missingDataOf(lack, read) ?? []) : [],
        ),
      ),
    };
    const at = rows.findIndex((row) => row.cells.every((cell, index) => goTogether(cell, cells[index])));
    const row = rows[at];
    if (row === undefined) rows.push(own);
    else rows[at] = together(row, own);
  }
  return rows;
}

function together(row: Row, own: Row): Row {
  return {
    ...row,
    dialects: [...row.dialects, ...own.dialects],
    names: [...row.names, ...own.names],
    cells: row.cells.map(({ sources, differs }, index) => ({ sources: both(sources, own.cells[index]?.sources), differs })),
    switches: new Set([...row.switches, ...own.switches]),
  };
}

function goTogether(left: Cell, right: Cell | undefined): boolean {
  if (left.differs !== right?.differs) return false;
  return left.sources === undefined || right.sources === undefined || (left.sources.length === 0) === (right.sources.length === 0);
}

function both(left: Sources, right: Sources): Sources {
  return left === undefined ? right : [...new Set([...left, ...(right ?? [])])];
}

function rowText({ folder, source, dialects, names, cells, switches }: Row): string {
  const framework =
    source.framework === null || source.framework === source.package
      ? ''
      : [source.framework, source.framework_version ?? ''].join(' ').trim();
  const collectors = [...new Set(dialects)].flatMap((id) => (id === '' ? [] : [`[${id}](#${id})`])).join(', ');
  const rest = cellOf([...switches].join(' '));
  return `| ${source.package} ${source.version} | ${framework} | ${collectors} | ${folder}: ${names.join(', ')} | ${cells.map(cellText).join(' | ')} | ${rest} |`;
}

function cellText({ sources, differs }: Cell): string {
  if (differs) return '≠';
  if (sources === undefined) return '';
  return sources.length === 0 ? '**–**' : sources.join(', ');
}

function cellOf(text: string): string {
  return text.replaceAll('|', '\\|');
}
