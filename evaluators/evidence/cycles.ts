/** Loops in a sequence of calls: a-b-a-b is one, though no call repeats the one before it. */

export interface Cycle {
  readonly start: number;
  readonly period: number;
  /** Calls from the start to the end of the loop; at least two periods. */
  readonly length: number;
}

/** Longer loops are not found. */
export const periodMax = 10;

/** The longest stretch that repeats itself with a period; of equal ones the shortest period, then the earliest. */
export function longestCycle(classes: readonly number[]): Cycle | undefined {
  let longest: Cycle | undefined;
  for (let period = 1; period <= Math.min(periodMax, classes.length / 2); period++) {
    let run = 0;
    for (let at = period; at < classes.length; at++) {
      run = classes[at] === classes[at - period] ? run + 1 : 0;
      const length = run + period;
      if (run >= period && length > (longest?.length ?? 0)) longest = { start: at - length + 1, period, length };
    }
  }
  return longest;
}

/** Every stretch in which a period stands at least so many times in a row. One inside another, as that of twice the period, is left out. */
export function repeatedCycles(
  classes: readonly number[],
  limits: { readonly periodMax: number; readonly minRepeats: number },
): readonly Cycle[] {
  const found: Cycle[] = [];
  for (let period = 1; period <= Math.min(limits.periodMax, classes.length / limits.minRepeats); period++)
    found.push(...ofPeriod(classes, period, limits.minRepeats));
  // One that begins no later and ends no earlier comes first in this order; of equal ones that with the shortest period.
  found.sort((one, other) => one.start - other.start || other.length - one.length || one.period - other.period);
  let reach = 0;
  return found.filter(({ start, length }) => {
    if (start + length <= reach) return false;
    reach = start + length;
    return true;
  });
}

function* ofPeriod(classes: readonly number[], period: number, minRepeats: number): Generator<Cycle> {
  let start = 0;
  for (let at = period; at <= classes.length; at++) {
    if (at < classes.length && classes[at] === classes[at - period]) continue;
    const length = at - start;
    if (length >= period * minRepeats) yield { start, period, length };
    start = at - period + 1;
  }
}
