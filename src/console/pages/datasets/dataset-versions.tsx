/** The versions of a dataset, and what changed between two of them. */
import type { Schemas } from '../../api/client.ts';
import { useList } from '../../api/use-api.ts';
import { pageAddress } from '../../parts/address.ts';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { countText, lineText, timeText } from '../../parts/format.ts';
import { Loading } from '../../parts/page-frame.tsx';
import { useAddress } from '../../parts/use-address.ts';
import type { DatasetKey } from './dataset-key.ts';
import { type ExampleBody, expectationText, inputText, memberDifferences } from './example-members.ts';
import { MemberChanges } from './member-changes.tsx';

type Version = Schemas['DatasetVersion'];

export interface DatasetVersionsProps {
  readonly datasetKey: DatasetKey;
  readonly newest: number;
}

export function DatasetVersions({ datasetKey: { name, tenant }, newest }: DatasetVersionsProps) {
  const { query, change } = useAddress();
  const list = useList('/datasets/{name}/versions', 'versions', { path: { name }, query: { tenant, limit: 100 } });
  const before = numberOf(query['before'], newest);
  const after = numberOf(query['after'], newest);
  const address = (version: number): string =>
    pageAddress(`/datasets/${name}`, { tenant, view: 'versions', before: String(version - 1), after: String(version) });
  const columns: readonly Column<Version>[] = [
    {
      key: 'version',
      title: 'Version',
      isNumber: true,
      cell: ({ version }) => <a href={pageAddress(`/datasets/${name}`, { tenant, version: String(version) })}>{version}</a>,
    },
    { key: 'at', title: 'Made', cell: ({ at }) => timeText(at) },
    { key: 'by', title: 'By', cell: ({ by }) => lineText(by, 60) },
    {
      key: 'changes',
      title: 'Changes',
      cell: ({ version, added, changed, removed }) => {
        const text = changesText({ added, changed, removed });
        return version === 1 ? text : <a href={address(version)}>{text}</a>;
      },
    },
    { key: 'examples', title: 'Examples', isNumber: true, cell: ({ examples }) => countText(examples) },
    { key: 'note', title: 'Why', cell: ({ note }) => lineText(note, 160), wraps: true },
  ];
  const choices = list.rows.map(({ version }) => version);
  const [chosenBefore, chosenAfter] = [before ?? Math.max(1, newest - 1), after ?? newest];
  return (
    <div class="stack">
      {list.error === undefined ? null : <ErrorBox error={list.error} onRetry={list.reload} />}
      {newest > 1 ? (
        <div class="row" role="group" aria-label="Compare two versions">
          <VersionChoice
            label="Changes since version"
            value={chosenBefore}
            versions={choices}
            onChange={(version) => change({ before: String(version), after: String(chosenAfter) })}
          />
          <VersionChoice
            label="to version"
            value={chosenAfter}
            versions={choices}
            onChange={(version) => change({ before: String(chosenBefore), after: String(version) })}
          />
          {before === undefined || after === undefined ? (
            <button type="button" onClick={() => change({ before: String(chosenBefore), after: String(chosenAfter) })}>
              Show
            </button>
          ) : (
            <button type="button" onClick={() => change({ before: undefined, after: undefined })}>
              Hide
            </button>
          )}
        </div>
      ) : null}
      {before !== undefined && after !== undefined ? <Difference datasetKey={{ name, tenant }} from={before} to={after} /> : null}
      {list.rows.length > 0 ? (
        <DataTable caption="Versions, newest first" columns={columns} rows={list.rows} rowKey={({ version }) => String(version)} />
      ) : list.isLoading ? (
        <Loading what="the versions" />
      ) : null}
      {list.hasMore ? (
        <div>
          <button type="button" disabled={list.isLoading} onClick={list.more}>
            Older versions
          </button>
        </div>
      ) : null}
    </div>
  );
}

interface VersionChoiceProps {
  readonly label: string;
  readonly value: number;
  readonly versions: readonly number[];
  readonly onChange: (version: number) => void;
}

function VersionChoice({ label, value, versions, onChange }: VersionChoiceProps) {
  return (
    <label>
      {label}{' '}
      <select value={String(value)} onChange={(event) => onChange(Number(event.currentTarget.value))}>
        {(versions.includes(value) ? versions : [value, ...versions]).map((version) => (
          <option key={version} value={String(version)}>
            {version}
          </option>
        ))}
      </select>
    </label>
  );
}

function numberOf(text: string | undefined, newest: number): number | undefined {
  const number = Number(text);
  return text !== undefined && Number.isInteger(number) && number >= 1 && number <= newest ? number : undefined;
}

export function changesText({ added, changed, removed }: Pick<Version, 'added' | 'changed' | 'removed'>): string {
  const parts = [
    ...(added === 0 ? [] : [`${countText(added)} added`]),
    ...(changed === 0 ? [] : [`${countText(changed)} changed`]),
    ...(removed === 0 ? [] : [`${countText(removed)} removed`]),
  ];
  return parts.length === 0 ? 'nothing' : parts.join(', ');
}

interface DifferenceProps {
  readonly datasetKey: DatasetKey;
  readonly from: number;
  readonly to: number;
}

const signs = { added: '+', changed: '~', removed: '−' } as const;
const kinds = { added: 'pass', changed: 'raw', removed: 'fail' } as const;

function Difference({ datasetKey: { name, tenant }, from, to }: DifferenceProps) {
  const { rows, error, isLoading, hasMore, more, reload } = useList('/datasets/{name}/diff', 'examples', {
    path: { name },
    query: { tenant, from, to, limit: 50 },
  });
  return (
    <section class="stack card" aria-label={`Changes from version ${from} to version ${to}`}>
      <h2>
        Version {from} → {to}
      </h2>
      {error === undefined ? null : <ErrorBox error={error} onRetry={reload} />}
      {rows.length === 0 ? (
        isLoading ? (
          <Loading what="the changes" />
        ) : error === undefined ? (
          <p class="dim">The examples are the same.</p>
        ) : null
      ) : null}
      <ul class="differences">
        {rows.map(({ id, change, before, after }) => (
          <li key={id} class="stack">
            <div class="row">
              <span class={`chip ${kinds[change]}`}>
                <span aria-hidden="true">{signs[change]}</span>
                {change}
              </span>
              <strong class="mono">{lineText(id, 120)}</strong>
            </div>
            {before !== null && after !== null ? (
              <MemberChanges changes={memberDifferences(before as ExampleBody, after as ExampleBody)} />
            ) : (
              <p>
                {lineText(inputText((after ?? before)?.input), 300)}{' '}
                <span class="dim">{lineText(expectationText((after ?? before ?? {}) as ExampleBody), 300)}</span>
              </p>
            )}
          </li>
        ))}
      </ul>
      {hasMore ? (
        <div>
          <button type="button" disabled={isLoading} onClick={more}>
            More changes
          </button>
        </div>
      ) : null}
    </section>
  );
}
