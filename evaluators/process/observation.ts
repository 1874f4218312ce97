/** One run as the process model of itself: models add up, so learning from a run is adding its own. */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import { isJsonObject } from '../../src/model/json.ts';
import { processLimits, type ArgumentPath, type ProcessModel, type ProcessTool, type ToolOrder } from '../../src/model/process-model.ts';
import { emptySketch, type QuantileSketch } from '../../src/model/quantile-sketch.ts';
import type { PlacedCall } from '../evidence/calls.ts';
import { argumentShape } from './argument-shape.ts';
import { blocksOf, firstCalls, hasTooManyTools, orderedSteps, possibleSteps, type Block } from './trajectory.ts';

export interface ObservationOptions {
  /** The sketch of one value. */
  readonly sketch: (value: number) => QuantileSketch;
  /** Returns false when the name must not be kept, as redaction would change it. By default every name may be kept. */
  readonly mayKeep?: (name: string) => boolean;
}

/** `undefined` when the run calls more tools than a model holds. */
export function observedRun(trace: AgentTrace, { sketch, mayKeep = () => true }: ObservationOptions): ProcessModel | undefined {
  if (hasTooManyTools(trace)) return undefined;
  const keeps = (name: string): boolean => name.length <= processLimits.text && mayKeep(name);
  const blocks = blocksOf(trace);
  const calls = Map.groupBy(blocks.flat(), ({ call }) => call.name);
  const kept = [...calls].filter(([name]) => keeps(name));
  const names = new Set(kept.map(([name]) => name));
  const { transitions, beyond } = observedSteps(blocks, names);
  return {
    runs: 1,
    tools: kept.map(([name, own]) => observedTool(name, own, keeps)),
    transitions,
    orders: observedOrders(blocks, names),
    calls: sketch(trace.toolCalls.length),
    duration: durationOf(trace, sketch),
    tokens: trace.tokens === undefined ? emptySketch : sketch((trace.tokens.input ?? 0) + (trace.tokens.output ?? 0)),
    beyond: { tools: calls.size - kept.length, transitions: beyond, orders: 0 },
  };
}

function durationOf({ startUnixNano: start, endUnixNano: end }: AgentTrace, sketch: ObservationOptions['sketch']): QuantileSketch {
  return start === undefined || end === undefined ? emptySketch : sketch(Number(end - start) / 1e6);
}

function observedTool(name: string, calls: readonly PlacedCall[], keeps: (name: string) => boolean): ProcessTool {
  const paths = new Map<string, { calls: number; types: Record<string, number> }>();
  let [shaped, beyond] = [0, 0];
  for (const { call } of calls) {
    if (!isJsonObject(call.arguments)) continue;
    shaped++;
    const { types, isWhole } = argumentShape(call.arguments);
    if (!isWhole) beyond++;
    for (const [path, own] of types) {
      const known = paths.get(path) ?? { calls: 0, types: {} };
      known.calls++;
      for (const type of own) known.types[type] = (known.types[type] ?? 0) + 1;
      paths.set(path, known);
    }
  }
  const list = [...paths].map(([path, own]): ArgumentPath => ({ path, ...own }));
  const kept = list.filter(({ path }) => keeps(path));
  return { name, runs: 1, calls: calls.length, most: calls.length, shaped, paths: kept, beyond: beyond + list.length - kept.length };
}

interface StepCounts {
  runs: number;
  times: number;
}

function observedSteps(
  blocks: readonly Block[],
  names: ReadonlySet<string>,
): { readonly transitions: ProcessModel['transitions']; readonly beyond: number } {
  const counts = new Map<string | null, Map<string | null, StepCounts>>();
  let beyond = 0;
  const countsOf = (from: PlacedCall | undefined, to: PlacedCall | undefined): StepCounts | undefined => {
    const [before, after] = [from?.call.name ?? null, to?.call.name ?? null];
    if ((before !== null && !names.has(before)) || (after !== null && !names.has(after))) return undefined;
    const own = counts.get(before) ?? new Map<string | null, StepCounts>();
    counts.set(before, own);
    const found = own.get(after) ?? { runs: 1, times: 0 };
    own.set(after, found);
    return found;
  };
  for (const { from, to } of possibleSteps(blocks)) countsOf(from, to);
  for (const { from, to } of orderedSteps(blocks)) {
    const found = countsOf(from, to);
    if (found === undefined) beyond++;
    else found.times++;
  }
  const transitions = [...counts].flatMap(([from, own]) => [...own].map(([to, found]) => ({ from, to, ...found })));
  return { transitions, beyond };
}

/** A tool stands before another one when its first block comes before the last block of the other. */
function observedOrders(blocks: readonly Block[], names: ReadonlySet<string>): readonly ToolOrder[] {
  const places = new Map<string, { readonly first: number; last: number }>();
  blocks.forEach((block, at) => {
    for (const { call } of firstCalls(block)) {
      const known = places.get(call.name);
      if (known !== undefined) known.last = at;
      else if (names.has(call.name)) places.set(call.name, { first: at, last: at });
    }
  });
  const orders: ToolOrder[] = [];
  for (const [first, { first: from }] of places)
    for (const [then, { last }] of places) if (first !== then && from < last) orders.push({ first, then, runs: 1 });
  return orders;
}
