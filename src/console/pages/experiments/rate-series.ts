/** Rates of experiments as lines over time. */
import type { Schemas } from '../../api/client.ts';

type Entry = Pick<Schemas['ExperimentInHistory'], 'evaluators'>;

export interface Rate {
  readonly point: number | undefined;
  readonly low: number | undefined;
  readonly high: number | undefined;
  /** Why there is no rate. */
  readonly why: string | undefined;
}

/** `undefined`: the experiment does not have the evaluator, or its measure is a mean. */
export function rateOf({ evaluators }: Entry, name: string): Rate | undefined {
  const found = evaluators.find((one) => one.name === name && one.measure === 'rate');
  if (found === undefined) return undefined;
  const { estimate } = found;
  return estimate.kind === 'estimated'
    ? { point: estimate.point, low: estimate.low, high: estimate.high, why: undefined }
    : { point: undefined, low: undefined, high: undefined, why: estimate.explanation };
}

/** A gap stands where an experiment has no rate. */
export function rateSeries(experiments: readonly Entry[], name: string): readonly (number | null)[] {
  return experiments.map((entry) => rateOf(entry, name)?.point ?? null);
}

/** Evaluators with a rate somewhere; the one of the most experiments first, and `completed` last, for it is 100 % most of the time. */
export function evaluatorNames(experiments: readonly Entry[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { evaluators } of experiments)
    for (const { name, measure, estimate } of evaluators)
      if (measure === 'rate' && estimate.kind === 'estimated') counts.set(name, (counts.get(name) ?? 0) + 1);
  const rank = (name: string): number => (name === 'completed' ? -1 : (counts.get(name) ?? 0));
  return [...counts.keys()].toSorted((one, other) => rank(other) - rank(one));
}
