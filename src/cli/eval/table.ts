/** The report for a terminal. */
import type { NamedVerdict } from '../../library/report.ts';
import { classOf, scoredCount, type VerdictClass } from '../../library/tally.ts';
import { oneLine } from '../inspect/one-line.ts';
import { severalRuns, taskCells, taskHeads, type TaskResult } from './tasks.ts';
import type { EvalResult } from './item.ts';
import { countsText, findings, gateText, switchedOnText, unverifiedText, warningsOf, type EvalReport, type Finding } from './report.ts';
import { sessionsOf } from './sessions.ts';
import { isFailing } from './unscored.ts';

const findingsShown = 50;
const labelChars = 80;
const textChars = 300;
const warningChars = 1_000;
/** Runs that --verbose lists. */
const rowsVerbose = 1_000;

export function tableText(report: EvalReport): string {
  const { outcome, tallies, gates, tasks, passed, switchedOn = [], unverified = [], verbose = false } = report;
  const rows = tallies.map((one) => [
    one.name,
    String(one.passed),
    String(one.failed),
    String(one.raw),
    String(one.skipped),
    String(one.errors),
    scoredCount(one) === 0 ? '–' : (one.scoreSum / scoredCount(one)).toFixed(3),
  ]);
  return [
    countsText(outcome),
    '',
    ...aligned([['evaluator', 'passed', 'failed', 'raw', 'skipped', 'no judge', 'mean score'], ...rows]),
    ...(switchedOn.length === 0
      ? []
      : ['', 'Switched on by expectations', ...switchedOn.map((one) => `  ${oneLine(switchedOnText(one), textChars)}`)]),
    ...several(severalRuns(tasks)),
    ...bySession(outcome.results, verbose),
    ...byRun(
      outcome.results.filter((result) => verbose || isFailing(result, unverified)),
      verbose,
    ),
    ...list('Failed', findings(outcome.results, 'failed')),
    ...list('Without a usable judge', findings(outcome.results, 'errors')),
    ...(unverified.length === 0
      ? []
      : [
          '',
          'Expectations without a score',
          ...unverified.slice(0, findingsShown).map((one) => `  ${oneLine(unverifiedText(one), textChars)}`),
          ...more(unverified.length),
        ]),
    ...(outcome.missing.length === 0
      ? []
      : [
          '',
          'Examples without a run',
          ...outcome.missing.slice(0, findingsShown).map((id) => `  ${oneLine(id, labelChars)}`),
          ...more(outcome.missing.length),
        ]),
    ...(gates.length === 0 ? [] : ['', 'Gates', ...gates.map((gate) => `  ${gateText(gate)}`)]),
    ...warned(warningsOf(report)),
    '',
    passed ? 'PASSED' : 'FAILED',
  ].join('\n');
}

function warned(warnings: readonly string[]): readonly string[] {
  return warnings.length === 0 ? [] : ['', ...warnings.map((text) => `⚠ ${oneLine(text, warningChars)}`)];
}

/** One row a run; a failing run shows what failed, and with `verbose` everything. */
function byRun(results: readonly EvalResult[], verbose: boolean): readonly string[] {
  if (results.length === 0) return [];
  const listed = results.slice(0, verbose ? rowsVerbose : findingsShown);
  const rows = listed.map(({ item, verdicts }) => [
    oneLine(item.label, labelChars),
    oneLine(item.run.trace.agent ?? '–', labelChars),
    verdictCells(verdicts, verbose).join(', '),
  ]);
  const [heads, ...lines] = aligned([['run', 'agent', 'verdicts'], ...rows], 'left');
  return ['', heads ?? '', ...lines, ...(results.length > listed.length ? [`  … and ${results.length - listed.length} more`] : [])].map(
    (line) => line.trimEnd(),
  );
}

/** One row a session and evaluator whose worst turn failed, and with `verbose` every other with a score. */
function bySession(results: readonly EvalResult[], verbose: boolean): readonly string[] {
  const rows = sessionsOf(results).flatMap(({ id, turns, worst }) =>
    worst.flatMap(({ name, worst: at, score }) => {
      const turn = at === undefined ? undefined : turns[at];
      const isFailed = turn?.verdicts.some((one) => one.name === name && classOf(one.verdict) === 'failed');
      if (at === undefined || turn === undefined || score === undefined || !(verbose || isFailed === true)) return [];
      return [[id, name, `${at + 1} of ${turns.length}`, score.toFixed(3), turn.item.label].map((text) => oneLine(text, labelChars))];
    }),
  );
  if (rows.length === 0) return [];
  const listed = rows.slice(0, verbose ? rowsVerbose : findingsShown);
  return [
    '',
    ...aligned([['session', 'evaluator', 'worst turn', 'score', 'run'], ...listed], 'left').map((line) => line.trimEnd()),
    ...(rows.length > listed.length ? [`  … and ${rows.length - listed.length} more`] : []),
  ];
}

const marks: { readonly [which in VerdictClass]: string } = { failed: '✗', errors: '⚠', passed: '✓', raw: '·', skipped: '–' };

/** The worst first. */
export function verdictCells(verdicts: readonly NamedVerdict[], verbose: boolean): readonly string[] {
  return (Object.keys(marks) as readonly VerdictClass[]).flatMap((which) =>
    verdicts
      .filter(({ verdict }) => classOf(verdict) === which && (verbose || which === 'failed' || which === 'errors'))
      .map(
        ({ name, verdict }) =>
          `${marks[which]} ${name}${verdict.kind === 'scored' ? ` ${verdict.score.toFixed(3)}` : ` (${oneLine(verdict.kind === 'skipped' ? verdict.reason : verdict.error, labelChars)})`}`,
      ),
  );
}

function more(count: number): readonly string[] {
  return count > findingsShown ? [`  … and ${count - findingsShown} more`] : [];
}

function several(tasks: readonly TaskResult[]): readonly string[] {
  if (tasks.length === 0) return [];
  const rows = tasks.slice(0, findingsShown).map((one) => taskCells(one).map((text) => oneLine(text, labelChars)));
  return ['', ...aligned([taskHeads, ...rows]), ...more(tasks.length)];
}

function list(title: string, found: readonly Finding[]): readonly string[] {
  if (found.length === 0) return [];
  const lines = found
    .slice(0, findingsShown)
    .flatMap(({ label, name, verdict }) => [
      `  ${oneLine(label, labelChars)}  ${name}${verdict.kind === 'scored' ? ` ${verdict.score.toFixed(3)}` : verdict.kind === 'failed' ? ` (${oneLine(verdict.error, labelChars)})` : ''}`,
      `    ${oneLine(verdict.explanation, textChars)}`,
    ]);
  return ['', title, ...lines, ...more(found.length)];
}

/** The first column to the left; the others, which are numbers, to the right. */
function aligned(rows: readonly (readonly string[])[], others: 'left' | 'right' = 'right'): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => (column === 0 || others === 'left' ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join('  '),
  );
}
