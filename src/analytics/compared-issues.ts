/** The issues that the second of two experiments closes and opens: failed verdicts with the same signature as in the service. */
import type { ExperimentResult } from '../model/experiment.ts';

export interface ComparedIssue {
  readonly name: string;
  readonly tool: string;
  readonly signature: string;
  /** Examples with it, on the side that has it. */
  readonly examples: readonly string[];
}

export interface ComparedIssues {
  /** The second does not have it, and has a verdict on each of its examples. */
  readonly closed: readonly ComparedIssue[];
  /** The first does not have it, and has a verdict on one of its examples. */
  readonly opened: readonly ComparedIssue[];
}

/** `undefined` when the failed verdicts of one side have no signatures. Most examples first. */
export function comparedIssues(first: readonly ExperimentResult[], second: readonly ExperimentResult[]): ComparedIssues | undefined {
  if (![...first, ...second].every(hasSignatures)) return undefined;
  const [ofFirst, ofSecond] = [issuesOf(first), issuesOf(second)];
  const isScored = scoredIn(first);
  const isScoredLater = scoredIn(second);
  const onlyIn = (own: typeof ofFirst, other: typeof ofFirst): readonly ComparedIssue[] =>
    [...own].flatMap(([key, issue]) => (other.has(key) ? [] : [issue])).toSorted((one, next) => next.examples.length - one.examples.length);
  return {
    closed: onlyIn(ofFirst, ofSecond).filter(({ name, examples }) => examples.every((id) => isScoredLater(id, name))),
    opened: onlyIn(ofSecond, ofFirst).filter(({ name, examples }) => examples.some((id) => isScored(id, name))),
  };
}

function hasSignatures({ verdicts }: ExperimentResult): boolean {
  return verdicts.every(({ verdict, faults }) => verdict !== 'fail' || faults !== undefined);
}

function issuesOf(results: readonly ExperimentResult[]): ReadonlyMap<string, ComparedIssue> {
  const rows = results.flatMap(({ exampleId, verdicts }) =>
    verdicts.flatMap(({ name, faults = [] }) =>
      faults.map(({ tool, signature }) => ({ exampleId, name, tool, signature, key: JSON.stringify([name, tool, signature]) })),
    ),
  );
  return new Map(
    [...Map.groupBy(rows, ({ key }) => key)].flatMap(([key, own]) => {
      const [one] = own;
      if (one === undefined) return [];
      const { name, tool, signature } = one;
      return [[key, { name, tool, signature, examples: [...new Set(own.map(({ exampleId }) => exampleId))] }] as const];
    }),
  );
}

/** True when each run of the example has a verdict of that name. */
function scoredIn(results: readonly ExperimentResult[]): (exampleId: string, name: string) => boolean {
  const byExample = Map.groupBy(results, ({ exampleId }) => exampleId);
  const isScored = (result: ExperimentResult, name: string): boolean =>
    result.verdicts.some((one) => one.name === name && one.verdict !== 'skipped' && one.verdict !== 'error');
  return (exampleId, name) => byExample.get(exampleId)?.every((result) => isScored(result, name)) === true;
}
