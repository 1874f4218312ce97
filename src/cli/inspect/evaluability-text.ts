/** What each evaluator makes of a run, as lines: its verdict, or why there is none and what to do about it. */
import type { Need } from '../../../evaluators/evaluator.ts';
import { unreachable } from '../../model/ids.ts';
import { needTexts } from '../needs.ts';
import type { Evaluability } from './evaluability.ts';
import { moreLines, wrapped } from './missing-data-text.ts';
import { oneLine } from './one-line.ts';

const explanationMax = 200;
const errorMax = 40;

/** Evaluators that are on, and of the others those that look at the run; the rest is named in a few lines. */
export function evaluabilityLines(all: readonly Evaluability[], dialects: readonly string[]): readonly string[] {
  const unconfigured = all.filter(isUnconfigured);
  const unexpecting = all.filter((one) => !unconfigured.includes(one) && lacksExpectation(one));
  const told = all.filter((one) => !unconfigured.includes(one) && !unexpecting.includes(one)).sort((a, b) => Number(b.on) - Number(a.on));
  const more = moreLines(told, { dialects, indent: '  ' });
  const width = Math.max(0, ...told.map(({ name }) => name.length));
  const answerWidth = Math.max(0, ...told.map((one) => answer(one).length));
  return [
    '  Evaluators',
    ...told.map((one) =>
      `    ${one.name.padEnd(width)}  ${one.on ? 'on ' : 'off'}  ${answer(one).padEnd(answerWidth)}  ${explanation(one)}`.trimEnd(),
    ),
    ...namesLines('off; would score once `expect` or tracejury.expected says what is expected', unexpecting),
    ...namesLines('off; run only with options (tracejury evaluators NAME lists them)', unconfigured),
    ...(more.length === 0 ? [] : ['', ...more]),
  ];
}

function isUnconfigured({ on, outcome, lack }: Evaluability): boolean {
  return !on && (outcome.kind === 'needs_configuration' || lack === 'options');
}

function lacksExpectation({ on, lack }: Evaluability): boolean {
  return !on && lack === 'expectation';
}

function namesLines(what: string, some: readonly Evaluability[]): readonly string[] {
  return some.length === 0 ? [] : [`    ${what}:`, ...wrapped(some.map(({ name }) => name).join(', '), '      ')];
}

function answer({ outcome }: Evaluability): string {
  switch (outcome.kind) {
    case 'scored':
      return `${outcome.label === '' ? 'scored' : outcome.label} ${Number(outcome.score.toFixed(2))}`;
    case 'skipped':
      return `skipped: ${outcome.reason}`;
    case 'failed':
      return `failed: ${oneLine(outcome.error, errorMax)}`;
    case 'would_ask':
      return 'could score';
    case 'filtered':
      return 'filtered';
    case 'needs_configuration':
      return 'not configured';
    default:
      return unreachable(outcome);
  }
}

function explanation({ outcome, on, missing, lack, evaluator }: Evaluability): string {
  if (outcome.kind === 'would_ask' && evaluator.kind === 'http') return 'Its endpoint is asked in the service; inspect asks none.';
  if (outcome.kind === 'would_ask')
    return on ? 'A judge is asked in the service; inspect asks none.' : 'It asks a judge: name one under judges in the configuration.';
  if (outcome.kind === 'filtered') return 'Its condition `when` leaves this run out.';
  return [oneLine(outcome.explanation, explanationMax), ...(outcome.kind === 'skipped' ? [missingText(missing, lack)] : [])]
    .join(' ')
    .trimEnd();
}

/** The explanation has told what the evaluator met first; this tells what it would meet then. */
function missingText(missing: readonly Need[], lack: Evaluability['lack']): string {
  const others = missing.filter((need) => need !== lack);
  return others.length === 0
    ? ''
    : `${others.length === missing.length ? 'Missing' : 'Also missing'}: ${others.map((need) => needTexts[need]).join(', ')}.`;
}
