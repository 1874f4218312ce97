/**
 * Sums of runs by version, made in the thread that has the file. Each batch notes the times of its runs. A refresh reads the runs of such a time again
 * and replaces its sums, so a later verdict or revision is counted once. Times are five minutes wide, hours after two days, and one sum for each
 * version after the retention of runs.
 */
import type { DatabaseSync, SQLInputValue } from 'node:sqlite';
import { durationBin, type RefreshOptions, type VersionFigureKind } from '../../model/store/version-store.ts';
import { parsedMark } from '../run-record.ts';
import { eachMark, markChar, marksByChar, type KnownMark } from './marks.ts';

export const fineWidthMicros = 5 * 60_000_000;
const hourMicros = 3_600_000_000;
/** The width of what the runs before the retention have become. */
const wholeWidthMicros = Number.MAX_SAFE_INTEGER;
const fineForMicros = 48 * hourMicros;

/** Pairs of agent and version of one time, of each tenant; further versions count as `other`, further agents as one agent `other`. */
const versionsMax = 500;
const agentsMax = 1_000;
/** Tasks of one version in one time; further ones are in the sum over all tasks only. */
const tasksMax = 20;
/** Models, prompts and evaluators of one version in one time. */
const namesMax = 200;
const other = 'other';

/** Start of the time of a run. */
export function fineTime(startedAt: number): number {
  return startedAt - (startedAt % fineWidthMicros);
}

function hourOf(time: number): number {
  return time - (time % hourMicros);
}

/** Notes that runs of these times have changed. Called within the transaction of the change. */
export const noteChange = 'insert into version_changes (at_us) values (?) on conflict (at_us) do nothing';

/** One step: at most one time is summed again. `true`: more are left. */
export function refreshed(database: DatabaseSync, { now, keepFrom, endedOnly = false }: RefreshOptions): boolean {
  database.exec('savepoint version_sums');
  try {
    const before = endedOnly ? fineTime(now) : Number.MAX_SAFE_INTEGER;
    const next = database.prepare('select max(at_us) as at from version_changes where at_us < ?').get(before)?.['at'];
    if (typeof next === 'number') sumAgain(database, next, { now, keepFrom });
    else fold(database, { now, keepFrom });
    const more =
      typeof next === 'number' && database.prepare('select 1 from version_changes where at_us < ? limit 1').get(before) !== undefined;
    database.exec('release version_sums');
    return more;
  } catch (error) {
    database.exec('rollback to version_sums; release version_sums');
    throw error;
  }
}

function sumAgain(database: DatabaseSync, at: number, { now, keepFrom }: Pick<RefreshOptions, 'now' | 'keepFrom'>): void {
  const isFine = hourOf(at) >= hourOf(now - fineForMicros);
  const width = isFine ? fineWidthMicros : hourMicros;
  const from = at - (at % width);
  database.prepare('delete from version_changes where at_us >= ? and at_us < ?').run(from, from + width);
  // It is part of the one sum of its versions already.
  if (from < hourOf(keepFrom)) return;
  // Some of its runs are gone, so the sums stay as they are.
  const pruned = database.prepare('select until_us as until from version_pruned').get()?.['until'];
  if (typeof pruned === 'number' && from <= pruned) return;
  database
    .prepare('delete from version_figures where width_us in (?, ?) and at_us >= ? and at_us < ?')
    .run(fineWidthMicros, hourMicros, from, from + width);
  write(database, { at: from, width }, sumsOf(database, { from, to: from + width }));
}

/** Makes sums wider that are old enough, and lets versions go that have had no run for longer than runs are kept. */
function fold(database: DatabaseSync, { now, keepFrom }: Pick<RefreshOptions, 'now' | 'keepFrom'>): void {
  widen(database, { from: fineWidthMicros, to: hourMicros, before: hourOf(now - fineForMicros) });
  widen(database, { from: hourMicros, to: wholeWidthMicros, before: hourOf(keepFrom) });
  database
    .prepare(
      `delete from version_figures where width_us = ? and (agent, tenant, version) in (
         select agent, tenant, version from version_figures group by agent, tenant, version having max(last_us) < ?)`,
    )
    .run(wholeWidthMicros, keepFrom);
}

/** Sums of one width become sums of a larger one. */
function widen(
  database: DatabaseSync,
  { from, to, before }: { readonly from: number; readonly to: number; readonly before: number },
): void {
  const due = database.prepare('select 1 from version_figures where width_us = ? and at_us < ? limit 1').get(from, before);
  if (due === undefined) return;
  const time = to === wholeWidthMicros ? '0' : `at_us / ${to} * ${to}`;
  database
    .prepare(
      `insert into version_figures (tenant, agent, version, task, kind, name, at_us, width_us, runs, weight, value, weight_max, first_us, last_us)
       select tenant, agent, version, task, kind, name, ${time}, ?, sum(runs), sum(weight), sum(value), max(weight_max), min(first_us), max(last_us)
       from version_figures where width_us = ? and at_us < ? group by 1, 2, 3, 4, 5, 6, 7
       on conflict (agent, tenant, version, kind, name, task, width_us, at_us) do update set
         runs = runs + excluded.runs, weight = weight + excluded.weight, value = value + excluded.value, weight_max = max(weight_max, excluded.weight_max),
         first_us = min(first_us, excluded.first_us), last_us = max(last_us, excluded.last_us)`,
    )
    .run(to, from, before);
  database.prepare('delete from version_figures where width_us = ? and at_us < ?').run(from, before);
}

interface Sums {
  runs: number;
  weight: number;
  value: number;
  weightMax: number;
  firstAt: number;
  lastAt: number;
}

/** By tenant, agent and version. */
interface Version {
  readonly key: readonly [tenant: string, agent: string, version: string];
  /** By kind, name and task. */
  readonly sums: Map<string, { readonly key: readonly [kind: VersionFigureKind, name: string, task: string]; readonly sums: Sums }>;
  readonly tasks: Set<string>;
  readonly names: Set<string>;
}

interface RunFacts {
  readonly task: string;
  readonly startedAt: number;
}

const columns = 'tenant, agent, version, model, prompt, task, started_us, ended_us, input_tokens, output_tokens, cost_usd, marks, figures';

function sumsOf(database: DatabaseSync, { from, to }: { readonly from: number; readonly to: number }): Iterable<Version> {
  const marks = marksByChar(knownMarks(database));
  const versions = new Map<string, Version>();
  const statement = database.prepare(`select ${columns} from runs where started_us >= ? and started_us < ? and part_of is null`);
  statement.setReturnArrays(true);
  for (const row of statement.iterate(from, to) as Iterable<unknown> as Iterable<readonly unknown[]>) addRun(versions, row, marks);
  return versions.values();
}

function addRun(versions: Map<string, Version>, row: readonly unknown[], known: ReadonlyMap<string, KnownMark>): void {
  const [tenant, agent, version, model, prompt, task, started, ended, input, output, cost, marks, figures] = row;
  const of = versionOf(versions, [textOf(tenant), textOf(agent), textOf(version)]);
  const startedAt = Number(started);
  const run = { task: taskOf(of, textOf(task)), startedAt };
  add(of, ['run', ''], run, 1, 1);
  const took = Number(ended) - startedAt;
  if (took >= 0) {
    add(of, ['duration', String(durationBin(took))], run, 1, 1);
    add(of, ['took', ''], run, took, 1);
  }
  for (const [kind, amount] of [
    ['input_tokens', input],
    ['output_tokens', output],
    ['cost', cost],
  ] as const)
    if (typeof amount === 'number') add(of, [kind, ''], run, amount, 1);
  if (typeof model === 'string') add(of, ['model', nameOf(of, model)], run, 1, 1);
  if (typeof prompt === 'string') add(of, ['prompt', nameOf(of, prompt)], run, 1, 1);
  eachMark({ marks: String(marks), figures: figures as Uint8Array | null }, known, (mark, score, sampleProbability) => {
    const kind = mark.word === 'pass' || mark.word === 'fail' ? 'pass' : mark.word === 'raw' ? 'score' : undefined;
    const value = kind === 'pass' ? Number(mark.word === 'pass') : score;
    const weight = 1 / (sampleProbability ?? 1);
    if (kind === undefined || value === undefined || !(weight >= 1 && weight < Infinity)) return;
    const name = nameOf(of, mark.name);
    add(of, [kind, name], run, value, weight);
    if (run.task !== '') add(of, [kind, name, run.task], run, value, weight);
  });
}

function versionOf(versions: Map<string, Version>, [tenant, agent, version]: Version['key']): Version {
  for (const key of [
    [tenant, agent, version],
    [tenant, agent, other],
    [tenant, other, other],
  ] as const) {
    const text = JSON.stringify(key);
    const known = versions.get(text);
    if (known !== undefined) return known;
    const room = key[2] === version ? versionsMax : key[1] === agent ? agentsMax : Infinity;
    if (versions.size >= room) continue;
    const fresh: Version = { key, sums: new Map(), tasks: new Set(), names: new Set() };
    versions.set(text, fresh);
    return fresh;
  }
  throw new Error('a run has no version');
}

/** Empty: it has none of its own. */
function taskOf({ tasks }: Version, task: string): string {
  return bounded(tasks, task, tasksMax) ?? '';
}

function nameOf({ names }: Version, name: string): string {
  return bounded(names, name, namesMax) ?? other;
}

function bounded(known: Set<string>, text: string, max: number): string | undefined {
  if (known.has(text)) return text;
  if (text === '' || known.size >= max) return undefined;
  known.add(text);
  return text;
}

function sumKey(kind: VersionFigureKind, name: string, task: string): string {
  return `${kind} ${task.length} ${task}${name}`;
}

function add(
  { sums }: Version,
  [kind, name, task = '']: readonly [kind: VersionFigureKind, name: string, task?: string],
  { startedAt }: RunFacts,
  value: number,
  weight: number,
): void {
  const text = sumKey(kind, name, task);
  const known = sums.get(text) ?? {
    key: [kind, name, task] as const,
    sums: { runs: 0, weight: 0, value: 0, weightMax: 0, firstAt: startedAt, lastAt: startedAt },
  };
  sums.set(text, known);
  const own = known.sums;
  own.runs++;
  own.weight += weight;
  own.value += weight * value;
  own.weightMax = Math.max(own.weightMax, weight);
  own.firstAt = Math.min(own.firstAt, startedAt);
  own.lastAt = Math.max(own.lastAt, startedAt);
}

function write(database: DatabaseSync, { at, width }: { readonly at: number; readonly width: number }, versions: Iterable<Version>): void {
  const statement = database.prepare(
    `insert into version_figures (tenant, agent, version, kind, name, task, at_us, width_us, runs, weight, value, weight_max, first_us, last_us)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  for (const version of versions)
    for (const { key, sums } of version.sums.values()) {
      const { runs, weight, value, weightMax, firstAt, lastAt } = sums;
      const row: readonly SQLInputValue[] = [...version.key, ...key, at, width, runs, weight, value, weightMax, firstAt, lastAt];
      statement.run(...row);
    }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function knownMarks(database: DatabaseSync): readonly KnownMark[] {
  return database
    .prepare('select code, mark from verdict_marks')
    .all()
    .map(({ code, mark }) => ({ ...parsedMark(String(mark)), char: markChar(Number(code)) }));
}
