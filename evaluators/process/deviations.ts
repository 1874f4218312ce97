/** The deviations of a run from the normal process in words, with the runs in which each was seen. */
import type { JsonObject } from '../../src/model/json.ts';
import type { ProcessModel } from '../../src/model/process-model.ts';
import { callDetails, type PlacedCall } from '../evidence/calls.ts';
import { quoted, toolName } from '../explain/explanation.ts';
import type { Move } from './alignment.ts';
import { seenRuns, type SeenRuns } from './seen.ts';

export interface Deviation {
  readonly inWords: string;
  /** The calls that show it: the one that deviates, the two in the wrong order, or the one beside which a call is missing. */
  readonly calls: readonly PlacedCall[];
  readonly details: JsonObject;
}

/** A call that one move leaves out and another puts in again is one deviation: the call has another place. */
export function deviationsOf(moves: readonly Move[], model: ProcessModel): readonly Deviation[] {
  const seen = seenRuns(model);
  const found: Deviation[] = [];
  const paired = new Set<number>();
  moves.forEach((move, at) => {
    if (move.kind === 'normal' || paired.has(at)) return;
    const other = moves.findIndex((one, index) => index > at && !paired.has(index) && isCounterpart(move, one));
    if (other < 0) found.push(move.kind === 'missing' ? missingCall(move.tool, at, moves, seen) : extraCall(move.placed, at, moves, seen));
    else {
      paired.add(other);
      found.push(movedCall(at, other, moves, seen));
    }
  });
  return found;
}

function isCounterpart(one: Move, other: Move): boolean {
  if (one.kind === 'extra') return other.kind === 'missing' && other.tool === one.placed.call.name;
  return one.kind === 'missing' && other.kind === 'extra' && other.placed.call.name === one.tool;
}

function placedIn(moves: readonly Move[]): readonly PlacedCall[] {
  return moves.flatMap((move) => (move.kind === 'missing' ? [] : [move.placed]));
}

/** The pair in the wrong order is that of the fewest runs. */
function movedCall(at: number, other: number, moves: readonly Move[], seen: SeenRuns): Deviation {
  const [move, counterpart] = [moves[at], moves[other]];
  const placed = move?.kind === 'extra' ? move.placed : counterpart?.kind === 'extra' ? counterpart.placed : undefined;
  const isEarly = move?.kind === 'extra';
  const tool = placed?.call.name ?? '';
  const between = moves.slice(at + 1, other).flatMap((one) => (one.kind === 'normal' && one.placed.call.name !== tool ? [one.placed] : []));
  const pairs = between.map((passed) => {
    const { name } = passed.call;
    return { passed, ...(isEarly ? { first: tool, then: name } : { first: name, then: tool }) };
  });
  const [rarest] = pairs
    .map((pair) => ({ ...pair, runs: seen.order(pair.first, pair.then) }))
    .sort((one, another) => one.runs - another.runs);
  if (placed === undefined || rarest === undefined)
    return extraCall(placed ?? { index: 0, call: { name: tool, executed: false } }, at, moves, seen);
  const { passed, first, then, runs } = rarest;
  return {
    inWords: `${named(first)} before ${named(then)}: seen in ${seen.outOf(runs)}`,
    calls: isEarly ? [placed, passed] : [passed, placed],
    details: { kind: 'moved', ...callDetails(placed), first, then, seen_runs: runs },
  };
}

function missingCall(tool: string, at: number, moves: readonly Move[], seen: SeenRuns): Deviation {
  const [next] = placedIn(moves.slice(at + 1));
  const [last] = placedIn(moves.slice(0, at)).slice(-1);
  const where = next === undefined ? 'at the end' : `before ${toolName(next.call)} (call ${next.index + 1})`;
  const runs = seen.tool(tool);
  return {
    inWords: `${named(tool)} missing ${where}: called in ${seen.outOf(runs)}`,
    calls: [next ?? last].filter((one) => one !== undefined),
    details: { kind: 'missing', tool, ...(next === undefined ? {} : { before: callDetails(next) }), seen_runs: runs },
  };
}

/** Named by the rarer of the steps to it and from it. */
function extraCall(placed: PlacedCall, at: number, moves: readonly Move[], seen: SeenRuns): Deviation {
  const { name } = placed.call;
  const own = `${toolName(placed.call)} (call ${placed.index + 1})`;
  if (seen.tool(name) === 0)
    return {
      inWords: `${own}: seen in ${seen.outOf(0)}`,
      calls: [placed],
      details: { kind: 'unknown_tool', ...callDetails(placed), seen_runs: 0 },
    };
  const before = placedIn(moves.slice(0, at)).at(-1)?.call.name ?? null;
  const after = placedIn(moves.slice(at + 1))[0]?.call.name ?? null;
  const [to, from] = [seen.step(before, name), seen.step(name, after)];
  const isTo = to <= from;
  const step = isTo
    ? before === null
      ? 'as the first call'
      : `right after ${named(before)}`
    : after === null
      ? 'as the last call'
      : `right before ${named(after)}`;
  return {
    inWords: `${own} ${step}: seen in ${seen.outOf(isTo ? to : from)}`,
    calls: [placed],
    details: { kind: 'extra', ...callDetails(placed), from: isTo ? before : name, to: isTo ? name : after, seen_runs: isTo ? to : from },
  };
}

function named(tool: string): string {
  return tool.trim() === '' ? quoted(tool) : toolName({ name: tool, executed: true });
}
