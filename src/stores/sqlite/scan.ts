/** Figures over the marks of many runs, counted in the thread that has the file: runs are read along their start, and only sums leave the thread. */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import type { RunPeriod, DecidedRuns } from '../../model/store/verdict-rows.ts';
import type { SummaryQuery, SummaryRow, ToolQuery, ToolRow } from '../../model/store/store.ts';
import type { Decision, VerdictWord } from '../../model/verdict.ts';
import { parsedMark, type ToolCounts } from '../run-record.ts';
import { eachMark, globOf, markChar, markedOf, marksByChar, type KnownMark } from './marks.ts';

export type Scan =
  | { readonly of: 'summary'; readonly query: SummaryQuery }
  | { readonly of: 'tools'; readonly query: ToolQuery }
  | { readonly of: 'decided'; readonly query: RunPeriod & { readonly name: string; readonly weightMax: number } };

/** Unordered. */
export interface Scanned {
  readonly summary: readonly SummaryRow[];
  readonly tools: readonly ToolRow[];
  readonly decided: readonly DecidedRuns[];
}

export function scanned(database: DatabaseSync, scan: Scan): Scanned[Scan['of']] {
  switch (scan.of) {
    case 'summary':
      return summary(database, scan.query);
    case 'tools':
      return tools(database, scan.query);
    case 'decided':
      return decided(database, scan.query);
  }
}

function knownMarks(database: DatabaseSync): readonly KnownMark[] {
  return database
    .prepare('select code, mark from verdict_marks')
    .all()
    .map(({ code, mark }) => ({ ...parsedMark(String(mark)), char: markChar(Number(code)) }));
}

/** Rows as lists, with the agent where `columns` say so. */
function* runsOf(
  database: DatabaseSync,
  columns: string,
  { from, to, agent, tenant }: RunPeriod,
  more: { readonly condition: string; readonly value?: SQLInputValue },
): Generator<readonly unknown[]> {
  const conditions: readonly (readonly [condition: string, value: SQLInputValue | undefined])[] = [
    ['started_us >= ?', from],
    ['started_us < ?', to],
    ['agent = ?', agent],
    ['tenant = ?', tenant],
  ];
  const named = conditions.filter(([, value]) => value !== undefined);
  const statement = database.prepare(
    `select ${columns} from runs where ${[...named.map(([condition]) => condition), more.condition].join(' and ')}`,
  );
  statement.setReturnArrays(true);
  const values = [...named.map(([, value]) => value as SQLInputValue), ...(more.value === undefined ? [] : [more.value])];
  yield* statement.iterate(...values) as Iterable<unknown> as Iterable<readonly unknown[]>;
}

/** The sum of many doubles with the error of one, as SQLite forms its means. */
interface Mean {
  sum: number;
  error: number;
  count: number;
}

function addTo(mean: Mean, value: number): void {
  const sum = mean.sum + value;
  mean.error += Math.abs(mean.sum) > Math.abs(value) ? mean.sum - sum + value : value - sum + mean.sum;
  mean.sum = sum;
  mean.count++;
}

function joinTo(mean: Mean, other: Mean): void {
  const count = mean.count + other.count;
  addTo(mean, other.sum);
  mean.error += other.error;
  mean.count = count;
}

const noMean = (): Mean => ({ sum: 0, error: 0, count: 0 });

const meanOf = ({ sum, error, count }: Mean): number | undefined => (count === 0 ? undefined : (sum + error) / count);

function summary(database: DatabaseSync, { evaluator, bucketMicros, ...period }: SummaryQuery): readonly SummaryRow[] {
  const all = knownMarks(database);
  const byChar = marksByChar(all);
  const wanted = all.filter(({ name, word }) => word !== null && (evaluator === undefined || name === evaluator));
  if (wanted.length === 0) return [];
  /** By bucket and mark: of one evaluator and word there may be several marks. */
  const buckets = new Map<number, Map<KnownMark, Group>>();
  for (const [startedAt, marks, figures] of runsOf(database, 'started_us, marks, figures', period, {
    condition: 'marks glob ?',
    value: globOf(wanted),
  })) {
    const at = Number(startedAt) - (Number(startedAt) % bucketMicros);
    const bucket = buckets.get(at) ?? new Map<KnownMark, Group>();
    buckets.set(at, bucket);
    eachMark({ marks: String(marks), figures: figures as Uint8Array | null }, byChar, (mark, score) => {
      let group = bucket.get(mark);
      if (group === undefined) bucket.set(mark, (group = { mean: noMean(), count: 0 }));
      group.count++;
      if (score !== undefined) addTo(group.mean, score);
    });
  }
  return [...buckets].flatMap(([at, bucket]) => summaryRows(at, bucket, wanted));
}

interface Group {
  readonly mean: Mean;
  count: number;
}

function summaryRows(at: number, bucket: ReadonlyMap<KnownMark, Group>, wanted: readonly KnownMark[]): readonly SummaryRow[] {
  const rows = new Map<string, { readonly name: string; readonly verdict: VerdictWord; readonly mean: Mean; count: number }>();
  for (const mark of wanted) {
    const { name, word } = mark;
    const group = bucket.get(mark);
    if (group === undefined || word === null) continue;
    const row = rows.get(`${word} ${name}`) ?? { name, verdict: word, mean: noMean(), count: 0 };
    row.count += group.count;
    joinTo(row.mean, group.mean);
    rows.set(`${word} ${name}`, row);
  }
  return [...rows.values()].map(({ name, verdict, mean, count }) => ({ at, name, verdict, count, score: meanOf(mean) }));
}

function tools(database: DatabaseSync, period: ToolQuery): readonly ToolRow[] {
  const groups = new Map<
    string,
    { agent: string | undefined; name: string; calls: number; errors: number; notExecuted: number; took: Mean; timed: number }
  >();
  for (const [agent, text] of runsOf(database, 'agent, tools', period, { condition: 'tools is not null' })) {
    for (const [name, calls, errors, notExecuted, timed, took] of JSON.parse(String(text)) as readonly ToolCounts[]) {
      const key = JSON.stringify([agent, name]);
      const group = groups.get(key) ?? {
        agent: agent === null ? undefined : String(agent),
        name,
        calls: 0,
        errors: 0,
        notExecuted: 0,
        took: noMean(),
        timed: 0,
      };
      group.calls += calls;
      group.errors += errors;
      group.notExecuted += notExecuted;
      group.timed += timed;
      addTo(group.took, took);
      groups.set(key, group);
    }
  }
  return [...groups.values()].map(({ took, timed, ...row }) => ({ ...row, tookMicros: meanOf({ ...took, count: timed }) }));
}

function decided(
  database: DatabaseSync,
  { name, weightMax, ...period }: Extract<Scan, { of: 'decided' }>['query'],
): readonly DecidedRuns[] {
  const all = knownMarks(database);
  const byChar = marksByChar(all);
  const wanted = all.filter((mark) => mark.name === name && mark.decision !== null);
  if (wanted.length === 0) return [];
  const groups = new Map<string, { -readonly [member in keyof DecidedRuns]: DecidedRuns[member] }>();
  for (const [agent, marks, figures] of runsOf(database, 'agent, marks, figures', period, {
    condition: 'marks glob ?',
    value: globOf(wanted),
  })) {
    const marked = markedOf({ marks: String(marks), figures: figures as Uint8Array | null }, byChar, name);
    const decision: Decision | null | undefined = marked?.mark.decision;
    if (marked === undefined || decision === null || decision === undefined) continue;
    const key = JSON.stringify([agent, decision]);
    const group = groups.get(key) ?? {
      agent: agent === null ? undefined : String(agent),
      decision,
      runs: 0,
      chosen: 0,
      weight: 0,
      unchosen: 0,
    };
    group.runs++;
    if (marked.mark.word === null && marked.probability !== undefined) {
      group.chosen++;
      group.weight += Math.min(1 / marked.probability, weightMax);
    } else if (marked.mark.word === null) group.unchosen++;
    groups.set(key, group);
  }
  return [...groups.values()];
}
