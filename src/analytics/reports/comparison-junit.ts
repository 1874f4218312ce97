/** The comparison as JUnit XML: one test case for each evaluator, which fails on a regression and is skipped when nothing can be compared. */
import { comparisonCells, comparisonHeads, flipText, notEstimableTexts, unscoredTexts } from './comparison-text.ts';
import { element, escaped, junitReport, testSuite } from '../../report/junit.ts';
import { isWorse, type Comparison, type EvaluatorComparison } from '../experiment-comparison.ts';

/** Flips that a failure lists. */
const flipsMax = 20;

export function comparisonJunit({ first, second, evaluators }: Comparison): string {
  const count = (isCounted: (word: EvaluatorComparison['word']) => boolean): number =>
    evaluators.filter(({ word }) => isCounted(word)).length;
  const counts = { failures: count(isWorse), errors: 0, skipped: count((word) => word === 'not_comparable') };
  const cases = evaluators.map((one) => element('testcase', { classname: 'experiment', name: one.name }, contentOf(one)));
  return junitReport([testSuite({ name: `${second.name} against ${first.name}`, ...counts }, cases)]);
}

function contentOf(one: EvaluatorComparison): readonly string[] {
  const cells = comparisonCells(one).map((text, at) => `${comparisonHeads[at]}: ${text}`);
  const sentences = [...unscoredTexts({ evaluators: [one] }), ...notEstimableTexts({ evaluators: [one], usage: [] })];
  const message = [cells.join(', '), ...sentences].join('\n');
  if (one.word === 'not_comparable') return [element('skipped', { message }, [])];
  if (!isWorse(one.word)) return one.unscored === undefined ? [] : [element('system-out', {}, sentences.map(escaped))];
  const flips = one.flipped
    .slice(0, flipsMax)
    .map(
      (flip) =>
        `${[flip.exampleId, ...(flip.input === undefined ? [] : [`(${flip.input})`])].join(' ')}: ${flipText(flip, one.measure)}. ${flip.second.explanation}`,
    );
  return [element('failure', { type: one.name, message: [message, ...flips].join('\n') }, [])];
}
