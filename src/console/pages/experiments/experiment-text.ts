/** Experiments in words and figures. */
import type { Schemas } from '../../api/client.ts';
import { costText, countText, durationText, percentText, unknownText } from '../../parts/format.ts';

type Comparison = Schemas['ExperimentComparison'];
export type EvaluatorComparison = Comparison['evaluators'][number];
type Usage = Comparison['usage'][number];
export type Estimate = EvaluatorComparison['a'];
export type Measure = EvaluatorComparison['measure'];

/** A share as percent, or a mean score with three digits. */
export function measureText(value: number, measure: Measure): string {
  return measure === 'rate' ? percentText(value) : value.toFixed(3);
}

/** The difference with its sign; in points for rates. */
export function differenceText(value: number, measure: Measure): string {
  const [number, digits] = measure === 'rate' ? [value * 100, 1] : [value, 3];
  const text = Math.abs(number).toFixed(digits);
  return `${Number(text) === 0 ? '' : number < 0 ? '−' : '+'}${text}`;
}

const smallest = 0.0001;

export function probabilityText(p: number | null): string {
  if (p === null) return unknownText;
  return p < smallest ? `< ${smallest}` : p.toFixed(4);
}

export const resultTexts: { readonly [result in EvaluatorComparison['result']]: string } = {
  better: 'better',
  worse: 'worse',
  worse_with_unscored: 'worse with unscored runs',
  no_difference_shown: 'no difference shown',
  not_comparable: 'not comparable',
};

/** One sentence with the result of the whole comparison. */
export function headline({
  examples,
  regressions,
  unscored_regressions: withUnscored,
  evaluators,
}: Pick<Comparison, 'examples' | 'regressions' | 'unscored_regressions' | 'evaluators'>): string {
  if (examples === 0) return 'Nothing can be compared: the two have no example in common.';
  const better = evaluators.filter(({ result }) => result === 'better').map(({ name }) => name);
  const parts = [
    ...(regressions.length === 0 ? [] : [`B is worse by ${regressions.join(', ')}`]),
    ...(withUnscored.length === 0 ? [] : [`B is worse by ${withUnscored.join(', ')} when a run without a score counts as not passed`]),
    ...(better.length === 0 ? [] : [`B is better by ${better.join(', ')}`]),
  ];
  return parts.length === 0 ? 'No difference is shown. That does not say that the two are equally good.' : `${parts.join('; ')}.`;
}

/** Runs without a score of one evaluator, and what they could hide. */
export function unscoredText({ name, measure, unscored }: EvaluatorComparison): string | undefined {
  if (unscored === null) return undefined;
  const { a, b, share, as_not_passed: counted, range } = unscored;
  const tested = ({ difference, adjusted_p: p }: typeof share, of: Measure): string => {
    if (difference.kind === 'not_estimable') return `not estimable. ${difference.explanation}`;
    const [point, low, high] = [difference.point, difference.low, difference.high].map((value) => differenceText(value, of));
    return `${point} (${low} to ${high})${pointsText(of)}, p (Holm) ${probabilityText(p)}.`;
  };
  return [
    `${name} has no score of ${countText(a.unscored)} of ${countText(a.runs)} runs in A, and of ${countText(b.unscored)} of ${countText(b.runs)} in B: ${tested(share, 'rate')}`,
    `Counted as ${measure === 'rate' ? 'not passed' : 'the score 0'}: ${tested(counted, measure)}`,
    `The worst and the best case are ${differenceText(range.low, measure)} to ${differenceText(range.high, measure)}${pointsText(measure)}.`,
  ].join(' ');
}

function pointsText(measure: Measure): string {
  return measure === 'rate' ? ' points' : '';
}

export function usageText({ of }: Pick<Usage, 'of'>, value: number): string {
  if (of === 'cost') return costText(value);
  return of === 'duration' ? durationText(value) : countText(value);
}

export function usageDifferenceText(usage: Pick<Usage, 'of'>, value: number): string {
  return `${value < 0 ? '−' : '+'}${usageText(usage, Math.abs(value))}`;
}

const shortCommit = 10;

export function commitText({ commit, branch, dirty }: Schemas['Experiment']['provenance']): string {
  if (commit === null) return unknownText;
  return `${commit.slice(0, shortCommit)}${dirty === true ? ' with changes' : ''}${branch === null ? '' : ` on ${branch}`}`;
}

export function datasetText(dataset: Schemas['Experiment']['dataset']): string {
  if (dataset === null) return unknownText;
  return dataset.version === null ? dataset.name : `${dataset.name}, version ${dataset.version}`;
}
