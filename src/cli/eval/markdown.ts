/** The report as Markdown, fit for a comment on a pull request. */
import { scoredCount } from '../../library/tally.ts';
import { severalRuns, taskCells, taskHeads, type TaskResult } from './tasks.ts';
import { countsText, findings, gateText, type EvalReport, type Finding } from './report.ts';

/** GitHub takes comments of up to 65,536 characters. */
const findingsShown = 50;
const cellChars = 300;

export function markdownText({ outcome, tallies, gates, tasks, passed }: EvalReport): string {
  const rows = tallies.map((one) => `| ${cell(one.name)} | ${one.passed} | ${one.failed} | ${one.raw} | ${one.skipped} | ${one.errors} | ${scoredCount(one) === 0 ? '–' : (one.scoreSum / scoredCount(one)).toFixed(3)} |`);
  return [
    `### ${passed ? '✅' : '❌'} Agent runs: ${passed ? 'passed' : 'failed'}`,
    `${countsText(outcome)}.`,
    ['| evaluator | passed | failed | raw | skipped | no judge | mean score |', '|---|---:|---:|---:|---:|---:|---:|', ...rows].join('\n'),
    ...several(severalRuns(tasks)),
    ...(gates.length === 0 ? [] : [gates.map((gate) => `- ${gate.held ? '✅' : '❌'} ${cell(gateText(gate))}`).join('\n')]),
    ...(outcome.missing.length === 0 ? [] : [`Examples without a run: ${outcome.missing.slice(0, findingsShown).map(cell).join(', ')}`]),
    ...details('failed', findings(outcome.results, 'failed')),
    ...details('without a usable judge', findings(outcome.results, 'errors')),
  ].join('\n\n');
}

function several(tasks: readonly TaskResult[]): readonly string[] {
  if (tasks.length === 0) return [];
  const rows = tasks.slice(0, findingsShown).map((one) => `| ${taskCells(one).map(cell).join(' | ')} |`);
  const more = tasks.length > findingsShown ? [`… and ${tasks.length - findingsShown} more`] : [];
  return [[`| ${taskHeads.join(' | ')} |`, '|---|---|---:|---:|---:|---:|', ...rows].join('\n'), ...more];
}

function details(what: string, found: readonly Finding[]): readonly string[] {
  if (found.length === 0) return [];
  const rows = found.slice(0, findingsShown).map(({ label, name, verdict }) => `| ${cell(label)} | ${cell(name)} | ${verdict.kind === 'scored' ? verdict.score.toFixed(3) : ''} | ${cell(verdict.explanation)} |`);
  const more = found.length > findingsShown ? [`… and ${found.length - findingsShown} more`] : [];
  return [[`<details><summary>${found.length} ${what}</summary>`, ['| run | evaluator | score | why |', '|---|---|---:|---|', ...rows].join('\n'), ...more, '</details>'].join('\n\n')];
}

/** Foreign text as text: on one line, without a sign that Markdown or HTML would obey, and nobody is mentioned by it. */
function cell(text: string): string {
  const line = text.slice(0, cellChars * 4).replaceAll(/[\p{Cc}\s]+/gu, ' ').trim().toWellFormed();
  const cut = [...line].length > cellChars ? `${[...line].slice(0, cellChars - 1).join('')}…` : line;
  return cut
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll(/[\\`*_[\]#|~$]/g, '\\$&')
    .replaceAll('@', '@\u200b')
    .replaceAll('://', ':\u200b//');
}
