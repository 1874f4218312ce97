/** Writes the report of a replay as Markdown, for a comment on a pull request. */
import {
  changesText,
  differenceText,
  examplesOf,
  goneLines,
  goneRuns,
  headline,
  notesOf,
  rateText,
  resultTexts,
  runsText,
  sideText,
  whole,
  writtenText,
  type ReplayReport,
} from './report.ts';
import { cell } from '../../analytics/reports/markdown-cell.ts';
import { forecastText } from '../judge/forecast.ts';

export function replayMarkdown(report: ReplayReport): string {
  const { results, forecast } = report;
  const rows = results.evaluators.map(
    (one) =>
      `| ${cell(one.name)} | ${cell(rateText(one.before))} | ${cell(rateText(one.after))} | ${cell(differenceText(one))} | ${cell(changesText(one))} |`,
  );
  return [
    `### ${results.isWorse ? '❌' : '✅'} Replay: ${results.isWorse ? `${results.evaluators.filter(({ word }) => word === 'worse').length} ${resultTexts.worse}` : 'no evaluator is shown to be worse'}`,
    cell(headline(report), 1_000),
    ...leftOut(report),
    ['| evaluator | before | after | difference | verdicts |', '|---|---|---|---|---|', ...rows].join('\n'),
    ...examples(report),
    ...(forecast === undefined ? [] : [`Judges a day, by the stored traffic:\n\n\`\`\`text\n${forecastText(forecast)}\n\`\`\``]),
    ...notesOf(report).map((text) => cell(text, 1_000)),
    ...(report.files.length === 0 ? [writtenText(report)] : []),
  ].join('\n\n');
}

function leftOut({ results }: ReplayReport): readonly string[] {
  const lines = goneLines(results);
  if (lines.length === 0) return [];
  return [
    [
      `${runsText(goneRuns(results))} left out, of which the rates say nothing:`,
      '',
      ...lines.map(
        ({ reason, runs, text, named }) =>
          `- ${whole(runs)} ${cell(reason)}: ${cell(text)} (${named.map((name) => `\`${name}\``).join(', ')}${runs > named.length ? ', …' : ''})`,
      ),
    ].join('\n'),
  ];
}

function examples({ results }: ReplayReport): readonly string[] {
  const rows = results.evaluators.flatMap((one) =>
    examplesOf(one).map(
      ({ title, example }) =>
        `| ${cell(one.name)} | ${cell(title)} | \`${example.run}\` | ${cell(sideText(example.before))} | ${cell(sideText(example.after))} |`,
    ),
  );
  if (rows.length === 0) return [];
  return [
    [
      '<details><summary>Examples</summary>',
      ['| evaluator | change | run | before | after |', '|---|---|---|---|---|', ...rows].join('\n'),
      '</details>',
    ].join('\n\n'),
  ];
}
