/** Learns process models: they add up, within the limits of a model, and half of one is a window that slides. */
import { compareText } from '../../evaluators/process/trajectory.ts';
import { observedRun, type ObservationOptions } from '../../evaluators/process/observation.ts';
import type { AgentTrace } from '../model/agent-trace.ts';
import { emptyProcess, processLimits, type ArgumentType, type ProcessModel, type ProcessTool } from '../model/process-model.ts';
import type { QuantileSketch } from '../model/quantile-sketch.ts';
import { halvedSketch, mergedSketch, sketchOf } from '../statistics/quantile-sketch.ts';

/** Adds runs and models up. */
export interface ProcessLearner {
  runs(): number;
  add(model: ProcessModel): void;
  /** The sum so far; the same sum gives the same data, in any order of additions. */
  model(): ProcessModel;
}

export function processLearner(start: ProcessModel = emptyProcess): ProcessLearner {
  const counts = emptyCounts();
  addModel(counts, start);
  return { runs: () => counts.runs, add: (model) => addModel(counts, model), model: () => modelOf(counts) };
}

export function mergedProcess(...models: readonly ProcessModel[]): ProcessModel {
  const learner = processLearner();
  for (const model of models) learner.add(model);
  return learner.model();
}

/** The model after one more run; the same one when the run calls more tools than a model holds. */
export function learnt(model: ProcessModel, trace: AgentTrace, options: Pick<ObservationOptions, 'mayKeep'> = {}): ProcessModel {
  const observed = observedProcess(trace, options);
  return observed === undefined ? model : mergedProcess(model, observed);
}

/** `undefined` when the run calls more tools than a model holds. */
export function observedProcess(trace: AgentTrace, options: Pick<ObservationOptions, 'mayKeep'> = {}): ProcessModel | undefined {
  return observedRun(trace, { ...options, sketch: sketchOf });
}

/** All counts halved; what was seen once is forgotten. */
export function halvedProcess(model: ProcessModel): ProcessModel {
  const half = (count: number): number => Math.floor(count / 2);
  return {
    runs: half(model.runs),
    tools: model.tools
      .map((tool) => ({ ...tool, runs: half(tool.runs), calls: half(tool.calls), shaped: half(tool.shaped), paths: halvedPaths(tool) }))
      .filter(({ runs }) => runs > 0),
    transitions: model.transitions
      .map((one) => ({ ...one, runs: half(one.runs), times: half(one.times) }))
      .filter(({ runs, from, to }) => runs > 0 && isKept(model, from) && isKept(model, to)),
    orders: model.orders.map((one) => ({ ...one, runs: half(one.runs) })).filter(({ runs }) => runs > 0),
    calls: halvedSketch(model.calls),
    duration: halvedSketch(model.duration),
    tokens: halvedSketch(model.tokens),
    beyond: { tools: half(model.beyond.tools), transitions: half(model.beyond.transitions), orders: half(model.beyond.orders) },
  };
}

function isKept({ tools }: ProcessModel, name: string | null): boolean {
  return name === null || tools.some((tool) => tool.name === name && tool.runs > 1);
}

/** A path that every call had stays one that every call has. */
function halvedPaths({ paths, shaped }: ProcessTool): ProcessTool['paths'] {
  return paths
    .map(({ path, calls, types }) => ({
      path,
      calls: calls === shaped ? Math.floor(shaped / 2) : Math.floor(calls / 2),
      types: Object.fromEntries(
        Object.entries(types)
          .map(([type, count]) => [type, Math.floor(count / 2)] as const)
          .filter(([, count]) => count > 0),
      ),
    }))
    .filter(({ calls }) => calls > 0);
}

interface PathCounts {
  calls: number;
  readonly types: Map<ArgumentType, number>;
}

interface ToolCounts {
  runs: number;
  calls: number;
  most: number;
  shaped: number;
  beyond: number;
  readonly paths: Map<string, PathCounts>;
}

interface StepCounts {
  runs: number;
  times: number;
}

/** Pairs by the names of both. */
type Pairs<Key, Value> = Map<Key, Map<Key, Value>>;

interface Counts {
  runs: number;
  /** Paths of all tools. */
  paths: number;
  readonly tools: Map<string, ToolCounts>;
  readonly transitions: Pairs<string | null, StepCounts>;
  transitionPairs: number;
  readonly orders: Pairs<string, { runs: number }>;
  orderPairs: number;
  readonly beyond: { tools: number; transitions: number; orders: number };
  calls: QuantileSketch;
  duration: QuantileSketch;
  tokens: QuantileSketch;
}

function emptyCounts(): Counts {
  return {
    runs: 0,
    paths: 0,
    tools: new Map(),
    transitions: new Map(),
    transitionPairs: 0,
    orders: new Map(),
    orderPairs: 0,
    beyond: { ...emptyProcess.beyond },
    calls: emptyProcess.calls,
    duration: emptyProcess.duration,
    tokens: emptyProcess.tokens,
  };
}

function addModel(counts: Counts, model: ProcessModel): void {
  counts.runs += model.runs;
  for (const tool of model.tools) addTool(counts, tool);
  for (const { from, to, runs, times } of model.transitions) {
    const isKnown = (from === null || counts.tools.has(from)) && (to === null || counts.tools.has(to));
    const room = isKnown && counts.transitionPairs < processLimits.transitions;
    const found = pairIn(counts.transitions, from, to, room, () => ({ runs: 0, times: 0 }));
    if (found.made) counts.transitionPairs++;
    if (found.value === undefined) counts.beyond.transitions += runs;
    else [found.value.runs, found.value.times] = [found.value.runs + runs, found.value.times + times];
  }
  for (const { first, then, runs } of model.orders) {
    const room = counts.tools.has(first) && counts.tools.has(then) && counts.orderPairs < processLimits.orders;
    const found = pairIn(counts.orders, first, then, room, () => ({ runs: 0 }));
    if (found.made) counts.orderPairs++;
    if (found.value === undefined) counts.beyond.orders += runs;
    else found.value.runs += runs;
  }
  for (const key of ['tools', 'transitions', 'orders'] as const) counts.beyond[key] += model.beyond[key];
  for (const key of ['calls', 'duration', 'tokens'] as const) counts[key] = mergedSketch(counts[key], model[key]);
}

function pairIn<Key, Value>(
  pairs: Pairs<Key, Value>,
  one: Key,
  other: Key,
  hasRoom: boolean,
  make: () => Value,
): { readonly value: Value | undefined; readonly made: boolean } {
  const row = pairs.get(one);
  const known = row?.get(other);
  if (known !== undefined || !hasRoom) return { value: known, made: false };
  const value = make();
  if (row === undefined) pairs.set(one, new Map([[other, value]]));
  else row.set(other, value);
  return { value, made: true };
}

function addTool(counts: Counts, tool: ProcessTool): void {
  const known = counts.tools.get(tool.name) ?? { runs: 0, calls: 0, most: 0, shaped: 0, beyond: 0, paths: new Map<string, PathCounts>() };
  if (!counts.tools.has(tool.name)) {
    if (counts.tools.size >= processLimits.tools) {
      counts.beyond.tools += tool.runs;
      return;
    }
    counts.tools.set(tool.name, known);
  }
  known.runs += tool.runs;
  known.calls += tool.calls;
  known.most = Math.max(known.most, tool.most);
  known.shaped += tool.shaped;
  known.beyond += tool.beyond;
  for (const { path, calls, types } of tool.paths) {
    const own = known.paths.get(path) ?? { calls: 0, types: new Map<ArgumentType, number>() };
    if (!known.paths.has(path)) {
      if (counts.paths >= processLimits.paths) {
        known.beyond += calls;
        continue;
      }
      counts.paths++;
      known.paths.set(path, own);
    }
    own.calls += calls;
    for (const [type, count] of Object.entries(types) as readonly [ArgumentType, number][])
      own.types.set(type, (own.types.get(type) ?? 0) + count);
  }
}

function modelOf(counts: Counts): ProcessModel {
  return {
    runs: counts.runs,
    tools: [...counts.tools].sort(byName).map(([name, { paths, ...tool }]) => ({
      name,
      ...tool,
      paths: [...paths]
        .sort(byName)
        .map(([path, { calls, types }]) => ({ path, calls, types: Object.fromEntries([...types].sort(byName)) })),
    })),
    transitions: [...counts.transitions]
      .sort(byName)
      .flatMap(([from, row]) => [...row].sort(byName).map(([to, found]) => ({ from, to, ...found }))),
    orders: [...counts.orders]
      .sort(byName)
      .flatMap(([first, row]) => [...row].sort(byName).map(([then, { runs }]) => ({ first, then, runs }))),
    calls: counts.calls,
    duration: counts.duration,
    tokens: counts.tokens,
    beyond: { ...counts.beyond },
  };
}

/** The start and the end come first. */
function byName([one]: readonly [string | null, unknown], [other]: readonly [string | null, unknown]): number {
  if (one === null || other === null) return one === other ? 0 : one === null ? -1 : 1;
  return compareText(one, other);
}
