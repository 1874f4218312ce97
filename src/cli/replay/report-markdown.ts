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
  sideText,
  writtenText,
  type ReplayReport,
} from './report.ts';
import { cell, markdownDetails, markdownTable } from '../../report/markdown.ts';
import { runsText, thousands } from '../../report/text.ts';
import { forecastText } from '../judge/forecast.ts';

export function replayMarkdown(report: ReplayReport): string {
  const { results, forecast } = report;
  return [
    `### ${results.isWorse ? '❌' : '✅'} Replay: ${results.isWorse ? `${results.evaluators.filter(({ word }) => word === 'worse').length} ${resultTexts.worse}` : 'no evaluator is shown to be worse'}`,
    cell(headline(report), 1_000),
    ...leftOut(report),
    ...markdownTable({
      heads: ['evaluator', 'before', 'after', 'difference', 'verdicts'],
      rows: results.evaluators,
      write: (one) => [one.name, rateText(one.before), rateText(one.after), differenceText(one), changesText(one)],
    }),
    ...markdownDetails('Examples', {
      heads: ['evaluator', 'change', 'run', 'before', 'after'],
      rows: results.evaluators.flatMap((one) => examplesOf(one).map((found) => ({ name: one.name, ...found }))),
      write: ({ name, title, example }) => [
        name,
        title,
        { markdown: `\`${example.run}\`` },
        sideText(example.before),
        sideText(example.after),
      ],
    }),
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
      `${runsText(goneRuns(results))} left out of the rates:`,
      '',
      ...lines.map(
        ({ reason, runs, text, named }) =>
          `- ${thousands(runs)} ${cell(reason)}: ${cell(text)} (${named.map((name) => `\`${name}\``).join(', ')}${runs > named.length ? ', …' : ''})`,
      ),
    ].join('\n'),
  ];
}
