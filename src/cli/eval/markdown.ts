/** Writes the report as Markdown for a comment on a pull request. */
import { cell, markdownDetails, markdownList, markdownTable } from '../../report/markdown.ts';
import { severalRuns, taskCells, taskHeads } from './scoring.ts';
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
  const failing = outcome.results.filter((result) => isFailing(result, unverified));
  const several = severalRuns(tasks);
  const errors = runErrorsOf(outcome.results).filter(({ isListed }) => !isListed);
  const missing = outcome.missing.slice(0, findingsMax).map((id) => cell(id));
  return [
    `### ${passed ? '✅' : '❌'} Agent runs: ${passed ? 'passed' : 'failed'}`,
    `${countsText(outcome)}.`,
    ...markdownList('Runs that ended in an error:', errors.map(runErrorLine), findingsMax),
    ...warningsOf(report).map((text) => `⚠ ${cell(text, warningChars)}`),
    ...(switchedOn.length === 0 ? [] : [`Switched on by expectations: ${switchedOn.map((one) => cell(switchedOnText(one))).join(', ')}.`]),
    ...markdownTable({ heads: tallyHeads, rows: tallies, write: tallyCells, numbers: (column) => column > 0 }),
    ...(several.length === 0
      ? []
      : markdownTable({ heads: taskHeads, rows: several, write: taskCells, numbers: (column) => column > 1, most: findingsMax })),
    ...(gates.length === 0 ? [] : [gates.map((gate) => `- ${gate.held ? '✅' : '❌'} ${cell(gateText(gate))}`).join('\n')]),
    ...(missing.length === 0 ? [] : [`Examples without a run: ${missing.join(', ')}`]),
    ...markdownList('Expectations without a score:', unverified.map(unverifiedText), findingsMax),
    ...markdownDetails(`${failing.length} ${failing.length === 1 ? 'run that did' : 'runs that did'} not pass`, {
      heads: ['run', 'agent', 'verdicts', 'not passed'],
      rows: failing,
      write: ({ item, verdicts }) => [
        item.label,
        item.run.trace.agent ?? '–',
        String(verdicts.length),
        {
          markdown: verdictCells(verdicts, false)
            .map((text) => cell(text))
            .join('<br>'),
        },
      ],
      numbers: (column) => column === 2,
      most: findingsMax,
    }),
    ...details('failed', findings(outcome.results, 'failed')),
    ...details('without a usable judge', findings(outcome.results, 'errors')),
  ].join('\n\n');
}

function details(what: string, found: readonly Finding[]): readonly string[] {
  return markdownDetails(`${found.length} ${what}`, {
    heads: ['run', 'evaluator', 'score', 'why'],
    rows: found,
    write: ({ label, name, verdict }) => [label, name, verdict.kind === 'scored' ? verdict.score.toFixed(3) : '', verdict.explanation],
    numbers: (column) => column === 2,
    most: findingsMax,
  });
}
