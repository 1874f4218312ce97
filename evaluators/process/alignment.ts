/**
 * The optimal alignment of a run with the graph of the normal process: the fewest calls that must be left out or put in so that the rest is a normal
 * run. Adriansyah, van Dongen and van der Aalst, “Conformance checking using cost-based fitness analysis” (EDOC 2011); Carmona, van Dongen, Solti and
 * Weidlich, “Conformance Checking” (2018). The search is exact: the shortest path through the product of the run and the graph. Calls within a block
 * have no order, so a block represents all sets of its calls that may already be done.
 */
import type { PlacedCall } from '../evidence/calls.ts';
import type { ProcessGraph } from './graph.ts';
import type { Block } from './trajectory.ts';

/** normal: run and graph agree on the call. extra: only the run has it. missing: only the graph has it. */
export type Move =
  | { readonly kind: 'normal'; readonly placed: PlacedCall }
  | { readonly kind: 'extra'; readonly placed: PlacedCall }
  | { readonly kind: 'missing'; readonly tool: string };

export interface Alignment {
  /** Number of moves that are not normal. */
  readonly cost: number;
  /** In the order of the run. */
  readonly moves: readonly Move[];
}

/** States of the product. Each takes nine bytes while the search runs. */
const statesMax = 1_000_000;
/** Positions of one run: a block of fourteen different tools by itself has about as many. */
const positionsMax = 20_000;
/** Looks at an edge or a call, some tens of milliseconds. */
const stepsMax = 10_000_000;

/** Sets of calls of one block that may be done, as numbers in mixed radix: one digit a tool. */
interface Position {
  /** The next calls: the step that adds the call to the set, its node in the graph, and the call. */
  readonly next: readonly { readonly by: number; readonly node: number | undefined; readonly placed: PlacedCall }[];
}

/** `undefined` when the search would take more than one run may. */
export function alignment(blocks: readonly Block[], graph: ProcessGraph): Alignment | undefined {
  const width = graph.names.length;
  const positions = positionsOf(blocks, graph, Math.min(positionsMax, Math.floor(statesMax / width)));
  if (positions === undefined) return undefined;
  const edges = graph.successors.reduce((sum, { length }) => sum + length, 0);
  const branches = positions.reduce((sum, { next }) => sum + next.length, 0);
  if (positions.length * (edges + width) + branches * width > stepsMax) return undefined;
  return searched(positions, graph);
}

function positionsOf(blocks: readonly Block[], { nodes }: ProcessGraph, most: number): readonly Position[] | undefined {
  const positions: Position[] = [];
  for (const block of blocks) {
    const tools = [...Map.groupBy(block, ({ call }) => call.name)].map(([name, calls]) => ({ node: nodes.get(name), calls }));
    const sets = tools.reduce((product, { calls }) => product * (calls.length + 1), 1);
    if (positions.length + sets > most) return undefined;
    for (let set = 0; set < sets - 1; set++) {
      let [by, left] = [1, set];
      const next: Position['next'][number][] = [];
      for (const { node, calls } of tools) {
        const placed = calls[left % (calls.length + 1)];
        if (placed !== undefined) next.push({ by, node, placed });
        left = Math.floor(left / (calls.length + 1));
        by *= calls.length + 1;
      }
      positions.push({ next });
    }
  }
  positions.push({ next: [] });
  return positions;
}

const farAway = 0x7fffffff;
const nothing = 0;
const missing = 1;
const extra = 2;
const normal = 3;

interface Search {
  readonly width: number;
  /** 1 where the row's node leads to the column's. */
  readonly leads: Uint8Array;
  readonly cost: Int32Array;
  /** The state before, by state. */
  readonly before: Int32Array;
  readonly kind: Uint8Array;
}

/** A state is a position and the node of the last call on which run and graph agree, or that is missing. */
function searched(positions: readonly Position[], graph: ProcessGraph): Alignment {
  const width = graph.names.length;
  const states = positions.length * width;
  const search: Search = {
    width,
    leads: new Uint8Array(width * width),
    cost: new Int32Array(states).fill(farAway),
    before: new Int32Array(states).fill(-1),
    kind: new Uint8Array(states),
  };
  search.cost[0] = 0;
  graph.successors.forEach((own, node) => {
    for (const next of own) search.leads[node * width + next] = 1;
  });
  positions.forEach(({ next }, at) => {
    addMissing(search, graph, at * width);
    for (const { by, node: tool } of next) advance(search, { from: at * width, to: (at + by) * width, tool });
  });
  const last = (positions.length - 1) * width;
  let end = -1;
  for (let node = 0; node < width; node++)
    if (graph.mayEnd[node] === true && costAt(search, last + node) < (end < 0 ? farAway : costAt(search, end))) end = last + node;
  return { cost: costAt(search, end), moves: movesTo(search, end, positions, graph) };
}

function costAt({ cost }: Search, state: number): number {
  return cost[state] ?? farAway;
}

function reach(
  { cost, before, kind }: Search,
  state: number,
  by: { readonly cost: number; readonly from: number; readonly kind: number },
): boolean {
  if (by.cost >= (cost[state] ?? 0)) return false;
  [cost[state], before[state], kind[state]] = [by.cost, by.from, by.kind];
  return true;
}

/** Continues only in the graph, each call for 1: Dijkstra's search from all nodes of the position, which unit costs keep in two queues. */
function addMissing(search: Search, { seen, absent }: ProcessGraph, position: number): void {
  const sources: number[] = [];
  for (let node = 0; node < search.width; node++) if (costAt(search, position + node) < farAway) sources.push(node);
  sources.sort((one, other) => costAt(search, position + one) - costAt(search, position + other));
  const reached: number[] = [];
  let [source, tail] = [0, 0];
  while (source < sources.length || tail < reached.length) {
    const [one, other] = [sources[source], reached[tail]];
    const isReached = one === undefined || (other !== undefined && costAt(search, position + other) < costAt(search, position + one));
    const node = (isReached ? other : one) ?? 0;
    if (isReached) tail++;
    else source++;
    const cost = costAt(search, position + node) + 1;
    for (const tool of seen[node] ?? []) {
      const next = absent[tool] ?? tool;
      if (reach(search, position + next, { cost, from: position + node, kind: missing })) reached.push(next);
    }
  }
}

/** Does one call of the run, as the graph has it or beside the graph. */
function advance(
  search: Search,
  { from, to, tool }: { readonly from: number; readonly to: number; readonly tool: number | undefined },
): void {
  for (let node = 0; node < search.width; node++) {
    const cost = costAt(search, from + node);
    if (cost === farAway) continue;
    if (tool !== undefined && search.leads[node * search.width + tool] === 1)
      reach(search, to + tool, { cost, from: from + node, kind: normal });
    reach(search, to + node, { cost: cost + 1, from: from + node, kind: extra });
  }
}

function movesTo({ width, before, kind }: Search, end: number, positions: readonly Position[], { names }: ProcessGraph): readonly Move[] {
  const moves: Move[] = [];
  for (let state = end; (kind[state] ?? nothing) !== nothing; state = before[state] ?? 0) {
    const from = before[state] ?? 0;
    const [at, tool] = [Math.floor(from / width), state % width];
    const by = Math.floor(state / width) - at;
    const placed = positions[at]?.next.find((next) => next.by === by)?.placed;
    if (placed === undefined) moves.push({ kind: 'missing', tool: names[tool] ?? '' });
    else moves.push({ kind: kind[state] === normal ? 'normal' : 'extra', placed });
  }
  return moves.reverse();
}
