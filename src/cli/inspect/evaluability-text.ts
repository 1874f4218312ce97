/** What each evaluator makes of a run, as lines: its verdict, or why there is none and what to do about it. */
import { unreachable } from '../../model/ids.ts';
import { needTexts } from '../needs.ts';
import type { Evaluability } from './evaluability.ts';
import { oneLine } from './one-line.ts';

const explanationMax = 200;
const errorMax = 40;

export function evaluabilityLines(all: readonly Evaluability[]): readonly string[] {
  const width = Math.max(0, ...all.map(({ name }) => name.length));
  const answerWidth = Math.max(0, ...all.map((one) => answer(one).length));
  const hints = new Set(all.flatMap((one) => one.hints));
  return [
    ...all.map((one) => `    ${one.name.padEnd(width)}  ${one.on ? 'on ' : 'off'}  ${answer(one).padEnd(answerWidth)}  ${explanation(one)}`),
    ...(hints.size === 0 ? [] : ['', '  To score more']),
    ...[...hints].flatMap((hint) => [`    ${all.filter((one) => one.hints.includes(hint)).map(({ name }) => name).join(', ')}:`, `      ${hint}`]),
  ];
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

function explanation({ outcome, on, missing }: Evaluability): string {
  if (outcome.kind === 'would_ask') return on ? 'A judge is asked in the service; inspect asks none.' : 'It asks a judge: name one under judges in the configuration.';
  if (outcome.kind === 'filtered') return 'Its condition `when` leaves this run out.';
  const lacks = outcome.kind === 'skipped' && missing.length > 0 ? ` Missing: ${missing.map((need) => needTexts[need]).join(', ')}.` : '';
  return `${oneLine(outcome.explanation, explanationMax)}${lacks}`;
}
