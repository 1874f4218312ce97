/**
 * Sums by version that are made of narrower ones, so that figures over all time read few rows: days, and one total for each version of all that
 * began before a time. Both follow from `version_figures` and may be dropped at any time. A change of an older time drops the total, and the next
 * steps build it again out of days. A question in between reads what there is and the narrower sums behind it.
 */
import { type VersionFigure, type VersionFigureKind, versionFiguresMax, type VersionQuery } from '../../model/store/version-store.ts';
import type { SqlValue, Statements } from './statements.ts';
import type { VersionFiguresTable } from './tables.ts';
import { startOf } from './rollup-sums.ts';

export const fineWidthMicros = 5 * 60_000_000;
export const hourMicros = 3_600_000_000;
const dayMicros = 24 * hourMicros;
/** The width of what the runs before the retention have become. */
export const wholeWidthMicros = Number.MAX_SAFE_INTEGER;
/** Widths of sums that are in a window of time. */
const windowWidths: readonly number[] = [fineWidthMicros, hourMicros];

/** Late spans and verdicts mostly come within this time, so the total ends before it. */
const totalAgeMicros = 3 * hourMicros;
/** Days end before the times of five minutes begin. */
const dayAgeMicros = 48 * hourMicros;
/** Stretches of days that one question reads. Others are read as hours. */
const stretchesMax = 20;

const key = 'agent, tenant, version, task, kind, name';
const sums =
  'sum(runs) as runs, sum(weight) as weight, sum(value) as value, sum(share) as share, sum(share_value) as share_value, min(first_us) as first_us, max(last_us) as last_us';
const columns = `${key}, runs, weight, value, share, share_value, first_us, last_us`;
const inWindow = `width_us in (${windowWidths.join(', ')})`;
const added = `on conflict (${key}) do update set ${addedTo('version_totals')}`;

/** The sums of a row that is there already, with those of another one. */
export function addedTo(table: string): string {
  const sum = (column: string): string => `${column} = ${table}.${column} + excluded.${column}`;
  return [
    ...['runs', 'weight', 'value', 'share', 'share_value'].map(sum),
    `first_us = min(${table}.first_us, excluded.first_us)`,
    `last_us = max(${table}.last_us, excluded.last_us)`,
  ].join(', ');
}

/** The start of a sum in a window of time, whose runs have been summed. */
export function fineTime(at: number): number {
  return startOf(at, fineWidthMicros);
}

/** 0: there is no total. */
async function totalUntil(on: Statements): Promise<number> {
  return Number((await on.first('select until_us as until from version_total_until'))?.['until'] ?? 0);
}

async function setUntil(on: Statements, until: number): Promise<void> {
  await on.run('update version_total_until set until_us = ?', [until]);
}

/** The first sum in a window of time from this one on. */
async function firstFrom(on: Statements, from: number): Promise<number | undefined> {
  const firsts: number[] = [];
  for (const width of windowWidths) {
    const at = (await on.first('select min(at_us) as at from version_figures where width_us = ? and at_us >= ?', [width, from]))?.['at'];
    if (typeof at === 'number') firsts.push(at);
  }
  return firsts.length === 0 ? undefined : Math.min(...firsts);
}

/** Runs that began within this time were summed again. */
export async function totalsChanged(on: Statements, { from, to }: { readonly from: number; readonly to: number }): Promise<void> {
  for (let day = startOf(from, dayMicros); day < to; day += dayMicros) await dropDay(on, day);
  if (from < (await totalUntil(on))) await dropTotal(on);
}

async function dropDay(on: Statements, day: number): Promise<void> {
  if ((await on.run('delete from version_days_made where at_us = ?', [day])) === 0) return;
  await on.run('delete from version_days where at_us = ?', [day]);
}

async function dropTotal(on: Statements): Promise<void> {
  await on.run('delete from version_totals');
  await setUntil(on, 0);
}

/** Sums before this time, or those by task, are about to become part of the sum of all older runs. The total has them already, or is dropped. */
export async function aboutToFold(on: Statements, before: number, { hours }: { readonly hours: boolean }): Promise<void> {
  const until = await totalUntil(on);
  if (until > 0 && until < before) await dropTotal(on);
  if (!hours) return;
  await on.run('delete from version_days where at_us < ?', [before]);
  await on.run('delete from version_days_made where at_us < ?', [before]);
}

/** Versions without a run since this time go from the sum of all older runs. */
export async function dropIdle(on: Statements, before: number): Promise<void> {
  const until = await totalUntil(on);
  if (until < before) return;
  const old = "select agent, tenant, version from version_totals where kind = 'run' and task = '' and last_us < ?";
  if ((await on.first(`${old} limit 1`, [before])) === undefined) return;
  const late = `select agent, tenant, version from version_figures where ${inWindow} and at_us >= ?`;
  const rows = await on.all(`${old} except ${late}`, [before, until]);
  for (const { agent = null, tenant = null, version = null } of rows) {
    const one = [agent, tenant, version];
    await on.run(`delete from version_figures where width_us = ${wholeWidthMicros} and agent = ? and tenant = ? and version = ?`, one);
    await on.run('delete from version_totals where agent = ? and tenant = ? and version = ?', one);
  }
}

interface TotalOptions {
  readonly now: number;
  /** Sums of runs before it are one sum for each version. */
  readonly keepFrom: number;
}

function targetOf({ now, keepFrom }: TotalOptions): number {
  return startOf(Math.max(now - totalAgeMicros, Math.min(keepFrom, now)), hourMicros);
}

/** The total is to begin, or to grow. */
export async function isTotalLeft(on: Statements, options: TotalOptions): Promise<boolean> {
  const [until, target] = [await totalUntil(on), targetOf(options)];
  return until < target && ((await firstFrom(on, until)) ?? target) < target;
}

/** One step towards a total of all that is older than a few hours: at most a day is added. `true`: it took a step. */
export async function totalsStep(on: Statements, options: TotalOptions): Promise<boolean> {
  const [until, target] = [await totalUntil(on), targetOf(options)];
  const dayTarget = startOf(options.now - dayAgeMicros, dayMicros);
  if (until === 0) return await beginTotal(on, target);
  const first = until < target ? await firstFrom(on, until) : undefined;
  if (first === undefined || first >= target) {
    if (until < target) await setUntil(on, target);
    return await madeLastDay(on, dayTarget - dayMicros);
  }
  const day = startOf(first, dayMicros);
  if (day >= until && day < dayTarget) {
    await makeDay(on, day);
    await on.run(
      `insert into version_totals (${columns}) select agent, tenant, version, '', kind, name, runs, weight, value, share, share_value, first_us, last_us
         from version_days where at_us = ? ${added}`,
      [day],
    );
    await setUntil(on, day + dayMicros);
  } else {
    const hour = startOf(first, hourMicros);
    await on.run(
      `insert into version_totals (${columns}) select ${key}, ${sums} from version_figures
         where ${inWindow} and at_us >= ? and at_us < ? group by ${key} ${added}`,
      [hour, hour + hourMicros],
    );
    await setUntil(on, hour + hourMicros);
  }
  return true;
}

/** It begins with the sum of all runs that are older than the others. */
async function beginTotal(on: Statements, target: number): Promise<boolean> {
  const first = await firstFrom(on, 0);
  const hasWhole = (await on.first('select 1 from version_figures where width_us = ? limit 1', [wholeWidthMicros])) !== undefined;
  if ((first === undefined || first >= target) && !hasWhole) return false;
  await on.run(`insert into version_totals (${columns}) select ${columns} from version_figures where width_us = ? and at_us = 0`, [
    wholeWidthMicros,
  ]);
  await setUntil(on, Math.max(1, Math.min(target, startOf(first ?? target, dayMicros))));
  return true;
}

/** The total passed over it hour by hour. It is there for the next total. */
async function madeLastDay(on: Statements, day: number): Promise<boolean> {
  if ((await on.first('select 1 from version_days_made where at_us = ?', [day])) !== undefined) return false;
  const first = await firstFrom(on, day);
  if (first === undefined || first >= day + dayMicros) return false;
  return await makeDay(on, day);
}

/** `false`: it is there already. */
async function makeDay(on: Statements, day: number): Promise<boolean> {
  if ((await on.run('insert into version_days_made (at_us) values (?) on conflict (at_us) do nothing', [day])) === 0) return false;
  await on.run(
    `insert into version_days (at_us, agent, tenant, version, kind, name, runs, weight, value, share, share_value, first_us, last_us)
       select ?, agent, tenant, version, kind, name, ${sums} from version_figures
       where ${inWindow} and at_us >= ? and at_us < ? and task = '' group by agent, tenant, version, kind, name`,
    [day, day, day + dayMicros],
  );
  return true;
}

// Answers.

interface Stretch {
  readonly from: number;
  readonly to: number;
}

/** Days one behind the other that are made, from this time on. */
async function madeStretches(on: Statements, until: number): Promise<readonly Stretch[]> {
  const stretches: { from: number; to: number }[] = [];
  for (const { at } of await on.all('select at_us as at from version_days_made where at_us >= ? order by at_us', [until])) {
    const [day, last] = [Number(at), stretches.at(-1)];
    if (last?.to === day) last.to += dayMicros;
    else if (stretches.length === stretchesMax) break;
    else stretches.push({ from: day, to: day + dayMicros });
  }
  return stretches;
}

/** The times between these. */
function gapsOf(stretches: readonly Stretch[], from: number): readonly Stretch[] {
  const edges = [from, ...stretches.flatMap((one) => [one.from, one.to]), Number.MAX_SAFE_INTEGER];
  return edges.flatMap((edge, at) => (at % 2 === 0 && edge < (edges[at + 1] ?? 0) ? [{ from: edge, to: edges[at + 1] ?? 0 }] : []));
}

interface Source {
  readonly table: string;
  readonly where: string;
  readonly values: readonly number[];
}

/** Places of a question's sums: each run is in one of them. */
async function sourcesOf(on: Statements, from: number | undefined): Promise<readonly Source[]> {
  const windows = ({ from: begin, to }: Stretch): Source => ({
    table: 'version_figures',
    where: `${inWindow} and at_us >= ? and at_us < ?`,
    values: [begin, to],
  });
  if (from !== undefined) return [windows({ from: fineTime(from), to: Number.MAX_SAFE_INTEGER })];
  const until = await totalUntil(on);
  const days = await madeStretches(on, until);
  return [
    until > 0
      ? { table: 'version_totals', where: 'true', values: [] }
      : { table: 'version_figures', where: 'width_us = ? and at_us = 0', values: [wholeWidthMicros] },
    ...days.map((stretch) => ({ table: 'version_days', where: 'at_us >= ? and at_us < ?', values: [stretch.from, stretch.to] })),
    ...gapsOf(days, until).map(windows),
  ];
}

/** Agents with their place among those of a tenant, by runs. An agent of several tenants has the best of its places. */
function rankedAgents(
  sources: readonly Source[],
  { tenant, topAgents }: { readonly tenant: string | undefined; readonly topAgents: number },
): { readonly sql: string; readonly values: readonly SqlValue[] } {
  const ofTenant = tenant === undefined ? '' : ' and tenant = ?';
  const runs = sources.map(({ table, where }) => `select tenant, agent, runs from ${table} where ${where} and +kind = 'run'${ofTenant}`);
  return {
    sql: `select agent, min(place) as place from (
            select agent, row_number() over (partition by tenant order by sum(runs) desc, agent) as place from (${runs.join(' union all ')}) as counted group by tenant, agent
          ) as placed where place <= ${topAgents} group by agent`,
    values: sources.flatMap((one) => [...one.values, ...(tenant === undefined ? [] : [tenant])]),
  };
}

/** A row of an answer. */
type FigureRow = Omit<VersionFiguresTable, 'tenant' | 'at_us' | 'width_us'>;

export async function versionFigures(on: Statements, query: VersionQuery): Promise<readonly VersionFigure[]> {
  const { agent, version, tenant, from, kinds, name, byTask = false, allVersions = false, topAgents } = query;
  const filters = Object.entries({ agent, version, tenant, name }).filter((one): one is [string, string] => one[1] !== undefined);
  const conditions = [
    // No index by kind: the times lead to the rows.
    `+kind in (${kinds.map(() => '?').join(', ')})`,
    ...filters.map(([column]) => `${column} = ?`),
  ];
  const values: readonly SqlValue[] = [...kinds, ...filters.map(([, value]) => value)];
  const ofVersion = allVersions ? "'' as version" : 'version';
  const selectFrom = ({ table, where }: Source): string => {
    // Days have no sums by task.
    const hasTasks = table !== 'version_days';
    const wanted = [where, ...conditions, ...(byTask || !hasTasks ? [] : ["task = ''"])].join(' and ');
    return `select agent, ${ofVersion}, ${hasTasks ? 'task' : "'' as task"}, kind, name, runs, weight, value, share, share_value, first_us, last_us from ${table} where ${wanted}`;
  };
  const sources = await sourcesOf(on, from);
  const ranked = topAgents === undefined || agent !== undefined ? undefined : rankedAgents(sources, { tenant, topAgents });
  const rows = (await on.all(
    `${ranked === undefined ? '' : `with ranked as (${ranked.sql}) `}select agent, version, task, kind, name, ${sums} from (${sources.map(selectFrom).join(' union all ')}) as parts
       ${ranked === undefined ? '' : 'join ranked using (agent)'}
       group by agent, version, task, kind, name order by ${ranked === undefined ? '' : 'min(place), '}agent, kind, name, version, task limit ${versionFiguresMax}`,
    [...(ranked?.values ?? []), ...sources.flatMap((one) => [...one.values, ...values])],
  )) as unknown as readonly FigureRow[];
  return rows.map((row) => ({
    agent: row.agent,
    version: row.version,
    task: row.task,
    kind: row.kind as VersionFigureKind,
    name: row.name,
    runs: row.runs,
    weight: row.weight,
    value: row.value,
    share: row.share,
    shareValue: row.share_value,
    firstAt: row.first_us,
    lastAt: row.last_us,
  }));
}
