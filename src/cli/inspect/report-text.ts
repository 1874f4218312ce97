/** The whole answer of `inspect` as text. */
import { columns } from '../usage.ts';
import type { InspectedRun, Report } from './inspected.ts';
import { oneLine } from './one-line.ts';
import type { LeftOut, Played } from './replay.ts';
import type { Recorded } from './recording.ts';
import { runLines } from './run-text.ts';
import { agentShares } from './shares.ts';
import { sharesLines } from './shares-text.ts';

/** Runs told in full; the others are only counted. */
const runsMax = 200;
const rejectionsMax = 10;
const scopeMax = 100;

export function reportText({ recorded, played, runs }: Report): string {
  const left = runs.length - runsMax;
  const agents = agentShares(runs);
  return [
    ...headLines(recorded, played, runs),
    // Of an agent with one run the lines of that run tell the same.
    ...(agents.some((one) => one.runs > 1) ? ['', ...sharesLines(agents)] : []),
    ...runs.slice(0, runsMax).flatMap((run) => ['', ...runLines(run)]),
    ...(left > 0 ? ['', `${left} more runs are not shown; --format json has all.`] : []),
  ].join('\n');
}

function headLines(
  { spans, records, recordsWithoutTrace, rejections }: Recorded,
  { spansByDialect, unrecognised, leftOut }: Played,
  runs: readonly InspectedRun[],
): readonly string[] {
  const traces = new Set(spans.map(({ traceId }) => traceId)).size;
  const total = countOf(runs);
  return [
    `${many(total, 'agent run')} in ${many(spans.length, 'span')} of ${many(traces, 'trace')}, ${many(records.length, 'log record')}.`,
    ...columns([...spansByDialect].map(([id, count]) => [id, many(count, 'span')] as const)),
    ...(unrecognised.spans === 0
      ? []
      : [
          `${many(unrecognised.spans, 'span')} ${unrecognised.spans === 1 ? 'was' : 'were'} recognised by no collector, and read only for ${unrecognised.spans === 1 ? 'its place' : 'their places'} in the trace. Scopes:`,
          ...columns(
            unrecognised.scopes.map(({ scope, spans: count }) => [oneLine(scope, scopeMax) || '(no name)', many(count, 'span')] as const),
          ),
        ]),
    ...(recordsWithoutTrace === 0
      ? []
      : [`${many(recordsWithoutTrace, 'log record')} without a trace id ${recordsWithoutTrace === 1 ? 'was' : 'were'} left out.`]),
    ...leftOut.map(leftOutLine),
    ...rejections
      .slice(0, rejectionsMax)
      .map(({ where, reason, count, example }) => `${where}: ${count} could not be taken (${reason}): ${oneLine(example, scopeMax)}`),
    ...(rejections.length > rejectionsMax ? [`… and ${rejections.length - rejectionsMax} more kinds of rejection.`] : []),
    ...(total > 0
      ? []
      : [
          '',
          'There is no agent run in it: no span tells of an agent, a model call or a tool call in a form that is read. docs/reference/dialects.md lists the forms.',
        ]),
  ];
}

function leftOutLine({ reason, meaning, count }: LeftOut): string {
  return `${count} × ${meaning}${reason === '' ? '' : ` (${reason})`}`;
}

function countOf(runs: readonly InspectedRun[]): number {
  return runs.reduce((sum, { subRuns }) => sum + 1 + countOf(subRuns), 0);
}

function many(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
