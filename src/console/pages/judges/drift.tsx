/** Drift of judges on their fixed sets of runs: the word, the change, and each measurement. */
import type { Schemas } from '../../api/client.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { pointsText, pText } from '../../parts/estimate.ts';
import { countText, timeText, unknownText } from '../../parts/format.ts';
import { RateCell } from '../../parts/rate-cell.tsx';

type Drift = Schemas['Drift'];
type Measurement = Schemas['DriftLook'];

export function DriftSection({ drift }: { readonly drift: readonly Drift[] }) {
  return (
    <section class="stack">
      <h2>Drift on the fixed sets</h2>
      {drift.length === 0 ? (
        <p class="dim">
          No evaluator has a fixed set. With <code>drift</code> in its entry the service asks the judge about the same runs again and again,
          and says when its verdicts change.
        </p>
      ) : (
        drift.map((one) => <DriftCard key={one.name} drift={one} />)
      )}
    </section>
  );
}

const words: { readonly [word in Drift['shown']]: { readonly chip: string; readonly text: string } } = {
  no_change_shown: { chip: 'chip', text: '○ no change shown' },
  passes_more: { chip: 'chip warn', text: '! passes more than at the baseline' },
  passes_less: { chip: 'chip warn', text: '! passes less than at the baseline' },
};

function DriftCard({ drift: { name, model, version, threshold, baseline, shown, looks } }: { readonly drift: Drift }) {
  const { chip, text } = words[shown];
  return (
    <div class="card stack">
      <div class="row">
        <h3>{name}</h3>
        <span class={chip}>{text}</span>
        <span class="dim">
          {model}, version {version}
          {threshold === null ? '' : `, threshold ${threshold}`}
        </span>
      </div>
      <p class="dim">
        Baseline {baseline.number} of {timeText(baseline.began_at)}
        {baseline.because.length === 0 ? '' : `, begun for ${baseline.because.join(', ')}`}.
      </p>
      <DataTable
        caption={`Measurements of ${name}, newest first`}
        columns={columns}
        rows={looks}
        rowKey={({ baseline: of, look }) => `${of} ${look}`}
      />
    </div>
  );
}

const states: { readonly [state in Measurement['state']]: string } = {
  open: 'in progress',
  kept: 'counts',
  unfinished: 'too few verdicts',
};

const columns: readonly Column<Measurement>[] = [
  { key: 'at', title: 'Begun', cell: ({ began_at: at }) => timeText(at) },
  {
    key: 'number',
    title: 'Measurement',
    cell: ({ baseline, look }) => (look === 0 ? `baseline ${baseline}` : `${look} against baseline ${baseline}`),
  },
  { key: 'state', title: 'State', cell: ({ state }) => states[state] },
  { key: 'runs', title: 'Runs', isNumber: true, cell: ({ runs }) => countText(runs) },
  { key: 'passed', title: 'Passed', isNumber: true, cell: ({ passed }) => countText(passed) },
  { key: 'failed', title: 'Failed', isNumber: true, cell: ({ failed }) => countText(failed) },
  { key: 'without', title: 'No verdict', isNumber: true, cell: ({ without }) => countText(without) },
  { key: 'to_pass', title: 'Fail → pass', isNumber: true, cell: ({ to_pass: runs }) => countText(runs) },
  { key: 'to_fail', title: 'Pass → fail', isNumber: true, cell: ({ to_fail: runs }) => countText(runs) },
  {
    key: 'change',
    title: 'Change of the pass rate',
    cell: ({ change }) => <RateCell estimate={change} text={pointsText} min={-0.5} max={0.5} mark={0} />,
  },
  {
    key: 'p',
    title: 'p',
    isNumber: true,
    cell: ({ p, level }) => (p === null ? unknownText : `${pText(p)} (shown below ${pText(level)})`),
  },
];
