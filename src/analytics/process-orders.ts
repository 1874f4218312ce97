/** Finds the tools that always come before another one. */
import { keyOf } from '../../evaluators/process/seen.ts';
import type { ProcessModel } from '../model/process-model.ts';

/** The least share of runs that makes it a rule: one run in a hundred may be an exception. */
const certainMin = 0.99;

export function isCertain(runs: number, of: number): boolean {
  return of > 0 && runs >= of * certainMin;
}

/** In the order in which they come; empty when the model had no room for all orders. */
export function precedingTools(model: ProcessModel, tool: string): readonly string[] {
  if (model.beyond.orders > 0) return [];
  const orders = new Map(model.orders.map(({ first, then, runs }) => [keyOf(first, then), runs]));
  const seen = (first: string, then: string): number => orders.get(keyOf(first, then)) ?? 0;
  const own = model.tools.find(({ name }) => name === tool);
  if (own === undefined) return [];
  const before = model.tools
    .map(({ name }) => name)
    .filter((name) => name !== tool && name !== '' && seen(name, tool) === own.runs && seen(tool, name) === 0);
  const runs = new Map(model.tools.map((one) => [one.name, one.runs]));
  // In every run that calls both; calls at the same time have no order, and count for neither.
  const always = (first: string, then: string): boolean =>
    seen(then, first) === 0 && seen(first, then) === Math.min(runs.get(first) ?? 0, runs.get(then) ?? 0);
  const chain: string[] = [];
  for (const name of before.toSorted((one, other) => earlierCount(before, other, seen) - earlierCount(before, one, seen)))
    if (chain.every((other) => always(other, name))) chain.push(name);
  return chain;
}

/** Number of the tools that it always comes before. */
function earlierCount(among: readonly string[], name: string, seen: (first: string, then: string) => number): number {
  return among.filter((other) => other !== name && seen(name, other) > 0 && seen(other, name) === 0).length;
}
