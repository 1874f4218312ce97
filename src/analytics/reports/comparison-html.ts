/** The comparison as one HTML file: nothing is loaded from elsewhere, no script runs, and foreign text is only text. */
import {
  comparisonCells,
  comparisonHeads,
  experimentText,
  flipText,
  headlineOf,
  repeatHeads,
  repeatRows,
  unpairedTexts,
  usageCells,
  usageHeads,
} from './comparison-text.ts';
import type { Comparison, EvaluatorComparison } from '../experiment-comparison.ts';

/** Flips of each evaluator in the file. */
const flipsMax = 500;

const style = `
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; color: #1a1a1a; background: #fff }
table { border-collapse: collapse; width: 100%; margin: 1rem 0 }
th, td { text-align: left; padding: .35rem .6rem; border-bottom: 1px solid #ddd; vertical-align: top; overflow-wrap: anywhere }
tr.worse td:last-child { color: #b00020; font-weight: 600 }
tr.better td:last-child { color: #0a6b2b; font-weight: 600 }
svg { display: block } .warning { color: #8a4b00 } summary { cursor: pointer; margin: .5rem 0; font-weight: 600 }
@media (prefers-color-scheme: dark) { body { color: #e8e8e8; background: #151515 } th, td { border-color: #333 } tr.worse td:last-child { color: #ff7b8a } tr.better td:last-child { color: #6fd08c } .warning { color: #ffb86b } }
`.trim();

export function comparisonHtml(comparison: Comparison): string {
  const { first, second, evaluators, usage, warnings, examples } = comparison;
  const repeats = repeatRows(evaluators);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(`${second.name} against ${first.name}`)}</title>
<style>${style}</style>
</head>
<body>
<h1>${escaped(headlineOf(comparison))}</h1>
<p>A: ${escaped(experimentText(first))}<br>B: ${escaped(experimentText(second))}<br>${examples} ${examples === 1 ? 'example' : 'examples'} in both.</p>
${[...unpairedTexts(comparison), ...warnings].map((text) => `<p class="warning">${escaped(text)}</p>`).join('\n')}
${table(
  [...comparisonHeads, 'interval of the difference'],
  evaluators.map((one) => ({ kind: one.word, cells: [...comparisonCells(one).map(escaped), intervalPicture(one)] })),
)}
${
  repeats.length === 0
    ? ''
    : table(
        repeatHeads,
        repeats.map((cells) => ({ kind: '', cells: cells.map(escaped) })),
      )
}
${
  usage.length === 0
    ? ''
    : table(
        usageHeads,
        usage.map((one) => ({ kind: '', cells: usageCells(one).map(escaped) })),
      )
}
${evaluators.map(flips).join('\n')}
</body>
</html>`;
}

interface Row {
  readonly kind: string;
  /** HTML. */
  readonly cells: readonly string[];
}

function table(heads: readonly string[], rows: readonly Row[]): string {
  return `<table>
<thead><tr>${heads.map((head) => `<th scope="col">${escaped(head)}</th>`).join('')}</tr></thead>
<tbody>
${rows.map(({ kind, cells }) => `<tr class="${escaped(kind)}">${cells.map((html) => `<td>${html}</td>`).join('')}</tr>`).join('\n')}
</tbody>
</table>`;
}

const pictureWidth = 160;

/** From −1 to 1, with a mark at 0. */
function intervalPicture({ difference, word }: EvaluatorComparison): string {
  if (difference.kind === 'not_estimable') return '';
  const x = (value: number): string => (((value + 1) / 2) * pictureWidth).toFixed(1);
  const colour = word === 'worse' ? '#b00020' : word === 'better' ? '#0a6b2b' : '#777';
  return `<svg width="${pictureWidth}" height="14" role="img" aria-label="from ${difference.low.toFixed(3)} to ${difference.high.toFixed(3)}"><line x1="${x(0)}" x2="${x(0)}" y1="0" y2="14" stroke="#999"/><line x1="${x(difference.low)}" x2="${x(difference.high)}" y1="7" y2="7" stroke="${colour}" stroke-width="3"/><circle cx="${x(difference.point)}" cy="7" r="4" fill="${colour}"/></svg>`;
}

function flips({ name, measure, flipped }: EvaluatorComparison): string {
  if (flipped.length === 0) return '';
  const rows = flipped.slice(0, flipsMax).map((flip) => ({
    kind: '',
    cells: [flip.exampleId, flip.input ?? '', flipText(flip, measure), flip.first.explanation, flip.second.explanation].map(escaped),
  }));
  const more = flipped.length > flipsMax ? `<p>… and ${flipped.length - flipsMax} more</p>` : '';
  return `<details open><summary>${escaped(name)}: ${flipped.length} changed</summary>${table(['example', 'input', 'change', 'A', 'B'], rows)}${more}</details>`;
}

function escaped(text: string): string {
  return text
    .toWellFormed()
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
