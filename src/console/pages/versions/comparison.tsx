/** Two versions beside each other: each evaluator's rates, their difference, and what it shows. */
import type { Schemas } from '../../api/client.ts';
import { pageAddress } from '../../parts/address.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { pointsText, pText } from '../../parts/estimate.ts';
import { percentText } from '../../parts/format.ts';
import { RateCell } from '../../parts/rate-cell.tsx';
import { useAddress } from '../../parts/use-address.ts';

type Compared = Schemas['ComparedEvaluator'];
type Version = Schemas['Version'];

export interface ComparisonProps {
  readonly agent: string;
  readonly versions: readonly Version[];
  /** Null with fewer than two versions. */
  readonly comparison: Schemas['VersionComparison'] | null;
}

export function ComparisonSection({ agent, versions, comparison }: ComparisonProps) {
  const { query, change } = useAddress();
  const names = versions.flatMap(({ version }) => version ?? []);
  if (names.length < 2)
    return (
      <section class="stack">
        <h2>Comparison</h2>
        <p class="dim">
          This agent has {names.length === 0 ? 'no version' : 'one version'}. As soon as runs of another version come, this place says
          whether it is better. The version is the resource attribute <code>service.version</code>, or what <code>groups.version_key</code>{' '}
          names.
        </p>
      </section>
    );
  const [version, against] = [comparison?.version ?? query['version'] ?? '', comparison?.against ?? query['against'] ?? ''];
  return (
    <section class="stack">
      <div class="row">
        <h2>Comparison</h2>
        <VersionSelect title="Version" names={names} value={version} onChange={(name) => change({ version: name, against })} />
        <VersionSelect title="against" names={names} value={against} onChange={(name) => change({ version, against: name })} />
      </div>
      {comparison === null ? (
        <p class="dim">Choose two different versions.</p>
      ) : (
        <>
          <p>{sentenceOf(comparison)}</p>
          <DataTable
            name="version-comparison"
            caption={`${version} compared with ${against}`}
            columns={columnsOf(agent, comparison)}
            rows={worstFirst(comparison.evaluators)}
            rowKey={({ name }) => name}
            href={({ name }) => runsOf(agent, comparison.version, name)}
          />
          <p class="dim small">
            The intervals hold with {percentText(comparison.confidence)} confidence at all looks together, so look as often as you like. The
            overview compares two periods at 95 % for a single look, and names a change earlier. “No difference shown” does not mean equal:
            the interval says how large a difference may still hide.
          </p>
        </>
      )}
    </section>
  );
}

interface SelectProps {
  readonly title: string;
  readonly names: readonly string[];
  readonly value: string;
  readonly onChange: (name: string) => void;
}

function VersionSelect({ title, names, value, onChange }: SelectProps) {
  return (
    <label>
      {title}{' '}
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        {names.includes(value) ? null : <option value={value}>{value === '' ? 'choose' : value}</option>}
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

const words: { readonly [word in Compared['word']]: { readonly chip: string; readonly text: string; readonly order: number } } = {
  worse: { chip: 'chip fail', text: '✗ worse', order: 0 },
  better: { chip: 'chip pass', text: '✓ better', order: 1 },
  no_difference_shown: { chip: 'chip', text: '○ no difference shown', order: 2 },
  not_estimable: { chip: 'chip', text: '– no comparison', order: 3 },
};

function worstFirst(evaluators: readonly Compared[]): readonly Compared[] {
  return evaluators.toSorted(
    (one, other) => words[one.word].order - words[other.word].order || (one.difference.point ?? 2) - (other.difference.point ?? 2),
  );
}

function sentenceOf({ version, against, evaluators }: Schemas['VersionComparison']): string {
  const names = (word: Compared['word']): string =>
    evaluators
      .filter((one) => one.word === word)
      .map(({ name }) => name)
      .join(', ');
  const [worse, better] = [names('worse'), names('better')];
  if (worse === '' && better === '')
    return evaluators.every(({ word }) => word === 'not_estimable')
      ? `Nothing compares ${version} with ${against} yet: ${evaluators[0]?.difference.not_estimable?.explanation ?? 'no evaluator has verdicts on both.'}`
      : `No evaluator shows a difference between ${version} and ${against}.`;
  return [
    worse === '' ? '' : `${version} is worse than ${against} by ${worse}.`,
    better === '' ? '' : `${version} is better than ${against} by ${better}.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

function runsOf(agent: string, version: string, evaluator: string): string {
  return pageAddress('/runs', { range: '30d', agent, version, evaluator });
}

function tasksText({ tasks, left_out: leftOut }: Compared): string {
  const left = leftOut < 0.005 ? '' : ` (${percentText(leftOut)} of the verdicts left out)`;
  return tasks === 0 && left === '' ? '–' : `${tasks}${left}`;
}

function columnsOf(agent: string, { version, against }: Schemas['VersionComparison']): readonly Column<Compared>[] {
  return [
    { key: 'name', title: 'Evaluator', cell: ({ name }) => <a href={runsOf(agent, version, name)}>{name}</a> },
    { key: 'word', title: 'Shown', cell: ({ word }) => <span class={words[word].chip}>{words[word].text}</span> },
    {
      key: 'difference',
      title: 'Difference',
      cell: ({ difference }) => <RateCell estimate={difference} text={pointsText} min={-0.5} max={0.5} mark={0} />,
    },
    { key: 'version', title: version, cell: ({ version: rate }) => <RateCell estimate={rate} /> },
    { key: 'against', title: against, cell: ({ against: rate }) => <RateCell estimate={rate} /> },
    { key: 'p', title: 'p', from: 'medium', isNumber: true, cell: ({ p }) => pText(p) },
    { key: 'tasks', title: 'Tasks', from: 'wide', isNumber: true, cell: tasksText },
    {
      key: 'session',
      title: 'Runs a session',
      from: 'wide',
      isNumber: true,
      cell: ({ session_runs: runs }) => (runs === 1 ? '–' : runs.toFixed(1)),
    },
  ];
}
