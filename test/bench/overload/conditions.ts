/** The promises of a bench, measured: a table, and whether all of it holds. */

export interface Condition {
  readonly what: string;
  readonly wanted: string;
  readonly measured: string;
  readonly holds: boolean;
}

/** True when all hold. */
export function tell(title: string, conditions: readonly Condition[]): boolean {
  process.stdout.write(`\n${title}\n\n| condition | wanted | measured | |\n|---|---|---|---|\n`);
  for (const { what, wanted, measured, holds } of conditions)
    process.stdout.write(`| ${what} | ${wanted} | ${measured} | ${holds ? 'holds' : 'MISSED'} |\n`);
  return conditions.every(({ holds }) => holds);
}

export function below(what: string, max: number, measured: number, unit: string, digits = 0): Condition {
  return { what, wanted: `≤ ${max.toFixed(digits)} ${unit}`, measured: `${measured.toFixed(digits)} ${unit}`, holds: measured <= max };
}

export function atLeast(what: string, min: number, measured: number, unit: string, digits = 0): Condition {
  return { what, wanted: `≥ ${min.toFixed(digits)} ${unit}`, measured: `${measured.toFixed(digits)} ${unit}`, holds: measured >= min };
}

export function equal(what: string, wanted: string, measured: string): Condition {
  return { what, wanted, measured, holds: wanted === measured };
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
