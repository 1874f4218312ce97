/** Status of a run: an icon and words. A run that is ok has none. */
import type { Schemas } from '../api/client.ts';

const chips = {
  error: { kind: 'fail', icon: '✗', text: 'ended in an error', title: 'The spans state that the run ended in an error.' },
  paused: { kind: 'warn', icon: '‖', text: 'paused', title: 'The run waits for a person or another program.' },
} as const;

export function StatusChip({ status }: Pick<Schemas['Run'], 'status'>) {
  if (status === 'ok') return null;
  const { kind, icon, text, title } = chips[status];
  return (
    <span class={`chip ${kind}`} title={title}>
      <span aria-hidden="true">{icon}</span>
      <span>{text}</span>
    </span>
  );
}
