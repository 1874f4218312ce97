/**
 * Sums of runs over time, made in the thread that has the file. A refresh reads the runs of a time again and replaces its sums, so a later verdict or
 * revision counts once. The steps of an hour make the hour, and the hours of a day make the day.
 */
import {
  fineRollupMicros,
  otherRollup,
  type RollupKind,
  type RollupQuery,
  type RollupRow,
  rollupShapes,
  type Rollups,
  rollupSteps,
  scoreEdges,
} from '../../model/store/rollup-store.ts';
import {
  addEncoded,
  addValue,
  encodedSketch,
  type EncodedSketch,
  sketchOfSum,
  sketchSum,
  type SketchSum,
} from '../../statistics/sketch-sum.ts';
import { runsOfSession } from '../../model/store/version-store.ts';
import { sessionPairs, type SessionPairs } from './session-pairs.ts';
import type { ArgumentFailure, ModelColumns, ToolCounts } from '../run-counts.ts';
import { eachMark, type KnownMark } from './marks.ts';
import type { Statements } from './statements.ts';

const [fineMicros, hourMicros, dayMicros] = rollupSteps;

/** Agents of one tenant in one step; further ones are one agent `other`. */
export const rollupAgentsMax = 1_000;
/** Tools, models and evaluators of one agent in one step, each. */
export const namesMax = 200;
/** Refused arguments of one tool in one step. */
const keysMax = 50;
/** Rows of one answer, in equal shares for the tenants when they do not fit; further ones are one row `other`. */
export const rowsMax = 20_000;
/** Days stay this long. */
const daysKeptMicros = 400 * dayMicros;

const kinds = Object.keys(rollupShapes) as readonly RollupKind[];

export function startOf(at: number, width: number): number {
  return at - (at % width);
}

interface Sums {
  /** In the order of the shape. */
  readonly counts: number[];
  readonly sketches: readonly SketchSum[];
  readonly keyed: Map<string, number>;
}

function noSums(kind: RollupKind): Sums {
  const { counts, sketches } = rollupShapes[kind];
  return { counts: counts.map(() => 0), sketches: sketches.map(sketchSum), keyed: new Map() };
}

/** The places of the counts of a kind. */
function places<Kind extends RollupKind>(kind: Kind): { readonly [name in (typeof rollupShapes)[Kind]['counts'][number]]: number } {
  return Object.fromEntries(rollupShapes[kind].counts.map((name, at) => [name, at])) as ReturnType<typeof places<Kind>>;
}

const [ofRun, ofTool, ofModel, ofEvaluator] = [places('run'), places('tool'), places('model'), places('evaluator')];

function add({ counts }: Sums, at: number, value: number): void {
  counts[at] = (counts[at] ?? 0) + value;
}

/** `other` has extra room. */
function withRoom(known: ReadonlyMap<string, unknown>, key: string, max: number): string {
  return known.has(key) || known.size - Number(known.has(otherRollup)) < max ? key : otherRollup;
}

function addKey({ keyed }: Sums, key: string, count: number): void {
  const own = withRoom(keyed, key, keysMax);
  keyed.set(own, (keyed.get(own) ?? 0) + count);
}

/** The sums of one agent of one tenant. */
interface Agent {
  readonly tenant: string;
  readonly agent: string;
  readonly kinds: { readonly [kind in RollupKind]: Map<string, Sums> };
  /** Runs by marks; only their marks are needed. There are millions of runs, and few such texts. */
  readonly plain: Map<string, number>;
}

interface Agents {
  readonly all: Map<string, Agent>;
  /** By tenant, those that are not `other`. */
  readonly named: Map<string, number>;
}

const noAgents = (): Agents => ({ all: new Map(), named: new Map() });

function agentOf(agents: Agents, tenant: string, agent: string): Agent {
  const known = agents.all.get(JSON.stringify([tenant, agent]));
  if (known !== undefined) return known;
  const named = agents.named.get(tenant) ?? 0;
  if (named >= rollupAgentsMax && agent !== otherRollup) return agentOf(agents, tenant, otherRollup);
  const fresh = { tenant, agent, kinds: { run: new Map(), tool: new Map(), model: new Map(), evaluator: new Map() }, plain: new Map() };
  agents.all.set(JSON.stringify([tenant, agent]), fresh);
  if (agent !== otherRollup) agents.named.set(tenant, named + 1);
  return fresh;
}

function sumsFor({ kinds: own }: Agent, kind: RollupKind, name: string): Sums {
  const byName = own[kind];
  const key = withRoom(byName, storable(name), namesMax);
  const known = byName.get(key);
  if (known !== undefined) return known;
  const fresh = noSums(kind);
  byName.set(key, fresh);
  return fresh;
}

/** A text as PostgreSQL keeps it. JSON within a row holds names unchanged, and two of them may become one key. */
function storable(name: string): string {
  return name.replaceAll('\0', '\uFFFD').toWellFormed();
}

// Adds runs.

const columns =
  'tenant, agent, started_us, ended_us, input_tokens, output_tokens, cost_usd, status, marks, figures, tools, models, failures, session_id';

export interface Times {
  readonly from: number;
  readonly to: number;
}

async function agentsOfRuns(on: Statements, { from, to }: Times, known: ReadonlyMap<string, KnownMark>): Promise<Iterable<Agent>> {
  const agents = noAgents();
  const pairs = sessionPairs(on, from, known);
  const runs = on.lists(`select ${columns} from runs where started_us >= ? and started_us < ? and part_of is null`, [from, to]);
  for await (const rows of runs) for (const row of rows) await addRun(agents, row, { known, pairs });
  for (const agent of agents.all.values())
    for (const [marks, runs] of agent.plain) addVerdicts(agent, { marks, figures: null }, { runs, known });
  return agents.all.values();
}

/** A promise where earlier runs of the session are looked up. */
function addRun(
  agents: Agents,
  row: readonly unknown[],
  { known, pairs }: { readonly known: ReadonlyMap<string, KnownMark>; readonly pairs: SessionPairs },
): Promise<void> | undefined {
  const [tenant, name, started, ended, input, output, cost, status, marks, figures, tools, models, failures, session] = row;
  const agent = agentOf(agents, textOf(tenant), textOf(name));
  const run = sumsFor(agent, 'run', '');
  const [took, tokens, costs] = run.sketches;
  add(run, ofRun.runs, 1);
  if (status === 'error') add(run, ofRun.errors, 1);
  if (status === 'paused') add(run, ofRun.paused, 1);
  const micros = Number(ended) - Number(started);
  if (micros >= 0) {
    add(run, ofRun.timed, 1);
    add(run, ofRun.took, micros);
    if (took !== undefined) addValue(took, micros);
  }
  if (typeof input === 'number') add(run, ofRun.inputTokens, input);
  if (typeof output === 'number') add(run, ofRun.outputTokens, output);
  if (typeof input === 'number' || typeof output === 'number') {
    add(run, ofRun.tokened, 1);
    if (tokens !== undefined) addValue(tokens, numberOf(input) + numberOf(output));
  }
  if (typeof cost === 'number') {
    add(run, ofRun.cost, cost);
    add(run, ofRun.costed, 1);
    if (costs !== undefined) addValue(costs, cost);
  }
  if (typeof tools === 'string') for (const tool of JSON.parse(tools) as readonly ToolCounts[]) addTool(agent, run, tool);
  if (typeof models === 'string') for (const model of JSON.parse(models) as readonly ModelColumns[]) addModel(agent, model);
  if (typeof failures === 'string')
    for (const [tool, path, keyword, calls] of JSON.parse(failures) as readonly ArgumentFailure[])
      addKey(sumsFor(agent, 'tool', tool), JSON.stringify([path, keyword]), calls);
  const text = String(marks);
  const isInSession = typeof session === 'string' && session !== '';
  const looked = isInSession
    ? pairs(
        { tenant: textOf(tenant), agent: textOf(name), session, marks: text, figures: figures as Uint8Array | null },
        (evaluator, earlier) => {
          if (evaluator !== runsOfSession) add(sumsFor(agent, 'evaluator', evaluator), ofEvaluator.pairs, 2 * earlier);
        },
      )
    : undefined;
  if (figures === null) agent.plain.set(text, (agent.plain.get(text) ?? 0) + 1);
  else addVerdicts(agent, { marks: text, figures: figures as Uint8Array }, { runs: 1, known });
  return looked;
}

function addTool(agent: Agent, run: Sums, [name, calls, errors, notExecuted, timed, took, sketch]: ToolCounts): void {
  add(run, ofRun.toolCalls, calls);
  add(run, ofRun.toolErrors, errors);
  const tool = sumsFor(agent, 'tool', name);
  add(tool, ofTool.runs, 1);
  add(tool, ofTool.calls, calls);
  add(tool, ofTool.errors, errors);
  add(tool, ofTool.notExecuted, notExecuted);
  add(tool, ofTool.timed, timed);
  add(tool, ofTool.took, took);
  const [times] = tool.sketches;
  if (times === undefined) return;
  if (sketch !== undefined) addEncoded(times, sketch);
  else if (timed === 1) addValue(times, took);
}

function addModel(agent: Agent, [name, calls, errors, input, output, cost, sketch]: ModelColumns): void {
  const model = sumsFor(agent, 'model', name);
  const [times, tokens, costs] = model.sketches;
  add(model, ofModel.runs, 1);
  add(model, ofModel.calls, calls);
  add(model, ofModel.errors, errors);
  if (times !== undefined) addEncoded(times, sketch);
  if (input !== null) add(model, ofModel.inputTokens, input);
  if (output !== null) add(model, ofModel.outputTokens, output);
  if (input !== null || output !== null) {
    add(model, ofModel.tokened, 1);
    if (tokens !== undefined) addValue(tokens, (input ?? 0) + (output ?? 0));
  }
  if (cost === null) return;
  add(model, ofModel.cost, cost);
  add(model, ofModel.costed, 1);
  if (costs !== undefined) addValue(costs, cost);
}

/** Adds what the marks mean, as often as there are runs with them. */
function addVerdicts(
  agent: Agent,
  said: { readonly marks: string; readonly figures: Uint8Array | null },
  { runs, known }: { readonly runs: number; readonly known: ReadonlyMap<string, KnownMark> },
): void {
  let isFailed = false;
  eachMark(said, known, (mark, score, sampleProbability, _probability, raisedBy, upstream = 1) => {
    if (mark.word === null) return;
    const evaluator = sumsFor(agent, 'evaluator', mark.name);
    add(evaluator, ofEvaluator[mark.word], runs);
    if (score !== undefined) {
      add(evaluator, ofEvaluator.scored, runs);
      add(evaluator, ofEvaluator.score, runs * score);
      addKey(evaluator, String(scoreBin(score)), runs);
      if (mark.word === 'pass' || mark.word === 'fail' || mark.word === 'raw') add(evaluator, ofEvaluator.worded, runs);
      if (mark.word === 'pass') add(evaluator, ofEvaluator.passedScore, runs * score);
      if (mark.word === 'fail') add(evaluator, ofEvaluator.failedScore, runs * score);
    }
    if (mark.word === 'fail') isFailed = true;
    const weight = 1 / (sampleProbability ?? 1);
    if ((mark.word !== 'pass' && mark.word !== 'fail') || !(weight >= 1 && weight < Infinity)) return;
    add(evaluator, ofEvaluator.weight, runs * weight);
    add(evaluator, ofEvaluator.weightSquares, runs * weight * weight);
    if (raisedBy !== undefined) add(evaluator, ofEvaluator.raised, runs);
    add(evaluator, raisedBy === undefined ? ofEvaluator.usualRuns : ofEvaluator.raisedRuns, runs * weight * upstream);
    if (mark.word === 'fail') return;
    add(evaluator, ofEvaluator.passedWeight, runs * weight);
    add(evaluator, ofEvaluator.passedSquares, runs * weight * weight);
  });
  if (isFailed) add(sumsFor(agent, 'run', ''), ofRun.failed, runs);
}

function scoreBin(score: number): number {
  const bin = scoreEdges.findIndex((edge) => score <= edge);
  return bin < 0 ? scoreEdges.length - 1 : bin;
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

// Steps, hours and days.

interface RollUpOptions {
  readonly now: number;
  readonly keepFrom: number;
}

/** Sums one step of five minutes again, or notes its hour when the hour has no steps any more. */
export async function rollUpStep(
  on: Statements,
  at: number,
  { now, marks }: { readonly now: number; readonly marks: ReadonlyMap<string, KnownMark> },
): Promise<void> {
  const hour = startOf(at, hourMicros);
  if (hour < startOf(now - fineRollupMicros, hourMicros)) return await noteHour(on, hour);
  await write(on, { width: fineMicros, at }, await agentsOfRuns(on, { from: at, to: at + fineMicros }, marks));
  await join(on, { from: fineMicros, to: hourMicros, at: hour });
  await joinDay(on, hour);
}

async function noteHour(on: Statements, hour: number): Promise<void> {
  await on.run('insert into rollup_changes (at_us) values (?) on conflict (at_us) do nothing', [hour]);
}

/** One step of what is left when all changed times are summed. `true`: there may be more. */
export async function rollUpRest(
  on: Statements,
  { now, keepFrom }: RollUpOptions,
  { marks, isGone }: { readonly marks: () => Promise<ReadonlyMap<string, KnownMark>>; readonly isGone: (hour: number) => Promise<boolean> },
): Promise<boolean> {
  const hour = (await on.first('select max(at_us) as at from rollup_changes'))?.['at'];
  if (typeof hour === 'number') {
    await on.run('delete from rollup_changes where at_us = ?', [hour]);
    // Some of its runs are gone, so its sums stay unchanged.
    if (await isGone(hour)) return true;
    await on.run('delete from rollups where width_us = ? and at_us >= ? and at_us < ?', [fineMicros, hour, hour + hourMicros]);
    await write(on, { width: hourMicros, at: hour }, await agentsOfRuns(on, { from: hour, to: hour + hourMicros }, await marks()));
    await joinDay(on, hour);
    return true;
  }
  const until = await daysUntil(on);
  const today = startOf(now, dayMicros);
  const next = (await on.first('select min(at_us) as at from rollups where width_us = ? and at_us >= ?', [hourMicros, until]))?.['at'];
  if (typeof next === 'number' && startOf(next, dayMicros) < today) {
    const day = startOf(next, dayMicros);
    await join(on, { from: hourMicros, to: dayMicros, at: day });
    await on.run('update rollup_days set until_us = ?', [day + dayMicros]);
    return true;
  }
  if (until < today) await on.run('update rollup_days set until_us = ?', [today]);
  await drop(on, fineMicros, startOf(now - fineRollupMicros, hourMicros));
  const hours = startOf(Math.min(keepFrom, today), hourMicros);
  await drop(on, hourMicros, hours);
  await sumsStay(on, hours);
  await drop(on, dayMicros, Math.min(keepFrom, now - daysKeptMicros));
  return false;
}

export async function isRollupLeft(on: Statements): Promise<boolean> {
  return (await on.first('select 1 from rollup_changes limit 1')) !== undefined;
}

/** Changes of runs before this hour are not summed any more. */
export async function sumsStay(on: Statements, before: number): Promise<void> {
  await on.run('update version_pruned set until_us = ? where until_us < ?', [before - 1, before - 1]);
}

async function drop(on: Statements, width: number, before: number): Promise<void> {
  await on.run('delete from rollups where width_us = ? and at_us < ?', [width, before]);
}

/** Start of the first day (UTC) without a sum. */
export async function daysUntil(on: Statements): Promise<number> {
  return Number((await on.first('select until_us as until from rollup_days'))?.['until'] ?? 0);
}

/** A day that is made already follows its hours. */
async function joinDay(on: Statements, hour: number): Promise<void> {
  if (hour < (await daysUntil(on))) await join(on, { from: hourMicros, to: dayMicros, at: startOf(hour, dayMicros) });
}

/** Makes one wider step of the narrower ones. */
async function join(on: Statements, { from, to, at }: { readonly from: number; readonly to: number; readonly at: number }): Promise<void> {
  const agents = noAgents();
  const pages = on.lists('select kind, tenant, agent, name, body from rollups where width_us = ? and at_us >= ? and at_us < ?', [
    from,
    at,
    at + to,
  ]);
  for await (const rows of pages)
    for (const row of rows as readonly (readonly string[])[]) {
      const [kind = '', tenant = '', agent = '', name = '', body = ''] = row;
      addBody(sumsFor(agentOf(agents, tenant, agent), kind as RollupKind, name), body);
    }
  await write(on, { width: to, at }, agents.all.values());
}

type Body = readonly [counts: readonly number[], sketches: readonly EncodedSketch[], keyed: readonly (readonly [string, number])[]];

function addBody(sums: Sums, body: string): void {
  const [counts, sketches, keyed] = JSON.parse(body) as Body;
  for (const [at, count] of counts.entries()) add(sums, at, count);
  for (const [at, sketch] of sums.sketches.entries()) addEncoded(sketch, sketches[at] ?? []);
  for (const [key, count] of keyed) addKey(sums, key, count);
}

function bodyOf({ counts, sketches, keyed }: Sums): string {
  return JSON.stringify([counts, sketches.map(encodedSketch), [...keyed]] satisfies Body);
}

async function write(
  on: Statements,
  { width, at }: { readonly width: number; readonly at: number },
  agents: Iterable<Agent>,
): Promise<void> {
  await on.run('delete from rollups where width_us = ? and at_us = ?', [width, at]);
  const insert = 'insert into rollups (kind, width_us, at_us, tenant, agent, name, body) values (?, ?, ?, ?, ?, ?, ?)';
  for (const { tenant, agent, kinds: own } of agents)
    for (const kind of kinds)
      for (const [name, sums] of own[kind]) await on.run(insert, [kind, width, at, tenant, agent, name, bodyOf(sums)]);
}

// Answers.

interface Piece extends Times {
  readonly width: number;
}

/** The widest steps that cover the time. Only hours of late have steps of five minutes, and only ended days are made. */
function piecesOf({ from, to, now, stepMicros = dayMicros }: RollupQuery, madeDays: number): readonly Piece[] {
  const fineFrom = startOf(now - fineRollupMicros, hourMicros);
  const edge = (at: number): number => (at >= fineFrom ? fineMicros : hourMicros);
  const up = (at: number, width: number): number => startOf(at + width - 1, width);
  const begin = startOf(from, edge(from));
  const end = Math.max(begin, up(to, edge(to)));
  const inner = (whole: Times, width: number, until: number): Times => {
    const start = Math.min(up(whole.from, width), whole.to);
    return { from: start, to: Math.max(start, Math.min(startOf(whole.to, width), until)) };
  };
  const whole = { from: begin, to: end };
  if (stepMicros < hourMicros) return finePieces(whole, fineFrom);
  const hours = inner(whole, hourMicros, Infinity);
  const days = stepMicros >= dayMicros ? inner(hours, dayMicros, madeDays) : { from: hours.to, to: hours.to };
  const pieces: readonly Piece[] = [
    { width: fineMicros, from: begin, to: hours.from },
    { width: hourMicros, from: hours.from, to: days.from },
    { width: dayMicros, ...days },
    { width: hourMicros, from: days.to, to: hours.to },
    { width: fineMicros, from: hours.to, to: end },
  ];
  return pieces.filter((piece) => piece.to > piece.from);
}

/** Steps of five minutes where there are any, and hours before. */
function finePieces({ from, to }: Times, fineFrom: number): readonly Piece[] {
  const middle = Math.min(to, Math.max(from, fineFrom));
  return [
    { width: hourMicros, from, to: middle },
    { width: fineMicros, from: middle, to },
  ].filter((piece) => piece.to > piece.from);
}

export async function rollups<Kind extends RollupKind>(on: Statements, kind: Kind, query: RollupQuery): Promise<Rollups<Kind>> {
  const { agent, tenant, name, byAgent = false, byName = false, stepMicros } = query;
  const pieces = piecesOf(query, await daysUntil(on));
  const conditions = [
    ['agent = ?', agent],
    ['tenant = ?', tenant],
    ['name = ?', name],
  ].filter((one): one is [string, string] => one[1] !== undefined);
  const text = `select tenant, agent, name, at_us, body from rollups where ${['kind = ?', 'width_us = ?', 'at_us >= ?', 'at_us < ?', ...conditions.map(([sql]) => sql)].join(' and ')}`;
  interface Group {
    readonly agent: string;
    readonly name: string;
    readonly at: number;
    readonly sums: Sums;
  }
  /** `ofTenantMax`: groups that one tenant begins. */
  const grouped = async (
    ofTenantMax: number,
  ): Promise<{ readonly groups: Map<string, Group>; readonly begun: ReadonlyMap<string, number> }> => {
    const groups = new Map<string, Group>();
    const begun = new Map<string, number>();
    for (const { width, from, to } of pieces)
      for await (const rows of on.lists(text, [kind, width, from, to, ...conditions.map(([, value]) => value)]))
        for (const row of rows) {
          const [ofTenant, ofAgent, ofName, at, body] = row;
          const wanted = {
            agent: byAgent ? textOf(ofAgent) : '',
            name: byName ? textOf(ofName) : '',
            at: stepMicros === undefined ? 0 : startOf(Number(at), stepMicros),
          };
          const key = JSON.stringify(Object.values(wanted));
          const own = begun.get(textOf(ofTenant)) ?? 0;
          const isNew = !groups.has(key);
          const hasRoom = !isNew || (groups.size < rowsMax && own < ofTenantMax);
          const place = hasRoom ? wanted : { agent: otherRollup, name: otherRollup, at: 0 };
          if (isNew) begun.set(textOf(ofTenant), own + Number(hasRoom));
          const group = groups.get(hasRoom ? key : otherRollup) ?? { ...place, sums: noSums(kind) };
          groups.set(hasRoom ? key : otherRollup, group);
          addBody(group.sums, textOf(body));
        }
    return { groups, begun };
  };
  const first = await grouped(rowsMax);
  const isCrowded = first.groups.has(otherRollup) && first.begun.size > 1;
  const { groups } = isCrowded ? await grouped(Math.floor(rowsMax / first.begun.size)) : first;
  return {
    rows: [...groups.values()]
      .toSorted((one, other) => byText(one.agent, other.agent) || byText(one.name, other.name) || one.at - other.at)
      .map(({ sums, ...place }) => ({ ...place, ...rowOf(kind, sums) })),
    from: pieces[0]?.from ?? startOf(query.from, hourMicros),
    to: pieces.at(-1)?.to ?? startOf(query.to, hourMicros),
  };
}

function countsOf<Kind extends RollupKind>(kind: Kind, counts: readonly number[]): RollupRow<Kind>['counts'] {
  return Object.fromEntries(rollupShapes[kind].counts.map((name, at) => [name, counts[at] ?? 0])) as RollupRow<Kind>['counts'];
}

/** The counts of a row of `rollups`. */
export function countsOfBody<Kind extends RollupKind>(kind: Kind, body: string): RollupRow<Kind>['counts'] {
  const [counts] = JSON.parse(body) as Body;
  return countsOf(kind, counts);
}

function rowOf<Kind extends RollupKind>(
  kind: Kind,
  { counts, sketches, keyed }: Sums,
): Pick<RollupRow<Kind>, 'counts' | 'sketches' | 'keyed'> {
  const { sketches: sketchNames } = rollupShapes[kind];
  return {
    counts: countsOf(kind, counts),
    sketches: Object.fromEntries(
      sketchNames.map((name, at) => [name, sketchOfSum(sketches[at] ?? sketchSum())]),
    ) as unknown as RollupRow<Kind>['sketches'],
    keyed: [...keyed].sort(([one, ones], [other, others]) => others - ones || byText(one, other)),
  };
}

function byText(one: string, other: string): number {
  return one < other ? -1 : one === other ? 0 : 1;
}
