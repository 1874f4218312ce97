/** Writes the report of a replay as text. */
import {
  changesText,
  differenceText,
  examplesOf,
  goneLines,
  goneRuns,
  headline,
  isUnchanged,
  notesOf,
  rateText,
  sideText,
  writtenText,
  type ReplayReport,
} from './report.ts';
import type { EvaluatorResult } from './results.ts';
import { forecastText } from '../judge/forecast.ts';
import { runsText, thousands } from '../../report/text.ts';
import { oneLine } from '../../model/one-line.ts';

const agentChars = 60;

export function replayText(report: ReplayReport): string {
  const { results, forecast } = report;
  const unchanged = results.evaluators.filter(isUnchanged);
  return [
    headline(report),
    ...leftOut(report),
    ...results.evaluators.filter((one) => !isUnchanged(one)).flatMap((one) => ['', ...evaluatorLines(one)]),
    ...(unchanged.length === 0 ? [] : ['', 'As before on every run:', ...unchanged.map((one) => `  ${one.name}: ${rateText(one.after)}`)]),
    ...(forecast === undefined ? [] : ['', 'Judges a day, by the stored traffic:', ...forecastText(forecast).split('\n').map(indented)]),
    '',
    ...notesOf(report),
    ...(report.files.length === 0 ? [writtenText(report)] : []),
  ].join('\n');
}

function indented(line: string): string {
  return line === '' ? '' : `  ${line}`;
}

function leftOut({ results }: ReplayReport): readonly string[] {
  const lines = goneLines(results);
  if (lines.length === 0) return [];
  return [
    `${runsText(goneRuns(results))} left out of the rates:`,
    ...lines.map(
      ({ reason, runs, text, named }) => `  ${thousands(runs)} ${reason}: ${text} (${named.join(', ')}${runs > named.length ? ', …' : ''})`,
    ),
  ];
}

function evaluatorLines(one: EvaluatorResult): readonly string[] {
  const examples = examplesOf(one);
  return [
    `${one.name}${one.kind === null ? '' : ` (${one.kind})`}`,
    `  before      ${rateText(one.before)}`,
    `  after       ${rateText(one.after)}`,
    `  difference  ${differenceText(one)}`,
    `  ${changesText(one)}`,
    ...examples.flatMap(({ title, example }) => [
      `  ${title}  ${example.run}${example.agent === null ? '' : `  ${oneLine(example.agent, agentChars)}`}`,
      `    before  ${sideText(example.before)}`,
      `    after   ${sideText(example.after)}`,
    ]),
  ];
}
