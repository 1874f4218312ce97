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

/** With its sign; of rates in points. */
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
  no_difference_shown: 'no difference shown',
  not_comparable: 'not comparable',
};

/** One sentence: what the comparison says as a whole. */
export function headline({ examples, regressions, evaluators }: Pick<Comparison, 'examples' | 'regressions' | 'evaluators'>): string {
  if (examples === 0) return 'Nothing can be compared: the two have no example in common.';
  const better = evaluators.filter(({ result }) => result === 'better').map(({ name }) => name);
  const parts = [
    ...(regressions.length === 0 ? [] : [`B is worse by ${regressions.join(', ')}`]),
    ...(better.length === 0 ? [] : [`B is better by ${better.join(', ')}`]),
  ];
  return parts.length === 0 ? 'No difference is shown. That does not say that the two are equally good.' : `${parts.join('; ')}.`;
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
