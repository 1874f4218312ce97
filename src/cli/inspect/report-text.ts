/** The whole answer of `inspect` as text. */
import { columns } from '../usage.ts';
import type { InspectedRun, Report } from './inspected.ts';
import { oneLine } from './one-line.ts';
import type { LeftOut, Replayed } from './replay.ts';
import type { Recorded } from './recording.ts';
import { runLines } from './run-text.ts';
import { agentShares, type AgentShares } from './shares.ts';
import type { Share } from '../../pipeline/reporting/evaluability.ts';
import { moreLines, type Lacking } from './missing-data-text.ts';

/** Runs in full; the report counts the others. */
const runsMax = 200;
const rejectionsMax = 10;
const scopeMax = 100;

export function reportText({ recorded, replayed, runs }: Report): string {
  const left = runs.length - runsMax;
  const agents = agentShares(runs);
  return [
    ...headLines(recorded, replayed, runs),
    // An agent with one run needs no table: its run has the same content.
    ...(agents.some((one) => one.runs > 1) ? ['', ...sharesLines(agents)] : []),
    ...runs.slice(0, runsMax).flatMap((run) => ['', ...runLines(run)]),
    ...(left > 0 ? ['', `${left} more runs are not shown; --format json has all.`] : []),
  ].join('\n');
}

function headLines(
  { spans, records, recordsWithoutTrace, rejections }: Recorded,
  { spansByDialect, unrecognised, leftOut }: Replayed,
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
          'The input holds no agent run: no collector recognises an agent, a model call or a tool call in its spans. docs/reference/dialects.md lists the dialects.',
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

// Which share of each agent's runs every evaluator could score, as lines.

const agentsMax = 50;
const nameMax = 80;

function sharesLines(agents: readonly AgentShares[]): readonly string[] {
  const left = agents.length - agentsMax;
  return [
    'Of how many runs could each evaluator score? Runs that gave it nothing to check are left out.',
    ...agents.slice(0, agentsMax).flatMap((one) => ['', ...agentLines(one)]),
    ...(left > 0 ? ['', `${left} more agents are not shown; --format json has all.`] : []),
  ];
}

function agentLines({ agent, dialect, dialects, runs, shares, evaluability }: AgentShares): readonly string[] {
  const on = new Set(evaluability.filter((one) => one.on).map(({ name }) => name));
  // An evaluator that is off and waits for an expectation or options says nothing about the spans.
  const listed = shares
    .filter((share) => on.has(share.name) || share.scored + share.failed > 0 || share.skipped.some(({ need }) => need !== 'expectation'))
    .sort((a, b) => Number(on.has(b.name)) - Number(on.has(a.name)));
  const width = Math.max(0, ...listed.map(({ name }) => name.length));
  const shareWidth = Math.max(0, ...listed.map((share) => shareText(share).length));
  return [
    `  ${oneLine(agent, nameMax) || '(no agent name)'} (dialect ${dialect || 'unknown'}): ${runs} run${runs === 1 ? '' : 's'}`,
    ...listed.map((share) =>
      `    ${share.name.padEnd(width)}  ${on.has(share.name) ? 'on ' : 'off'}  ${shareText(share).padEnd(shareWidth)}  ${othersText(share)}`.trimEnd(),
    ),
    ...moreLines(evaluability.filter(isListed), { dialects, indent: '    ' }),
  ];
}

function isListed({ on, lack }: Lacking & { readonly on: boolean }): boolean {
  return on || (lack !== 'expectation' && lack !== 'options');
}

/** Runs that gave an evaluator nothing to check count for neither side. */
function shareText({ scored, looked, skipped }: Share): string {
  const idle = skipped.reduce((sum, { need, runs }) => sum + (need === '' ? runs : 0), 0);
  return looked === idle ? '–' : `${scored} of ${looked - idle} (${Math.floor((scored / (looked - idle)) * 100)} %)`;
}

function othersText({ skipped, failed }: Share): string {
  const lacking = skipped.filter(({ need }) => need !== '').map(({ reason, runs }) => `${reason} ${runs}`);
  const idle = skipped.filter(({ need }) => need === '').map(({ reason, runs }) => `${reason || 'skipped'} ${runs}`);
  const parts = [lacking.join(', '), failed > 0 ? `failed ${failed}` : '', idle.length === 0 ? '' : `nothing to check: ${idle.join(', ')}`];
  return parts.filter((part) => part !== '').join('; ');
}
