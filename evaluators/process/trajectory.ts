/** The tool calls of a run as blocks in order. Calls within one block have no order. */
import type { AgentTrace } from '../../src/model/agent-trace.ts';
import { processLimits } from '../../src/model/process-model.ts';
import { placedCalls, type PlacedCall } from '../evidence/calls.ts';

export type Block = readonly PlacedCall[];

/** One call may directly follow another; `undefined` is the start or the end of the run. */
interface Step {
  readonly from: PlacedCall | undefined;
  readonly to: PlacedCall | undefined;
}

/**
 * Calls whose times overlap, and calls of one model message, share a block. The relation carries on: when a overlaps b, and b overlaps c,
 * all three share one, so that no order is claimed that the spans do not show.
 */
export function blocksOf(trace: AgentTrace): readonly Block[] {
  const blocks: PlacedCall[][] = [];
  let [end, turns]: [bigint | undefined, Set<number>] = [undefined, new Set()];
  for (const placed of placedCalls(trace)) {
    const { turn, startUnixNano: start, endUnixNano: ended } = placed.call;
    const overlaps = start !== undefined && end !== undefined && start < end;
    const open = blocks.at(-1);
    if (open !== undefined && (overlaps || (turn !== undefined && turns.has(turn)))) open.push(placed);
    else {
      blocks.push([placed]);
      [end, turns] = [undefined, new Set()];
    }
    if (ended !== undefined && (end === undefined || ended > end)) end = ended;
    if (turn !== undefined) turns.add(turn);
  }
  return blocks;
}

/** True when the run calls more different tools than a model holds, so that it is neither learnt nor compared. */
export function hasTooManyTools({ toolCalls }: AgentTrace): boolean {
  const names = new Set<string>();
  for (const { name } of toolCalls) if (names.add(name).size > processLimits.tools) return true;
  return false;
}

/** The first call of each tool in a block. */
export function firstCalls(block: Block): readonly PlacedCall[] {
  const first = new Map<string, PlacedCall>();
  for (const placed of block) if (!first.has(placed.call.name)) first.set(placed.call.name, placed);
  return [...first.values()];
}

/** Each step that some order of the calls takes, once a pair of tools and a place. */
export function* possibleSteps(blocks: readonly Block[]): Generator<Step, void> {
  let before: readonly (PlacedCall | undefined)[] = [undefined];
  for (const block of blocks) {
    const own = firstCalls(block);
    for (const from of before) for (const to of own) yield { from, to };
    for (const from of own) for (const to of own) if (from !== to) yield { from, to };
    if (block.length > own.length) yield* repeatedSteps(block, own);
    before = own;
  }
  for (const from of before) yield { from, to: undefined };
}

function* repeatedSteps(block: Block, own: readonly PlacedCall[]): Generator<Step, void> {
  for (const from of own) {
    const to = block.find((placed) => placed !== from && placed.call.name === from.call.name);
    if (to !== undefined) yield { from, to };
  }
}

/** The steps of one order: that of the names within each block. */
export function* orderedSteps(blocks: readonly Block[]): Generator<Step, void> {
  let from: PlacedCall | undefined;
  for (const block of blocks)
    for (const to of block.toSorted((one, other) => compareText(one.call.name, other.call.name))) {
      yield { from, to };
      from = to;
    }
  yield { from, to: undefined };
}

/** Compares by code units: the same on every machine. */
export function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
