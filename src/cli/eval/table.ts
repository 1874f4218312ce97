/** The report for a terminal. */
import { scoredCount } from '../../library/tally.ts';
import { oneLine } from '../inspect/one-line.ts';
import { severalRuns, taskCells, taskHeads, type TaskResult } from './tasks.ts';
import { countsText, findings, gateText, type EvalReport, type Finding } from './report.ts';

const findingsShown = 50;
const labelChars = 80;
const textChars = 300;

export function tableText({ outcome, tallies, gates, tasks, passed }: EvalReport): string {
  const rows = tallies.map((one) => [one.name, String(one.passed), String(one.failed), String(one.raw), String(one.skipped), String(one.errors), scoredCount(one) === 0 ? '–' : (one.scoreSum / scoredCount(one)).toFixed(3)]);
  return [
    countsText(outcome),
    '',
    ...aligned([['evaluator', 'passed', 'failed', 'raw', 'skipped', 'no judge', 'mean score'], ...rows]),
    ...several(severalRuns(tasks)),
    ...list('Failed', findings(outcome.results, 'failed')),
    ...list('Without a usable judge', findings(outcome.results, 'errors')),
    ...(outcome.missing.length === 0 ? [] : ['', 'Examples without a run', ...outcome.missing.slice(0, findingsShown).map((id) => `  ${oneLine(id, labelChars)}`)]),
    ...(gates.length === 0 ? [] : ['', 'Gates', ...gates.map((gate) => `  ${gateText(gate)}`)]),
    '',
    passed ? 'PASSED' : 'FAILED',
  ].join('\n');
}

function several(tasks: readonly TaskResult[]): readonly string[] {
  if (tasks.length === 0) return [];
  const rows = tasks.slice(0, findingsShown).map((one) => taskCells(one).map((text) => oneLine(text, labelChars)));
  return ['', ...aligned([taskHeads, ...rows]), ...(tasks.length > findingsShown ? [`  … and ${tasks.length - findingsShown} more`] : [])];
}

function list(title: string, found: readonly Finding[]): readonly string[] {
  if (found.length === 0) return [];
  const lines = found.slice(0, findingsShown).flatMap(({ label, name, verdict }) => [`  ${oneLine(label, labelChars)}  ${name}${verdict.kind === 'scored' ? ` ${verdict.score.toFixed(3)}` : verdict.kind === 'failed' ? ` (${oneLine(verdict.error, labelChars)})` : ''}`, `    ${oneLine(verdict.explanation, textChars)}`]);
  return ['', title, ...lines, ...(found.length > findingsShown ? [`  … and ${found.length - findingsShown} more`] : [])];
}

/** The first column to the left, numbers to the right. */
function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) => row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  '));
}
