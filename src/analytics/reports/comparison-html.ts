/** The comparison as one HTML file. */
import {
  comparisonCells,
  comparisonHeads,
  experimentText,
  flipText,
  headlineOf,
  issueHeads,
  issueRows,
  notEstimableTexts,
  repeatHeads,
  repeatRows,
  unpairedTexts,
  unscoredTexts,
  usageCells,
  usageHeads,
} from './comparison-text.ts';
import { htmlMore, htmlPage, htmlTable, htmlText } from '../../report/html.ts';
import { isWorse, type Comparison, type EvaluatorComparison } from '../experiment-comparison.ts';

/** Flips of each evaluator in the file. */
const flipsMax = 500;

export function comparisonHtml(comparison: Comparison): string {
  const { first, second, evaluators, usage, examples } = comparison;
  return htmlPage(`${second.name} against ${first.name}`, [
    `<h1>${htmlText(headlineOf(comparison))}</h1>`,
    `<p>A: ${htmlText(experimentText(first))}<br>B: ${htmlText(experimentText(second))}<br>${examples} ${examples === 1 ? 'example' : 'examples'} in both.</p>`,
    ...[...unpairedTexts(comparison), ...comparison.warnings].map((text) => `<p class="warning">${htmlText(text)}</p>`),
    htmlTable(
      [...comparisonHeads, 'interval of the difference'],
      evaluators.map((one) => [...comparisonCells(one), { html: intervalPicture(one) }]),
      (row) => evaluators[row]?.word ?? '',
    ),
    ...unscoredTexts(comparison).map((text) => `<p class="warning">${htmlText(text)}</p>`),
    ...notEstimableTexts(comparison).map((text) => `<p>${htmlText(text)}</p>`),
    htmlTable(repeatHeads, repeatRows(evaluators)),
    htmlTable(usageHeads, usage.map(usageCells)),
    htmlTable(issueHeads, issueRows(comparison)),
    ...evaluators.map(flips),
  ]);
}

const pictureWidth = 160;

/** From −1 to 1, with a mark at 0. */
function intervalPicture({ difference, word }: EvaluatorComparison): string {
  if (difference.kind === 'not_estimable') return '';
  const x = (value: number): string => (((value + 1) / 2) * pictureWidth).toFixed(1);
  const colour = isWorse(word) ? '#b00020' : word === 'better' ? '#0a6b2b' : '#777';
  return `<svg width="${pictureWidth}" height="14" role="img" aria-label="from ${difference.low.toFixed(3)} to ${difference.high.toFixed(3)}"><line x1="${x(0)}" x2="${x(0)}" y1="0" y2="14" stroke="#999"/><line x1="${x(difference.low)}" x2="${x(difference.high)}" y1="7" y2="7" stroke="${colour}" stroke-width="3"/><circle cx="${x(difference.point)}" cy="7" r="4" fill="${colour}"/></svg>`;
}

function flips({ name, measure, flipped }: EvaluatorComparison): string {
  if (flipped.length === 0) return '';
  const rows = flipped
    .slice(0, flipsMax)
    .map((flip) => [flip.exampleId, flip.input ?? '', flipText(flip, measure), flip.first.explanation, flip.second.explanation]);
  return `<details open><summary>${htmlText(name)}: ${flipped.length} changed</summary>${htmlTable(['example', 'input', 'change', 'A', 'B'], rows)}${htmlMore(flipped.length, flipsMax)}</details>`;
}
