/** Compares the process of one version of an agent with that of the version before it. */
import type { ProcessModel } from '../model/process-model.ts';
import { gTest, type Category, type GTest } from '../statistics/g-test.ts';

/** One step with its share among all steps from the same tool; `null` is the start or the end of a run. */
export interface ChangedStep {
  readonly from: string | null;
  readonly to: string | null;
  readonly before: StepShare;
  readonly now: StepShare;
}

export interface StepShare {
  readonly times: number;
  /** Steps from the same tool. */
  readonly of: number;
}

export interface ProcessDrift {
  /** `undefined`: too few steps to compare. */
  readonly test: GTest | undefined;
  /** Those that add most to the statistic come first. */
  readonly steps: readonly ChangedStep[];
  /** Tools that only one of both has called. */
  readonly newTools: readonly string[];
  readonly goneTools: readonly string[];
}

/** Steps in one answer. */
const stepsMax = 20;

/**
 * The G-test of the steps from each tool: whether the steps after a tool have the same shares in both versions. Treats runs of one agent as Markov
 * chains, so a step depends only on the tool before it.
 */
export function processDrift(before: ProcessModel, now: ProcessModel): ProcessDrift {
  const rows = new Map<string | null, Map<string | null, { first: number; second: number }>>();
  const cell = (from: string | null, to: string | null): { first: number; second: number } => {
    const row = rows.get(from) ?? new Map<string | null, { first: number; second: number }>();
    rows.set(from, row);
    const found = row.get(to) ?? { first: 0, second: 0 };
    row.set(to, found);
    return found;
  };
  for (const { from, to, times } of before.transitions) cell(from, to).first += times;
  for (const { from, to, times } of now.transitions) cell(from, to).second += times;
  const steps = [...rows].flatMap(([from, row]) => changedSteps(from, row));
  return {
    test: gTest([...rows.values()].map((row) => [...row.values()])),
    steps: steps
      .toSorted((one, other) => other.weight - one.weight)
      .slice(0, stepsMax)
      .map(({ step }) => step),
    newTools: missingIn(before, now),
    goneTools: missingIn(now, before),
  };
}

function missingIn(model: ProcessModel, other: ProcessModel): readonly string[] {
  const known = new Set(model.tools.map(({ name }) => name));
  return other.tools.map(({ name }) => name).filter((name) => !known.has(name));
}

/** Steps from a tool that both have called, with what they add to the statistic. */
function changedSteps(
  from: string | null,
  row: ReadonlyMap<string | null, Category>,
): readonly { readonly step: ChangedStep; readonly weight: number }[] {
  const cells = [...row];
  const first = cells.reduce((sum, [, one]) => sum + one.first, 0);
  const second = cells.reduce((sum, [, one]) => sum + one.second, 0);
  if (first === 0 || second === 0) return [];
  const part = (observed: number, expected: number): number => (observed === 0 ? 0 : observed * Math.log(observed / expected));
  return cells.flatMap(([to, one]) => {
    const share = (one.first + one.second) / (first + second);
    if (one.first * second === one.second * first) return [];
    const weight = part(one.first, first * share) + part(one.second, second * share);
    // A fall in one version is a rise in the other, so the size of the difference ranks it.
    const difference = Math.abs(one.first / first - one.second / second);
    return [
      {
        step: { from, to, before: { times: one.first, of: first }, now: { times: one.second, of: second } },
        weight: Math.abs(weight) + difference,
      },
    ];
  });
}
