/** Words for alerts. */
import type { Schemas } from '../../api/client.ts';
import { costText, countText, durationText, percentText, unknownText } from '../../parts/format.ts';

export type Alert = Schemas['Alert'];

export const stateChips = {
  firing: { kind: 'fail', icon: '✗', text: 'firing', title: 'The condition holds, or has not been away for long enough.' },
  pending: { kind: 'warn', icon: '…', text: 'pending', title: 'The condition holds, and not yet for as long as it must.' },
  ok: { kind: 'pass', icon: '✓', text: 'fine', title: 'The condition does not hold.' },
  no_data: { kind: '', icon: '?', text: 'not estimable', title: 'The figure cannot be estimated.' },
} as const;

const order = ['firing', 'pending', 'no_data', 'ok'] as const;

/** Those that fire first; within a state as the configuration has them. */
export function mostUrgentFirst(alerts: readonly Alert[]): readonly Alert[] {
  return alerts.toSorted((one, other) => order.indexOf(one.state) - order.indexOf(other.state));
}

/** A figure in its unit. */
export function figureText(value: number | null, unit: Alert['unit']): string {
  if (value === null) return unknownText;
  switch (unit) {
    case 'share':
      return value < 0 ? `−${percentText(-value)}` : percentText(value);
    case 'usd':
      return costText(value);
    case 'tokens':
      return countText(value);
    case 'microseconds':
      return durationText(value / 1_000_000);
    case 'times':
      return `${Number(value.toPrecision(3))} ×`;
  }
}

export function alertKey({ name, agent }: Pick<Alert, 'name' | 'agent'>): string {
  return `${name}/${agent ?? ''}`;
}

/** Choices of the time of a silence; the longest is the limit of the service. */
export const silenceChoices = [
  { value: '3600', title: '1 hour' },
  { value: '14400', title: '4 hours' },
  { value: '86400', title: '1 day' },
  { value: '604800', title: '7 days' },
  { value: '2592000', title: '30 days' },
] as const;
