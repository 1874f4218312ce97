/**
 * Compares the runs of an issue with the other runs of its agent. Each property of a run is tested by itself, so a difference is an
 * association: the property may cause the failure, follow from it, or go with something else that does.
 */
import { type ComparedRun, earlierRunsMax, type Issue } from '../model/store/issue-store.ts';
import { splitValuesMax } from '../model/store/verdict-rows.ts';
import type { Micros } from '../model/timestamp.ts';
import { fisherExact, type Group } from '../statistics/fisher-exact.ts';
import { discreteHolmAdjusted } from '../statistics/holm.ts';

export const comparedProperties = [
  'version',
  'model',
  'tool',
  'prompt',
  'service',
  'environment',
  'user',
  'input_tokens',
  'session_length',
  'hour',
] as const;
export type ComparedProperty = (typeof comparedProperties)[number];

/** Values of one property that are compared, those of the most runs. */
export const comparedValuesMax = splitValuesMax;
/** Probability of naming a difference when there is none, over all rows. */
const level = 0.05;

export interface IssueDifference {
  readonly property: ComparedProperty;
  readonly value: string;
  /** Runs of the issue with the value, and those whose value is known. */
  readonly own: Group;
  readonly others: Group;
  /** Share here divided by the share of the others; undefined when no other run has the value. */
  readonly lift: number | undefined;
  /** Fisher's exact test, two-sided. */
  readonly p: number;
  /** Adjusted by Holm's method over all rows. */
  readonly adjusted: number;
  /** True when the shares differ by more than chance explains. */
  readonly differs: boolean;
}

/** A row for each value of each property, the clearest difference first. The tool of the issue is left out: all its runs call it. */
export function issueDifferences(
  { tool }: Pick<Issue, 'tool'>,
  { own, others }: { readonly own: readonly ComparedRun[]; readonly others: readonly ComparedRun[] },
): readonly IssueDifference[] {
  if (own.length === 0 || others.length === 0) return [];
  const edges = tokenEdges([...own, ...others]);
  const tables = comparedProperties.flatMap((property) => {
    const valuesOf = (run: ComparedRun): readonly string[] | undefined => valueReaders[property](run, edges);
    const [one, other] = [countsOf(own, valuesOf), countsOf(others, valuesOf)];
    const total = (value: string): number => (one.byValue.get(value) ?? 0) + (other.byValue.get(value) ?? 0);
    return [...new Set([...one.byValue.keys(), ...other.byValue.keys()])]
      .filter((value) => property !== 'tool' || value !== tool)
      .toSorted((left, right) => total(right) - total(left) || (left < right ? -1 : 1))
      .slice(0, comparedValuesMax)
      .map((value) => ({
        property,
        value,
        own: { hits: one.byValue.get(value) ?? 0, of: one.known },
        others: { hits: other.byValue.get(value) ?? 0, of: other.known },
      }));
  });
  const tests = tables.map((table) => fisherExact(table.own, table.others));
  const adjusted = discreteHolmAdjusted(tests);
  return tables
    .map((table, at): IssueDifference => {
      const [here, there] = [shareOf(table.own), shareOf(table.others)];
      const corrected = adjusted[at] ?? 1;
      return {
        ...table,
        lift: there > 0 ? here / there : undefined,
        p: tests[at]?.p ?? 1,
        adjusted: corrected,
        differs: corrected <= level,
      };
    })
    .toSorted(
      (one, other) =>
        rounded(one.adjusted) - rounded(other.adjusted) ||
        rounded(one.p) - rounded(other.p) ||
        (other.lift ?? Infinity) - (one.lift ?? Infinity),
    );
}

const digits = 9;

/** Two values of one property may have the same test from both sides, apart from rounding. */
function rounded(p: number): number {
  return Number(p.toPrecision(digits));
}

/** 0 for an empty group. */
export function shareOf({ hits, of }: Group): number {
  return of === 0 ? 0 : hits / of;
}

type ValueReader = (run: ComparedRun, edges: readonly number[]) => readonly string[] | undefined;

/** The values of a run; undefined when they are unknown. */
const valueReaders: { readonly [property in ComparedProperty]: ValueReader } = {
  version: ({ version }) => one(version),
  model: ({ model }) => one(model),
  tool: ({ tools }) => tools,
  prompt: ({ prompt }) => one(prompt),
  service: ({ service }) => one(service),
  environment: ({ environment }) => one(environment),
  user: ({ user }) => one(user),
  input_tokens: ({ inputTokens }, edges) => (inputTokens === undefined ? undefined : [tokenBin(inputTokens, edges)]),
  session_length: ({ earlierRuns }) => (earlierRuns === undefined ? undefined : [lengthBin(earlierRuns + 1)]),
  hour: ({ startedAt }) => [hourBin(startedAt)],
};

function one(value: string | undefined): readonly string[] | undefined {
  return value === undefined ? undefined : [value];
}

/** Users of these runs, those with the most runs first. */
export function usersOf(runs: readonly ComparedRun[]): readonly { readonly user: string; readonly runs: number }[] {
  return [...countsOf(runs, ({ user }) => one(user)).byValue]
    .map(([user, count]) => ({ user, runs: count }))
    .toSorted((left, right) => right.runs - left.runs || (left.user < right.user ? -1 : 1));
}

function countsOf(
  runs: readonly ComparedRun[],
  valuesOf: (run: ComparedRun) => readonly string[] | undefined,
): { readonly known: number; readonly byValue: ReadonlyMap<string, number> } {
  const byValue = new Map<string, number>();
  let known = 0;
  for (const run of runs) {
    const values = valuesOf(run);
    if (values === undefined) continue;
    known++;
    for (const value of values) byValue.set(value, (byValue.get(value) ?? 0) + 1);
  }
  return { known, byValue };
}

const quarters = [0.25, 0.5, 0.75];

/** Distinct quartiles over all runs, so that the bins do not depend on which runs have the issue. */
function tokenEdges(runs: readonly ComparedRun[]): readonly number[] {
  const ordered = runs.flatMap(({ inputTokens }) => (inputTokens === undefined ? [] : [inputTokens])).toSorted((a, b) => a - b);
  if (ordered.length === 0) return [];
  const last = ordered.at(-1);
  return [...new Set(quarters.map((part) => ordered[Math.ceil(part * ordered.length) - 1] ?? 0))].filter((edge) => edge !== last);
}

function tokenBin(tokens: number, edges: readonly number[]): string {
  const at = edges.findIndex((edge) => tokens <= edge);
  if (edges.length === 0) return 'any';
  if (at === 0) return `up to ${edges[0] ?? 0}`;
  return at < 0 ? `more than ${edges.at(-1) ?? 0}` : `${(edges[at - 1] ?? 0) + 1} to ${edges[at] ?? 0}`;
}

const lengthBins = [
  { upTo: 1, name: '1' },
  { upTo: 3, name: '2 to 3' },
  { upTo: earlierRunsMax, name: `4 to ${earlierRunsMax}` },
] as const;

function lengthBin(length: number): string {
  return lengthBins.find(({ upTo }) => length <= upTo)?.name ?? `more than ${earlierRunsMax}`;
}

const hourMicros = 3_600_000_000;
const hoursOfBin = 3;

function hourBin(at: Micros): string {
  const from = Math.floor((Math.floor(at / hourMicros) % 24) / hoursOfBin) * hoursOfBin;
  const text = (hour: number): string => `${String(hour).padStart(2, '0')}:00`;
  return `${text(from)} to ${text(from + hoursOfBin)} UTC`;
}
