/** Where the runs behind an alert are in the console, and the unit of its figure. */
import type { AlertUnit } from '../../model/alert.ts';
import { timeText } from '../../model/timestamp.ts';
import type { AlertCondition } from './condition.ts';
import type { AlertFinding, AlertRule } from './finding.ts';

/** The window of a comparison of versions, which has none. */
const windowDefaultMs = 86_400_000;

/** A page of the console: runs that went wrong before `atMs` in the sense of the alert, and later ones. */
export function alertedRuns({ condition, tenant }: AlertRule, agent: string, finding: AlertFinding | undefined, atMs: number): string {
  const from = timeText(BigInt(Math.max(0, Math.floor(atMs - windowMs(condition)))) * 1_000_000n);
  const version = finding === undefined || finding.kind === 'no_data' ? undefined : finding.version;
  const query = Object.entries({
    ...(agent === '' ? {} : { agent }),
    ...(tenant === undefined ? {} : { tenant }),
    ...filterOf(condition),
    ...(version === undefined ? {} : { version }),
    from: `${from.slice(0, 19)}Z`,
  });
  return `/runs?${query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')}`;
}

function windowMs(condition: AlertCondition): number {
  if (condition.kind === 'burn_rate') return Math.max(...condition.windows.map(({ longMs }) => longMs));
  return 'overMs' in condition ? condition.overMs : windowDefaultMs;
}

function filterOf(condition: AlertCondition): { readonly [parameter: string]: string } {
  switch (condition.kind) {
    case 'worse_than_previous':
    case 'burn_rate':
      return { evaluator: condition.evaluator, verdict: 'fail' };
    case 'rate':
      return { evaluator: condition.evaluator, verdict: condition.side === '<' ? 'fail' : 'pass' };
    case 'status':
      return { status: condition.status };
    case 'duration':
      return { [condition.side === '>' ? 'min_duration' : 'max_duration']: String(condition.threshold / 1_000_000) };
    case 'per_run':
      return condition.what === 'cost' ? { [condition.side === '>' ? 'min_cost' : 'max_cost']: String(condition.threshold) } : {};
  }
}

export function unitOf(condition: AlertCondition): AlertUnit {
  if (condition.kind === 'burn_rate') return 'times';
  if (condition.kind === 'duration') return 'microseconds';
  if (condition.kind === 'per_run') return condition.what === 'cost' ? 'usd' : 'tokens';
  return 'share';
}
