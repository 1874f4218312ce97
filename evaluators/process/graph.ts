/** A process model as a graph of what normally follows what. A node is a tool; a run is a path from the start to the end. */
import type { ProcessModel } from '../../src/model/process-model.ts';

export interface ProcessGraph {
  /** Node of each tool, from 1; 0 is the start. */
  readonly nodes: ReadonlyMap<string, number>;
  /** By node; the start has no name. */
  readonly names: readonly string[];
  /** By node: the tools that normally follow it, as nodes in ascending order, without the end. */
  readonly successors: readonly (readonly number[])[];
  /** By node: whether the run normally may end after it. */
  readonly mayEnd: readonly boolean[];
  /** By node: the model has seen it too seldom to call any successor unusual. */
  readonly isOpen: readonly boolean[];
  /** By node: those of `successors` that were seen. */
  readonly seen: readonly (readonly number[])[];
  /**
   * For each node of a tool, the node that replaces it where the run lacks its call. For an open tool it is a separate node, which only seen steps
   * leave: otherwise a call that never happened would allow everything after it.
   */
  readonly absent: readonly number[];
  /** Calls of the shortest normal run. */
  readonly shortest: number;
}

export interface GraphOptions {
  /** Added to the runs with a transition and to those without it; 1/2 is Jeffreys' prior. */
  readonly smoothing: number;
  /** A transition with a smoothed share below it is not part of the normal process. */
  readonly rare: number;
}

/**
 * A transition belongs to the graph when its smoothed share, (runs with it + s) / (runs with the tool + 2 s), is at least `rare`. So a
 * tool that few runs call may be followed by anything, and what one run in a thousand does is not normal. When nothing leads to the end
 * this way, all seen transitions belong to it. `undefined`: even these lead nowhere, as the model has no room for all.
 */
export function processGraph(model: ProcessModel, { smoothing, rare }: GraphOptions): ProcessGraph | undefined {
  const names = ['', ...model.tools.map(({ name }) => name)];
  const runs = [model.runs, ...model.tools.map((tool) => tool.runs)];
  const share = (seen: number, of: number): number => (seen + smoothing) / (of + 2 * smoothing);
  const isOpen = runs.map((of) => rare > 0 && smoothing > 0 && share(0, of) >= rare);
  const usual = graphOf(model, names, isOpen, (seen, node) => share(seen, runs[node] ?? 0) >= rare);
  return usual ?? graphOf(model, names, isOpen, () => true);
}

function graphOf(
  model: ProcessModel,
  tools: readonly string[],
  isOpenTool: readonly boolean[],
  isUsual: (seen: number, node: number) => boolean,
): ProcessGraph | undefined {
  const nodes = new Map(tools.map((name, node) => [name, node] as const).slice(1));
  const own = tools.map(() => new Set<number>());
  const endsSeen = tools.map(() => false);
  for (const { from, to, runs } of model.transitions) {
    const [before, after] = [from === null ? 0 : nodes.get(from), to === null ? 0 : nodes.get(to)];
    if (before === undefined || after === undefined || !isUsual(runs, before)) continue;
    if (to === null) endsSeen[before] = true;
    else own[before]?.add(after);
  }
  const sorted = own.map((set) => [...set].sort((one, other) => one - other));
  const all = tools.map((_, node) => node).slice(1);
  // The nodes of open tools that the run lacks stand behind all others.
  const open = all.filter((node) => isOpenTool[node] === true);
  const absent = tools.map((_, node) => (open.includes(node) ? tools.length + open.indexOf(node) : node));
  const ofAbsent = <Value>(values: readonly Value[]): readonly Value[] => open.flatMap((node) => values.slice(node, node + 1));
  const successors = [...sorted.map((list, node) => (isOpenTool[node] === true ? all : list)), ...ofAbsent(sorted)];
  const mayEnd = [...endsSeen.map((ends, node) => ends || isOpenTool[node] === true), ...ofAbsent(endsSeen)];
  const shortest = shortestRun(sorted, endsSeen);
  if (shortest === undefined) return undefined;
  return {
    nodes,
    names: [...tools, ...ofAbsent(tools)],
    successors,
    mayEnd,
    isOpen: [...isOpenTool, ...open.map(() => false)],
    seen: [...sorted, ...ofAbsent(sorted)],
    absent,
    shortest,
  };
}

/** Breadth first from the start. */
function shortestRun(successors: readonly (readonly number[])[], mayEnd: readonly boolean[]): number | undefined {
  const seen = new Set([0]);
  let frontier = [0];
  for (let calls = 0; frontier.length > 0; calls++) {
    if (frontier.some((node) => mayEnd[node] === true)) return calls;
    const next = frontier.flatMap((node) => successors[node] ?? []).filter((node) => !seen.has(node));
    frontier = [...new Set(next)];
    for (const node of frontier) seen.add(node);
  }
  return undefined;
}
