/** Selected runs, or runs of a filter, as one file: a table, or their spans. */
import type { RunKey } from '../../model/agent-trace.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import { csvCell } from '../../model/csv-cell.ts';
import { jsonText, type JsonValue } from '../../model/json.ts';
import type { RunFilter, RunPlace, RunRow, Store } from '../../model/store/store.ts';
import { runRowJson } from './run-json.ts';
import { otlpLines } from './span-json.ts';
import { type ApiDeps, FileAnswer, NotKept, pages, type Parameters, QueryFault, Refusal, type Route } from './route.ts';
import { runFilters, searchableFilter } from './run-list.ts';

/** Runs of one file, by its format: spans are much longer than a row. */
const runsMax = { csv: 10_000, otlp: 200 } as const;
const selectedMax = 200;
/** Characters of one file. */
const charsMax = 32_000_000;
/** Pages that may be short, as no index answers the filter. */
const shortPagesMax = 20;

const run = '[0-9a-f]{32}/[0-9a-f]{16}';

export const runExportRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/runs/export',
    summary: `Runs as a file. \`csv\` has a row for each of at most ${runsMax.csv} runs. \`otlp\` has the stored spans of their traces as lines of OTLP/JSON, for at most ${runsMax.otlp} runs. The header \`Tracejury-Left-Out\` has the number of runs without stored spans.`,
    path_parameters: {},
    query_parameters: {
      format: { enum: Object.keys(runsMax), default: 'csv', description: 'Form of the file.' },
      runs: {
        type: 'string',
        maxLength: 50 * selectedMax,
        pattern: `^${run}(,${run})*$`,
        description: `These runs as \`trace/span\`, with commas between them, at most ${selectedMax}; they go without a filter.`,
      },
      limit: {
        type: 'integer',
        minimum: 1,
        maximum: runsMax.csv,
        description: 'The newest runs of the filter. Left out: all, and a refusal when they are too many.',
      },
      ...runFilters,
    },
    answer: { type: 'string' },
    file: { type: 'text/csv; charset=utf-8', ending: 'csv' },
    formats: { csv: { type: 'text/csv; charset=utf-8', ending: 'csv' }, otlp: { type: 'application/x-ndjson', ending: 'otlp.jsonl' } },
    refusals: { 422: 'The runs are too many for one file.' },
    async handle(parts, query) {
      const format = query['format'] === 'otlp' ? 'otlp' : 'csv';
      const rows =
        typeof query['runs'] === 'string' ? await selected(parts.store, query, query['runs']) : await matching(parts, query, format);
      return format === 'csv' ? new FileAnswer(csvOf(rows)) : await spansOf(parts, rows);
    },
  },
];

async function selected(store: Pick<Store, 'run'>, query: Parameters, texts: string): Promise<readonly RunRow[]> {
  const beside = Object.keys(runFilters).find((name) => name !== 'tenant' && query[name] !== undefined);
  if (beside !== undefined || query['limit'] !== undefined)
    throw new QueryFault(`runs goes without ${beside ?? 'limit'}.`, 'Name the runs, or give a filter.');
  const keys = texts.split(',').map((text): RunKey => {
    const [traceId, spanId] = text.split('/');
    return { tenant: (query['tenant'] ?? '') as Tenant, traceId: traceId as TraceId, spanId: spanId as SpanId };
  });
  const rows: RunRow[] = [];
  for (const key of keys) {
    const found = await store.run(key);
    if (found === undefined)
      throw new Refusal(404, {
        code: 'not_found',
        message: `The store has no run ${key.traceId}/${key.spanId}.`,
        todo: 'Leave it out: it may be too old for store.keep.',
      });
    rows.push(found);
  }
  return rows;
}

async function matching(parts: ApiDeps, query: Parameters, format: keyof typeof runsMax): Promise<readonly RunRow[]> {
  const filter: RunFilter = searchableFilter(parts, query);
  const { limit } = query;
  const wanted = Math.min(runsMax[format], typeof limit === 'number' ? limit : Infinity);
  const rows: RunRow[] = [];
  let after: RunPlace | undefined;
  let shortPages = 0;
  do {
    const page = await parts.store.runs({ ...filter, limit: pages.limit.maximum, ...(after === undefined ? {} : { after }) });
    rows.push(...page.runs);
    after = page.next;
    if (page.searchedTo !== undefined && ++shortPages === shortPagesMax) throw tooMany('The filter examines too many runs.');
  } while (after !== undefined && rows.length <= wanted);
  const isMore = rows.length > wanted;
  if (isMore && (limit === undefined || wanted < Number(limit))) throw tooMany(`More than ${wanted} runs match.`);
  return rows.slice(0, wanted);
}

function tooMany(message: string): Refusal {
  return new Refusal(422, {
    code: 'too_many',
    message,
    todo: `Narrow the filter with from and to, or give a limit of at most ${runsMax.csv} (csv) or ${runsMax.otlp} (otlp).`,
  });
}

async function spansOf({ spans }: ApiDeps, rows: readonly RunRow[]): Promise<FileAnswer> {
  const files: string[] = [];
  const traces = new Set<string>();
  let [leftOut, chars] = [0, 0];
  for (const row of rows) {
    const trace = `${row.tenant}/${row.traceId}`;
    if (traces.has(trace)) continue;
    const kept = await spans(row);
    if (kept === undefined) {
      leftOut++;
      continue;
    }
    traces.add(trace);
    const lines = otlpLines(kept);
    chars += lines.length;
    if (chars > charsMax) throw tooMany(`The spans have more than ${charsMax} characters.`);
    files.push(lines);
  }
  if (files.length === 0) throw new NotKept('The store has no spans of these runs.');
  return new FileAnswer(files.join(''), { 'tracejury-left-out': String(leftOut) });
}

const columns = [
  'trace_id',
  'span_id',
  'tenant',
  'agent',
  'service',
  'version',
  'session_id',
  'model',
  'started_at',
  'ended_at',
  'duration_seconds',
  'completeness',
  'status',
  'revision',
  'input_tokens',
  'output_tokens',
  'cost_usd',
  'input_excerpt',
] as const;
/** Evaluators with their own columns. */
const evaluatorsMax = 100;

/** A column for each member of a row, the labels, and the verdict and score of each evaluator. */
function csvOf(rows: readonly RunRow[]): string {
  const names = [...new Set(rows.flatMap(({ verdicts }) => verdicts.map(({ name }) => name)))].toSorted();
  if (names.length > evaluatorsMax) throw tooMany(`The runs have verdicts of more than ${evaluatorsMax} evaluators.`);
  const head = [...columns, 'labels', ...names.flatMap((name) => [`${name} verdict`, `${name} score`])];
  const lines = rows.map((row) => {
    const json = runRowJson(row);
    const verdicts = new Map(row.verdicts.map((verdict) => [verdict.name, verdict]));
    return [
      ...columns.map((column) => json[column] ?? null),
      row.labels.map(({ name, label }) => `${name}=${label}`).join('; '),
      ...names.flatMap((name) => [verdicts.get(name)?.verdict ?? null, verdicts.get(name)?.score ?? null]),
    ];
  });
  return [head, ...lines].map((line) => `${line.map(cell).join(',')}\r\n`).join('');
}

function cell(value: unknown): string {
  if (value === null) return '';
  return csvCell(
    typeof value === 'string' || typeof value === 'number' || typeof value === 'bigint' ? value : jsonText(value as JsonValue),
  );
}
