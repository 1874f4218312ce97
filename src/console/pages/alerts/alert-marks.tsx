/** The state of an alert as a chip, and what people have noted at it. */
import { timeText } from '../../parts/format.ts';
import { type Alert, stateChips } from './alert-text.ts';

export function StateChip({ state }: Pick<Alert, 'state'>) {
  const { kind, icon, text, title } = stateChips[state];
  return (
    <span class={`chip ${kind}`} title={title}>
      <span aria-hidden="true">{icon}</span>
      <span>{text}</span>
    </span>
  );
}

export function AlertNotes({ alert: { silence, acknowledged } }: { readonly alert: Pick<Alert, 'silence' | 'acknowledged'> }) {
  return (
    <>
      {silence === null ? null : (
        <div class="small">
          <strong>Silenced until {timeText(silence.until)}</strong> by {silence.by}
          {silence.all_agents ? ', for all agents' : ''}: {silence.reason}
        </div>
      )}
      {acknowledged === null ? null : (
        <div class="small">
          <strong>Acknowledged</strong> by {acknowledged.by}, {timeText(acknowledged.at)}
          {acknowledged.note === '' ? '' : `: ${acknowledged.note}`}
        </div>
      )}
    </>
  );
}
