/** Writes the report as one HTML page to look at or to keep as an artifact of a CI job. */
import { htmlMore, htmlPage, htmlTable, htmlText } from '../../report/html.ts';
import { classOf, type NamedVerdict } from '../../library/report.ts';
import { plainText } from '../../model/json.ts';
import { oneLine, oneName } from '../../model/one-line.ts';
import { severalRuns, taskCells, taskHeads, type EvalResult } from './scoring.ts';
import {
  countsText,
  type EvalReport,
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

/** Failing runs with their verdicts, and rows of each other table: a page of some megabytes. */
const failingMax = 200;
const rowsMax = 1_000;
const nameChars = 600;
const textChars = 2_000;

export function htmlReport(report: EvalReport): string {
  const { outcome, tallies, gates, tasks, passed, switchedOn = [], unverified = [] } = report;
  const failing = outcome.results.filter((result) => isFailing(result, unverified));
  const others = outcome.results.filter((result) => !failing.includes(result));
  const errors = runErrorsOf(outcome.results).filter(({ isListed }) => !isListed);
  return htmlPage(`Agent runs: ${passed ? 'passed' : 'failed'}`, [
    `<h1>Agent runs: <span class="${passed ? 'passed' : 'failed'}">${passed ? 'passed' : 'failed'}</span></h1>`,
    `<p>${htmlText(countsText(outcome))}.</p>`,
    ...warningsOf(report).map((text) => `<p class="warning">⚠ ${htmlText(oneLine(text, textChars))}</p>`),
    htmlTable(tallyHeads, tallies.map(tallyCells)),
    list(
      'Gates',
      gates.map((gate) => `${gate.held ? '✓' : '✗'} ${gateText(gate)}`),
    ),
    list('Runs that ended in an error', errors.map(runErrorLine)),
    list('Switched on by expectations', switchedOn.map(switchedOnText)),
    list('Expectations without a score', unverified.map(unverifiedText)),
    list('Examples without a run', outcome.missing),
    htmlTable(taskHeads, severalRuns(tasks).slice(0, rowsMax).map(taskCells)),
    ...(failing.length === 0 ? [] : [`<h2>${failing.length} ${failing.length === 1 ? 'run that did' : 'runs that did'} not pass</h2>`]),
    ...failing.slice(0, failingMax).map(failingRun),
    htmlMore(failing.length, failingMax),
    otherRuns(others),
  ]);
}

function failingRun({ item, verdicts }: EvalResult): string {
  const { agent, input, finalResponse } = item.run.trace;
  const facts = [
    ['Agent', agent],
    ['Input', input],
    ['Answer', finalResponse === undefined ? undefined : plainText(finalResponse)],
  ] as const;
  return `<details open><summary dir="auto">${htmlText(oneName(item.label, nameChars))}</summary>
${facts.map(([word, text]) => (text === undefined || text === '' ? '' : `<p dir="auto">${word}: <bdi>${htmlText(oneLine(text, textChars))}</bdi></p>`)).join('')}
${htmlTable(['verdict', 'why'], verdicts.toSorted(worstFirst).map(verdictRow))}
</details>`;
}

const order = ['failed', 'errors', 'passed', 'raw', 'skipped'];

function worstFirst(one: NamedVerdict, other: NamedVerdict): number {
  return order.indexOf(classOf(one.verdict)) - order.indexOf(classOf(other.verdict));
}

function verdictRow(one: NamedVerdict): readonly [{ readonly html: string }, string] {
  const words = verdictCells([one], true).map(htmlText).join('');
  return [{ html: `<span class="${classOf(one.verdict)}">${words}</span>` }, oneLine(one.verdict.explanation, textChars)];
}

function otherRuns(results: readonly EvalResult[]): string {
  if (results.length === 0) return '';
  const rows = results
    .slice(0, rowsMax)
    .map(({ item, verdicts }) => [oneName(item.label, nameChars), verdictCells(verdicts, true).join(', ')]);
  return `<details><summary>${results.length} other ${results.length === 1 ? 'run' : 'runs'}</summary>${htmlTable(['run', 'verdicts'], rows)}${htmlMore(results.length, rowsMax)}</details>`;
}

function list(title: string, lines: readonly string[]): string {
  if (lines.length === 0) return '';
  const items = lines.slice(0, rowsMax).map((line) => `<li dir="auto">${htmlText(oneLine(line, textChars))}</li>`);
  return `<h2>${title}</h2>\n<ul>${items.join('\n')}</ul>${htmlMore(lines.length, rowsMax)}`;
}
