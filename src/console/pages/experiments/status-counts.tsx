/** Counts of an experiment's results by status. Statuses without a result are left out. */
import type { Schemas } from '../../api/client.ts';
import { countText } from '../../parts/format.ts';

type Statuses = Schemas['Experiment']['statuses'];

const words = [
  ['failed', 'fail', '✗', 'failed'],
  ['error', 'error', '!', 'without a usable judge'],
  ['passed', 'pass', '✓', 'passed'],
  ['skipped', 'skipped', '○', 'without a score'],
] as const;

export function StatusCounts({ statuses }: { readonly statuses: Statuses }) {
  const known = words.filter(([status]) => statuses[status] > 0);
  if (known.length === 0) return <span class="dim">none yet</span>;
  return (
    <span class="row">
      {known.map(([status, kind, icon, word]) => (
        <span key={status} class={`chip ${kind}`}>
          <span aria-hidden="true">{icon}</span>
          <span>
            {countText(statuses[status])} {word}
          </span>
        </span>
      ))}
    </span>
  );
}
