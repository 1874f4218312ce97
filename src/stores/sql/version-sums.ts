/**
 * Sums of runs by version, made in the thread that has the file. Each batch notes the times of its runs. A refresh reads the runs of such a time again
 * and replaces its sums, so a later verdict or revision is counted once. Times are five minutes wide, hours after two days, and one sum for each
 * version after the retention of runs. Sums by task become that one sum after two days: no one asks for a task in a window of time.
 */
import { type RefreshOptions, runsOfSession, type VersionFigureKind } from '../../model/store/version-store.ts';
import { durationBin } from '../../statistics/duration-bins.ts';
import { eachMark, knownMarks, marksByChar, type KnownMark } from './marks.ts';
import { sessionPairs, type SessionPairs } from './session-pairs.ts';
import type { SqlValue, Statements } from './statements.ts';
import { isRollupLeft, rollUpRest, rollUpStep, sumsStay, textOf } from './rollup-sums.ts';
import {
  aboutToFold,
  addedTo,
  dropIdle,
  fineTime,
  fineWidthMicros,
  hourMicros,
  isTotalLeft,
  totalsChanged,
  totalsStep,
  wholeWidthMicros,
} from './version-totals.ts';

const fineForMicros = 48 * hourMicros;

/** Pairs of agent and version of one tenant in one time; further versions count as `other`, further agents as one agent `other`. */
export const versionsMax = 500;
const agentsMax = 1_000;
/** Tasks of one version in one time, those with the most runs; further ones are in the sum over all tasks only. */
export const tasksMax = 20;
/** Models, prompts and evaluators of one version in one time. */
const namesMax = 200;
const other = 'other';

function hourOf(time: number): number {
  return time - (time % hourMicros);
}

/** Notes that runs of these times have changed. Called within the transaction of the change. */
export const noteChange = 'insert into version_changes (at_us) values (?) on conflict (at_us) do nothing';

/** One step, within a transaction: at most one time is summed again. `true`: more are left. */
export async function refreshed(on: Statements, { now, keepFrom, endedOnly = false, changedFrom }: RefreshOptions): Promise<boolean> {
  const before = endedOnly ? fineTime(now) : Number.MAX_SAFE_INTEGER;
  const from = changedFrom === undefined ? 0 : fineTime(changedFrom);
  const nextChange = async (): Promise<unknown> =>
    (await on.first('select max(at_us) as at from version_changes where at_us >= ? and at_us < ?', [from, before]))?.['at'];
  const next = await nextChange();
  if (typeof next === 'number') {
    await sumAgain(on, next, { now, keepFrom });
    if (typeof (await nextChange()) === 'number') return true;
    return (
      changedFrom === undefined &&
      ((await isRollupLeft(on)) || (await foldBefore(on, { now, keepFrom })) !== undefined || (await isTotalLeft(on, { now, keepFrom })))
    );
  }
  if (changedFrom !== undefined) return false;
  const rest = {
    marks: async () => marksByChar(await knownMarks(on)),
    isGone: (hour: number) => isPruned(on, hour),
  };
  if (await rollUpRest(on, { now, keepFrom }, rest)) return true;
  if ((await folded(on, { now, keepFrom })) || (await totalsStep(on, { now, keepFrom }))) return true;
  await dropIdle(on, hourOf(keepFrom));
  return false;
}

/** Some of the runs from this time on are gone. */
async function isPruned(on: Statements, from: number): Promise<boolean> {
  const until = (await on.first('select until_us as until from version_pruned'))?.['until'];
  return typeof until === 'number' && from <= until;
}

async function sumAgain(on: Statements, at: number, { now, keepFrom }: Pick<RefreshOptions, 'now' | 'keepFrom'>): Promise<void> {
  const isFine = hourOf(at) >= hourOf(now - fineForMicros);
  const width = isFine ? fineWidthMicros : hourMicros;
  const from = at - (at % width);
  await on.run('delete from version_changes where at_us >= ? and at_us < ?', [from, from + width]);
  // It is part of the one sum of its versions already.
  if (from < hourOf(keepFrom)) return await sumsStay(on, hourOf(keepFrom));
  // Some of its runs are gone, so the sums stay unchanged.
  if (await isPruned(on, from)) return;
  await on.run('delete from version_figures where width_us in (?, ?) and at_us >= ? and at_us < ?', [
    fineWidthMicros,
    hourMicros,
    from,
    from + width,
  ]);
  // Sums by task of older times are in the one sum already.
  const marks = marksByChar(await knownMarks(on));
  await write(on, { at: from, width, byTask: isFine }, await sumsOf(on, { from, to: from + width }, marks));
  await totalsChanged(on, { from, to: from + width });
  await rollUpStep(on, from, { now, marks });
}

interface Fold {
  readonly of: number;
  readonly before: number;
}

/** The oldest hour that is to be made wider. */
async function foldBefore(on: Statements, { now, keepFrom }: Pick<RefreshOptions, 'now' | 'keepFrom'>): Promise<Fold | undefined> {
  const due = [
    { of: fineWidthMicros, before: hourOf(now - fineForMicros) },
    { of: hourMicros, before: hourOf(keepFrom) },
  ];
  for (const { of, before } of due) {
    const first = (await on.first('select min(at_us) as at from version_figures where width_us = ? and at_us < ?', [of, before]))?.['at'];
    if (typeof first === 'number') return { of, before: hourOf(first) + hourMicros };
  }
  return undefined;
}

/** Makes the sums of one hour wider that are old enough. `false`: there are none. */
async function folded(on: Statements, options: Pick<RefreshOptions, 'now' | 'keepFrom'>): Promise<boolean> {
  const fold = await foldBefore(on, options);
  if (fold === undefined) return false;
  const { of, before } = fold;
  await aboutToFold(on, before, { hours: of === hourMicros });
  if (of === hourMicros) await widen(on, { from: hourMicros, to: wholeWidthMicros, before });
  else {
    await widen(on, { from: fineWidthMicros, to: wholeWidthMicros, before, tasks: true });
    await widen(on, { from: fineWidthMicros, to: hourMicros, before });
  }
  return true;
}

interface Widening {
  readonly from: number;
  readonly to: number;
  readonly before: number;
  /** True for sums by task only. */
  readonly tasks?: boolean;
}

/** Sums of one width become sums of a larger one. */
async function widen(on: Statements, { from, to, before, tasks = false }: Widening): Promise<void> {
  const which = `width_us = ? and at_us < ?${tasks ? " and task <> ''" : ''}`;
  const time = to === wholeWidthMicros ? '0' : `at_us / ${to} * ${to}`;
  await on.run(
    `insert into version_figures (tenant, agent, version, task, kind, name, at_us, width_us, runs, weight, value, share, share_value, first_us, last_us)
       select tenant, agent, version, task, kind, name, ${time}, ?, sum(runs), sum(weight), sum(value), sum(share), sum(share_value), min(first_us), max(last_us)
       from version_figures where ${which} group by 1, 2, 3, 4, 5, 6, 7
       on conflict (kind, name, task, agent, tenant, version, width_us, at_us) do update set ${addedTo('version_figures')}`,
    [to, from, before],
  );
  await on.run(`delete from version_figures where ${which}`, [from, before]);
}

interface Sums {
  runs: number;
  weight: number;
  value: number;
  share: number;
  shareValue: number;
  firstAt: number;
  lastAt: number;
}

/** By tenant, agent and version. */
interface Version {
  readonly key: readonly [tenant: string, agent: string, version: string];
  /** By kind, task and name. */
  readonly sums: Map<VersionFigureKind, Map<string, Map<string, Sums>>>;
  /** Runs by marks and task; only their marks are needed. There are millions of runs, and few such texts. */
  readonly plain: Map<string, Map<string, Sums>>;
  readonly tasks: ReadonlySet<string>;
  readonly names: Set<string>;
}

interface Versions {
  readonly all: Map<string, Version>;
  /** Their number by tenant. */
  readonly ofTenant: Map<string, number>;
  /** The tasks with the most runs, by agent and version. */
  readonly tasks: ReadonlyMap<string, ReadonlySet<string>>;
  readonly pairs: SessionPairs;
}

const columns =
  'tenant, agent, version, model, prompt, task, started_us, ended_us, input_tokens, output_tokens, cost_usd, status, marks, figures, session_id';

async function sumsOf(
  on: Statements,
  { from, to }: { readonly from: number; readonly to: number },
  marks: ReadonlyMap<string, KnownMark>,
): Promise<Iterable<Version>> {
  const versions: Versions = {
    all: new Map(),
    ofTenant: new Map(),
    tasks: await largestTasks(on, { from, to }),
    pairs: sessionPairs(on, from, marks),
  };
  const runs = on.lists(`select ${columns} from runs where started_us >= ? and started_us < ? and part_of is null`, [from, to]);
  for await (const rows of runs) for (const row of rows) await addRun(versions, row, marks);
  for (const version of versions.all.values())
    for (const [text, byTask] of version.plain)
      for (const [task, runs] of byTask) addVerdicts(version, { marks: text, figures: null }, task, { runs, known: marks });
  return versions.all.values();
}

/** Runs of one time have few tasks, or one each: then only some are kept. */
async function largestTasks(
  on: Statements,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const pages = on.lists(
    `select tenant, agent, version, task from runs where started_us >= ? and started_us < ? and part_of is null and task is not null and task <> ''
       group by 1, 2, 3, 4 order by count(*) desc, task`,
    [from, to],
  );
  const found = new Map<string, Set<string>>();
  for await (const rows of pages)
    for (const [tenant, agent, version, task] of rows) {
      const key = JSON.stringify([textOf(tenant), textOf(agent), textOf(version)]);
      const tasks = found.get(key) ?? new Set<string>();
      found.set(key, tasks);
      if (tasks.size < tasksMax) tasks.add(textOf(task));
    }
  return found;
}

/** A promise where earlier runs of the session are looked up. */
function addRun(versions: Versions, row: readonly unknown[], known: ReadonlyMap<string, KnownMark>): Promise<void> | undefined {
  const [tenant, agent, version, model, prompt, task, started, ended, input, output, cost, status, marks, figures, session] = row;
  const of = versionOf(versions, [textOf(tenant), textOf(agent), textOf(version)]);
  const startedAt = Number(started);
  addOne(sumFor(of, 'run', '', ''), startedAt, 1);
  const took = Number(ended) - startedAt;
  if (took >= 0) {
    addOne(sumFor(of, 'duration', '', durationBin(took)), startedAt, 1);
    addOne(sumFor(of, 'took', '', ''), startedAt, took);
  }
  if (typeof input === 'number') addOne(sumFor(of, 'input_tokens', '', ''), startedAt, input);
  if (typeof output === 'number') addOne(sumFor(of, 'output_tokens', '', ''), startedAt, output);
  if (typeof cost === 'number') addOne(sumFor(of, 'cost', '', ''), startedAt, cost);
  if (status === 'error' || status === 'paused') addOne(sumFor(of, 'status', '', status), startedAt, 1);
  if (typeof model === 'string') addOne(sumFor(of, 'model', '', nameOf(of, model)), startedAt, 1);
  if (typeof prompt === 'string') addOne(sumFor(of, 'prompt', '', nameOf(of, prompt)), startedAt, 1);
  const ownTask = taskOf(of, textOf(task));
  const said = { marks: String(marks), figures: figures as Uint8Array | null };
  const isInSession = typeof session === 'string' && session !== '';
  const looked = isInSession
    ? versions.pairs(
        { tenant: textOf(tenant), agent: textOf(agent), version: textOf(version), session, ...said },
        // For m verdicts in a session these are m · (m − 1) together.
        (name, earlier) => addOne(sumFor(of, 'session', '', name === runsOfSession ? name : nameOf(of, name)), startedAt, 2 * earlier),
      )
    : undefined;
  if (said.figures === null) addOne(plainFor(of, said.marks, ownTask), startedAt, 1);
  else
    addVerdicts(of, said, ownTask, {
      runs: { runs: 1, weight: 1, value: 1, share: 1, shareValue: 1, firstAt: startedAt, lastAt: startedAt },
      known,
    });
  return looked;
}

/** Verdicts of a release that did not note a raise count in the mean, and for nothing in its interval. */
function shareOf({ kind, raisedBy: isNoted }: KnownMark, raisedBy: number | undefined): number {
  return raisedBy !== undefined ? 1 / raisedBy : kind === 'rule' || isNoted === null ? 1 : 0;
}

/** Adds what the marks mean, as often as there are runs with them. */
function addVerdicts(
  of: Version,
  said: { readonly marks: string; readonly figures: Uint8Array | null },
  task: string,
  { runs, known }: { readonly runs: Sums; readonly known: ReadonlyMap<string, KnownMark> },
): void {
  eachMark(said, known, (mark, score, sampleProbability, _probability, raisedBy, upstream = 1) => {
    const kind = mark.word === 'pass' || mark.word === 'fail' ? 'pass' : mark.word === 'raw' ? 'score' : undefined;
    const value = kind === 'pass' ? Number(mark.word === 'pass') : score;
    // The runs that reach the service are compared, so the part of samplers before it does not count.
    const weight = upstream / (sampleProbability ?? 1);
    if (kind === undefined || value === undefined || !(weight >= 1 && weight < Infinity)) return;
    const name = nameOf(of, mark.name);
    const share = shareOf(mark, raisedBy);
    const count = runs.runs;
    const part = {
      ...runs,
      weight: count * weight,
      value: count * weight * value,
      share: count * share,
      shareValue: count * share * value,
    };
    join(sumFor(of, kind, '', name), part);
    if (task !== '') join(sumFor(of, kind, task, name), part);
  });
}

function versionOf({ all, ofTenant, tasks }: Versions, [tenant, agent, version]: Version['key']): Version {
  for (const key of [
    [tenant, agent, version],
    [tenant, agent, other],
    [tenant, other, other],
  ] as const) {
    const text = JSON.stringify(key);
    const known = all.get(text);
    if (known !== undefined) return known;
    const room = key[2] === version ? versionsMax : key[1] === agent ? agentsMax : Infinity;
    const own = ofTenant.get(tenant) ?? 0;
    if (own >= room) continue;
    const fresh: Version = { key, sums: new Map(), plain: new Map(), tasks: tasks.get(text) ?? new Set(), names: new Set() };
    all.set(text, fresh);
    ofTenant.set(tenant, own + 1);
    return fresh;
  }
  throw new Error('a run has no version');
}

/** Empty when it has none. */
function taskOf({ tasks }: Version, task: string): string {
  return tasks.has(task) ? task : '';
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

function sumFor({ sums }: Version, kind: VersionFigureKind, task: string, name: string): Sums {
  const byTask = sums.get(kind) ?? new Map<string, Map<string, Sums>>();
  sums.set(kind, byTask);
  const byName = byTask.get(task) ?? new Map<string, Sums>();
  byTask.set(task, byName);
  return sumIn(byName, name);
}

function plainFor({ plain }: Version, marks: string, task: string): Sums {
  const byTask = plain.get(marks) ?? new Map<string, Sums>();
  plain.set(marks, byTask);
  return sumIn(byTask, task);
}

function sumIn(sums: Map<string, Sums>, key: string): Sums {
  const known = sums.get(key);
  if (known !== undefined) return known;
  const fresh = { runs: 0, weight: 0, value: 0, share: 0, shareValue: 0, firstAt: Infinity, lastAt: -Infinity };
  sums.set(key, fresh);
  return fresh;
}

function addOne(sums: Sums, startedAt: number, value: number): void {
  sums.runs++;
  sums.weight++;
  sums.value += value;
  sums.share++;
  sums.shareValue += value;
  if (startedAt < sums.firstAt) sums.firstAt = startedAt;
  if (startedAt > sums.lastAt) sums.lastAt = startedAt;
}

function join(sums: Sums, other: Sums): void {
  sums.runs += other.runs;
  sums.weight += other.weight;
  sums.value += other.value;
  sums.share += other.share;
  sums.shareValue += other.shareValue;
  sums.firstAt = Math.min(sums.firstAt, other.firstAt);
  sums.lastAt = Math.max(sums.lastAt, other.lastAt);
}

async function write(
  on: Statements,
  { at, width, byTask: isByTask }: { readonly at: number; readonly width: number; readonly byTask: boolean },
  versions: Iterable<Version>,
): Promise<void> {
  const insert = `insert into version_figures (tenant, agent, version, kind, name, task, at_us, width_us, runs, weight, value, share, share_value, first_us, last_us)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`;
  for (const version of versions)
    for (const [kind, byTask] of version.sums)
      for (const [task, byName] of byTask)
        for (const [name, { runs, weight, value, share, shareValue, firstAt, lastAt }] of isByTask || task === '' ? byName : []) {
          const row: readonly SqlValue[] = [
            ...version.key,
            kind,
            name,
            task,
            at,
            width,
            runs,
            weight,
            value,
            share,
            shareValue,
            firstAt,
            lastAt,
          ];
          await on.run(insert, row);
        }
}
