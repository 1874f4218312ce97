/** Writes the report as Markdown for a comment on a pull request. */
import { cell } from '../../analytics/reports/markdown-cell.ts';
import { type EvalResult, severalRuns, taskCells, taskHeads, type TaskResult } from './scoring.ts';
import {
  countsText,
  type EvalReport,
  type Finding,
  findings,
  gateText,
  isFailing,
  runErrorLine,
  runErrorsOf,
  switchedOnText,
  tallyCells,
  tallyHeads,
  unverifiedText,
  verdictCells,
  warningsOf,
} from './report.ts';

/** GitHub accepts comments of up to 65,536 characters. */
const findingsMax = 50;
const warningChars = 1_000;

export function markdownText(report: EvalReport): string {
  const { outcome, tallies, gates, tasks, passed, switchedOn = [], unverified = [] } = report;
  const rows = tallies.map(
    (one) =>
      `| ${tallyCells(one)
        .map((text) => cell(text))
        .join(' | ')} |`,
  );
  return [
    `### ${passed ? '✅' : '❌'} Agent runs: ${passed ? 'passed' : 'failed'}`,
    `${countsText(outcome)}.`,
    ...runErrors(outcome.results),
    ...warningsOf(report).map((text) => `⚠ ${cell(text, warningChars)}`),
    ...(switchedOn.length === 0 ? [] : [`Switched on by expectations: ${switchedOn.map((one) => cell(switchedOnText(one))).join(', ')}.`]),
    [`| ${tallyHeads.join(' | ')} |`, '|---|---:|---:|---:|---:|---:|---:|', ...rows].join('\n'),
    ...several(severalRuns(tasks)),
    ...(gates.length === 0 ? [] : [gates.map((gate) => `- ${gate.held ? '✅' : '❌'} ${cell(gateText(gate))}`).join('\n')]),
    ...(outcome.missing.length === 0
      ? []
      : [
          `Examples without a run: ${outcome.missing
            .slice(0, findingsMax)
            .map((id) => cell(id))
            .join(', ')}`,
        ]),
    ...(unverified.length === 0
      ? []
      : [
          `Expectations without a score:\n${unverified
            .slice(0, findingsMax)
            .map((one) => `- ${cell(unverifiedText(one))}`)
            .join('\n')}${unverified.length > findingsMax ? `\n- … and ${unverified.length - findingsMax} more` : ''}`,
        ]),
    ...byRun(outcome.results.filter((result) => isFailing(result, unverified))),
    ...details('failed', findings(outcome.results, 'failed')),
    ...details('without a usable judge', findings(outcome.results, 'errors')),
  ].join('\n\n');
}

function runErrors(results: readonly EvalResult[]): readonly string[] {
  const own = runErrorsOf(results).filter(({ isListed }) => !isListed);
  if (own.length === 0) return [];
  const lines = own.slice(0, findingsMax).map((one) => `- ${cell(runErrorLine(one))}`);
  return [
    `Runs that ended in an error:\n${[...lines, ...(own.length > findingsMax ? [`- … and ${own.length - findingsMax} more`] : [])].join('\n')}`,
  ];
}

function byRun(results: readonly EvalResult[]): readonly string[] {
  if (results.length === 0) return [];
  const rows = results.slice(0, findingsMax).map(
    ({ item, verdicts }) =>
      `| ${cell(item.label)} | ${cell(item.run.trace.agent ?? '–')} | ${verdicts.length} | ${verdictCells(verdicts, false)
        .map((text) => cell(text))
        .join('<br>')} |`,
  );
  return [
    `<details><summary>${results.length} ${results.length === 1 ? 'run that did' : 'runs that did'} not pass</summary>`,
    ['| run | agent | verdicts | not passed |', '|---|---|---:|---|', ...rows].join('\n'),
    ...(results.length > findingsMax ? [`… and ${results.length - findingsMax} more`] : []),
    '</details>',
  ];
}

function several(tasks: readonly TaskResult[]): readonly string[] {
  if (tasks.length === 0) return [];
  const rows = tasks.slice(0, findingsMax).map(
    (one) =>
      `| ${taskCells(one)
        .map((text) => cell(text))
        .join(' | ')} |`,
  );
  const more = tasks.length > findingsMax ? [`… and ${tasks.length - findingsMax} more`] : [];
  return [[`| ${taskHeads.join(' | ')} |`, '|---|---|---:|---:|---:|---:|', ...rows].join('\n'), ...more];
}

function details(what: string, found: readonly Finding[]): readonly string[] {
  if (found.length === 0) return [];
  const rows = found
    .slice(0, findingsMax)
    .map(
      ({ label, name, verdict }) =>
        `| ${cell(label)} | ${cell(name)} | ${verdict.kind === 'scored' ? verdict.score.toFixed(3) : ''} | ${cell(verdict.explanation)} |`,
    );
  const more = found.length > findingsMax ? [`… and ${found.length - findingsMax} more`] : [];
  return [
    [
      `<details><summary>${found.length} ${what}</summary>`,
      ['| run | evaluator | score | why |', '|---|---|---:|---|', ...rows].join('\n'),
      ...more,
      '</details>',
    ].join('\n\n'),
  ];
}
