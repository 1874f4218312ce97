/** Figures over the marks of many runs, counted in the thread that has the file: runs are read along their start, and only sums leave the thread. */
import { otherSplit, splitValuesMax, type RunPeriod, type DecidedRuns } from '../../model/store/verdict-rows.ts';
import type { ArgumentFailures, SummaryQuery, SummaryRow, ToolQuery, ToolRow } from '../../model/store/store.ts';
import type { RollupKind, RollupQuery, Rollups } from '../../model/store/rollup-store.ts';
import type { VersionFigure, VersionQuery } from '../../model/store/version-store.ts';
import { rollups } from './rollup-sums.ts';
import { versionFigures } from './version-totals.ts';
import type { Decision } from '../../model/verdict.ts';
import type { SessionRow, WorstTurns } from '../../model/store/session-list.ts';
import { runsWithWords, type TextsQuery } from './run-texts.ts';
import { summedVerdicts } from './summary-sums.ts';
import { sessionSums, type SessionsQuery } from './session-sums.ts';
import { sessionWorstTurns, type WorstTurnsQuery } from './worst-turns.ts';
import { addEncoded, addValue, encodedSketch, sketchOfSum, sketchSum, type SketchSum } from '../../statistics/sketch-sum.ts';
import type { ArgumentFailure, ToolCounts } from '../run-counts.ts';
import { eachMark, globOf, knownMarks, markedOf, marksByChar, type KnownMark } from './marks.ts';
import type { SqlValue, Statements } from './statements.ts';

export type Scan =
  | { readonly of: 'summary'; readonly query: SummaryQuery }
  | { readonly of: 'tools'; readonly query: ToolQuery }
  | { readonly of: 'decided'; readonly query: RunPeriod & { readonly name: string; readonly weightMax: number } }
  | { readonly of: 'sessions'; readonly query: SessionsQuery }
  | { readonly of: 'worst-turns'; readonly query: WorstTurnsQuery }
  | { readonly of: 'rollups'; readonly query: RollupQuery & { readonly kind: RollupKind } }
  | { readonly of: 'versions'; readonly query: VersionQuery }
  | { readonly of: 'texts'; readonly query: TextsQuery };

/** Unordered unless stated otherwise. */
export interface Scanned {
  readonly summary: readonly SummaryRow[];
  readonly tools: readonly ToolRow[];
  readonly rollups: Rollups<RollupKind>;
  readonly decided: readonly DecidedRuns[];
  /** By agent, kind, name, version and task. */
  readonly versions: readonly VersionFigure[];
  /** In the order of the question. */
  readonly sessions: readonly SessionRow[];
  readonly 'worst-turns': WorstTurns;
  /** Ids of runs, likewise. */
  readonly texts: readonly number[];
}

export async function scanned(on: Statements, scan: Scan): Promise<Scanned[Scan['of']]> {
  switch (scan.of) {
    case 'summary':
      return await summary(on, scan.query);
    case 'tools':
      return await tools(on, scan.query);
    case 'rollups':
      return await rollups(on, scan.query.kind, scan.query);
    case 'decided':
      return await decided(on, scan.query);
    case 'versions':
      return await versionFigures(on, scan.query);
    case 'texts':
      return await runsWithWords(on, scan.query);
    case 'sessions':
      return await sessionSums(on, scan.query, await knownMarks(on));
    case 'worst-turns':
      return await sessionWorstTurns(on, scan.query, await knownMarks(on));
  }
}

/** Rows as lists, with the agent where `columns` say so. */
function runsOf(
  on: Statements,
  columns: string,
  { from, to, agent, tenant, version, model, prompt }: RunPeriod,
  more: { readonly condition: string; readonly value?: SqlValue },
): AsyncIterable<readonly (readonly SqlValue[])[]> {
  const conditions: readonly (readonly [condition: string, value: SqlValue | undefined])[] = [
    ['started_us >= ?', from],
    ['started_us < ?', to],
    ['agent = ?', agent],
    ['tenant = ?', tenant],
    ['version = ?', version],
    ['model = ?', model],
    ['prompt = ?', prompt],
  ];
  const named = conditions.filter(([, value]) => value !== undefined);
  return on.lists(`select ${columns} from runs where ${[...named.map(([condition]) => condition), more.condition].join(' and ')}`, [
    ...named.map(([, value]) => value as SqlValue),
    ...(more.value === undefined ? [] : [more.value]),
  ]);
}

/** Values of a split that are counted separately. Spans name them, so there may be any number. */
const splitNamesMax = 2_000;

/** The value of a run under a split, of a bounded number of values. */
function splitValues(): (value: unknown) => string | undefined {
  const known = new Set<string>();
  return (value) => {
    if (typeof value !== 'string') return undefined;
    if (!known.has(value) && known.size >= splitNamesMax) return otherSplit;
    known.add(value);
    return value;
  };
}

/** The values of the most runs keep their name; the others are `other`. */
function mostOf(counts: ReadonlyMap<string | undefined, number>): (value: string | undefined) => string | undefined {
  const kept = new Set(
    [...counts]
      .sort(([, one], [, another]) => another - one)
      .slice(0, splitValuesMax)
      .map(([value]) => value),
  );
  return (value) => (value === undefined || kept.has(value) ? value : otherSplit);
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

async function summary(on: Statements, query: SummaryQuery): Promise<readonly SummaryRow[]> {
  const { evaluator, bucketMicros, by, ...period } = query;
  const all = await knownMarks(on);
  const byChar = marksByChar(all);
  const wanted = all.filter(({ name, word }) => word !== null && (evaluator === undefined || name === evaluator));
  if (wanted.length === 0) return [];
  const valueOf = splitValues();
  const counts = new Map<string | undefined, number>();
  /** By value of the split, bucket and mark: of one evaluator and word there may be several marks. */
  const splits = new Map<string | undefined, Map<number, Map<KnownMark, Group>>>();
  const { verdicts, rest } = await summedVerdicts(on, query);
  const [columns, more] = [`started_us, marks, figures, ${by ?? 'null'}`, { condition: 'glob(?, marks)', value: globOf(wanted) }];
  for (const times of rest)
    for await (const rows of runsOf(on, columns, { ...period, ...times }, more))
      for (const [startedAt, marks, figures, value] of rows) {
        const of = valueOf(value);
        counts.set(of, (counts.get(of) ?? 0) + 1);
        const at = Number(startedAt) - (Number(startedAt) % bucketMicros);
        const buckets = splits.get(of) ?? new Map<number, Map<KnownMark, Group>>();
        splits.set(of, buckets);
        const bucket = buckets.get(at) ?? new Map<KnownMark, Group>();
        buckets.set(at, bucket);
        eachMark({ marks: String(marks), figures: figures as Uint8Array | null }, byChar, (mark, score) => {
          let group = bucket.get(mark);
          if (group === undefined) bucket.set(mark, (group = { mean: noMean(), count: 0 }));
          group.count++;
          if (score !== undefined) addTo(group.mean, score);
        });
      }
  const nameOf = mostOf(counts);
  const kept = new Map<string | undefined, Map<number, Map<KnownMark, Group>>>();
  for (const [value, buckets] of splits) joinBuckets(kept, nameOf(value), buckets);
  const rows = [...kept].flatMap(([of, buckets]) => [...buckets].flatMap(([at, bucket]) => summaryRows({ at, of }, bucket, wanted)));
  const summed = verdicts.map(({ scores: sum, ...row }) => ({
    ...row,
    of: undefined,
    mean: { ...noMean(), ...(sum === undefined ? {} : { sum, count: row.count }) },
  }));
  return joinedRows([...rows, ...summed]).map(({ mean, ...row }) => ({ ...row, score: meanOf(mean) }));
}

interface Row extends Pick<SummaryRow, 'at' | 'of' | 'name' | 'verdict'> {
  readonly mean: Mean;
  count: number;
}

function joinedRows(rows: Iterable<Row>): readonly Row[] {
  const joined = new Map<string, Row>();
  for (const row of rows) {
    const key = JSON.stringify([row.of, row.at, row.verdict, row.name]);
    const known = joined.get(key);
    if (known === undefined) joined.set(key, row);
    else {
      known.count += row.count;
      joinTo(known.mean, row.mean);
    }
  }
  return [...joined.values()];
}

type Buckets = Map<number, Map<KnownMark, Group>>;

function joinBuckets(kept: Map<string | undefined, Buckets>, of: string | undefined, buckets: Buckets): void {
  const before = kept.get(of);
  if (before === undefined) return void kept.set(of, buckets);
  for (const [at, bucket] of buckets) {
    const own = before.get(at) ?? new Map<KnownMark, Group>();
    before.set(at, own);
    for (const [mark, group] of bucket) {
      const known = own.get(mark);
      if (known === undefined) own.set(mark, group);
      else {
        known.count += group.count;
        joinTo(known.mean, group.mean);
      }
    }
  }
}

interface Group {
  readonly mean: Mean;
  count: number;
}

function summaryRows(
  place: Pick<SummaryRow, 'at' | 'of'>,
  bucket: ReadonlyMap<KnownMark, Group>,
  wanted: readonly KnownMark[],
): readonly Row[] {
  return wanted.flatMap((mark) => {
    const { name, word } = mark;
    const group = bucket.get(mark);
    return group === undefined || word === null ? [] : [{ ...place, name, verdict: word, ...group }];
  });
}

interface ToolGroup {
  readonly agent: string | undefined;
  readonly of: string | undefined;
  readonly name: string;
  calls: number;
  errors: number;
  notExecuted: number;
  readonly took: Mean;
  timed: number;
  readonly times: SketchSum;
  /** Keyed by path and keyword. */
  readonly failures: Map<string, ArgumentFailures>;
}

/** Refused arguments of one tool. */
const failuresMax = 50;

function addFailure({ failures }: ToolGroup, { path, keyword, calls }: ArgumentFailures): void {
  const key = JSON.stringify([path, keyword]);
  const known = failures.get(key);
  if (known === undefined && failures.size >= failuresMax) return;
  failures.set(key, { path, keyword, calls: calls + (known?.calls ?? 0) });
}

async function tools(on: Statements, { by, ...period }: ToolQuery): Promise<readonly ToolRow[]> {
  const valueOf = splitValues();
  const counts = new Map<string | undefined, number>();
  const groups = new Map<string, ToolGroup>();
  for await (const rows of runsOf(on, `agent, tools, failures, ${by ?? 'null'}`, period, {
    condition: 'tools is not null',
  }))
    for (const [agent, text, failures, value] of rows) {
      const of = valueOf(value);
      counts.set(of, (counts.get(of) ?? 0) + 1);
      const groupOf = (name: string): ToolGroup => {
        const key = JSON.stringify([agent, of, name]);
        const group = groups.get(key) ?? {
          agent: agent === null ? undefined : String(agent),
          of,
          name,
          calls: 0,
          errors: 0,
          notExecuted: 0,
          took: noMean(),
          timed: 0,
          times: sketchSum(),
          failures: new Map(),
        };
        groups.set(key, group);
        return group;
      };
      for (const [name, calls, errors, notExecuted, timed, took, sketch] of JSON.parse(String(text)) as readonly ToolCounts[]) {
        const group = groupOf(name);
        group.calls += calls;
        group.errors += errors;
        group.notExecuted += notExecuted;
        group.timed += timed;
        addTo(group.took, took);
        if (sketch !== undefined) addEncoded(group.times, sketch);
        else if (timed === 1) addValue(group.times, took);
      }
      if (typeof failures === 'string')
        for (const [tool, path, keyword, calls] of JSON.parse(failures) as readonly ArgumentFailure[])
          addFailure(groupOf(tool), { path, keyword, calls });
    }
  return keptTools(groups.values(), mostOf(counts)).map(({ took, timed, times, failures, ...row }) => ({
    ...row,
    tookMicros: meanOf({ ...took, count: timed }),
    times: sketchOfSum(times),
    argumentFailures: [...failures.values()].sort((one, other) => other.calls - one.calls),
  }));
}

function keptTools(groups: Iterable<ToolGroup>, nameOf: (value: string | undefined) => string | undefined): readonly ToolGroup[] {
  const kept = new Map<string, ToolGroup>();
  for (const group of groups) {
    const of = nameOf(group.of);
    const key = JSON.stringify([group.agent, of, group.name]);
    const before = kept.get(key);
    if (before === undefined) {
      kept.set(key, { ...group, of });
      continue;
    }
    before.calls += group.calls;
    before.errors += group.errors;
    before.notExecuted += group.notExecuted;
    before.timed += group.timed;
    joinTo(before.took, group.took);
    addEncoded(before.times, encodedSketch(group.times));
    for (const failure of group.failures.values()) addFailure(before, failure);
  }
  return [...kept.values()];
}

async function decided(
  on: Statements,
  { name, weightMax, ...period }: Extract<Scan, { of: 'decided' }>['query'],
): Promise<readonly DecidedRuns[]> {
  const all = await knownMarks(on);
  const byChar = marksByChar(all);
  const wanted = all.filter((mark) => mark.name === name && mark.decision !== null);
  if (wanted.length === 0) return [];
  const groups = new Map<string, { -readonly [member in keyof DecidedRuns]: DecidedRuns[member] }>();
  for await (const rows of runsOf(on, 'agent, marks, figures', period, {
    condition: 'glob(?, marks)',
    value: globOf(wanted),
  }))
    for (const [agent, marks, figures] of rows) {
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
