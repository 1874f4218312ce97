/** In how many of its runs a process model has seen something. */
import type { ProcessModel } from '../../src/model/process-model.ts';

export interface SeenRuns {
  tool(name: string): number;
  /** One directly follows the other; null is the start or the end. */
  step(from: string | null, to: string | null): number;
  /** One stands somewhere before the other. */
  order(first: string, then: string): number;
  /** `3 of 4,812 runs`. */
  outOf(runs: number): string;
}

export function seenRuns(model: ProcessModel): SeenRuns {
  const tools = new Map(model.tools.map(({ name, runs }) => [name, runs]));
  const steps = new Map(model.transitions.map(({ from, to, runs }) => [keyOf(from, to), runs]));
  const orders = new Map(model.orders.map(({ first, then, runs }) => [keyOf(first, then), runs]));
  return {
    tool: (name) => tools.get(name) ?? 0,
    step: (from, to) => steps.get(keyOf(from, to)) ?? 0,
    order: (first, then) => orders.get(keyOf(first, then)) ?? 0,
    outOf: (runs) => `${grouped(runs)} of ${grouped(model.runs)} ${model.runs === 1 ? 'run' : 'runs'}`,
  };
}

export function keyOf(one: string | null, other: string | null): string {
  return JSON.stringify([one, other]);
}

/** 4,812 instead of 4812. */
export function grouped(number: number): string {
  return String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}
