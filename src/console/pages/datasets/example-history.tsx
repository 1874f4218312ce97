/** All bodies that an example has had, newest first, each with what changed in it. */
import { useGet } from '../../api/use-api.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import { timeText } from '../../parts/format.ts';
import type { DatasetKey } from './dataset-key.ts';
import type { ExampleBody } from './example-members.ts';
import { memberDifferences } from './example-members.ts';
import { MemberChanges } from './member-changes.tsx';

export interface ExampleHistoryProps {
  readonly datasetKey: DatasetKey;
  readonly id: string;
  /** Puts an older body into the editor. */
  readonly onTake?: (body: ExampleBody) => void;
}

export function ExampleHistory({ datasetKey: { name, tenant }, id, onTake }: ExampleHistoryProps) {
  const { value, error, reload } = useGet('/datasets/{name}/examples/{id}/history', { path: { name, id }, query: { tenant, limit: 100 } });
  if (error !== undefined) return <ErrorBox error={error} onRetry={reload} />;
  const history = value?.history ?? [];
  if (history.length === 0) return null;
  return (
    <section class="stack" aria-label="History">
      <h3>History</h3>
      <ol class="history">
        {history.map((revision, at) => {
          const before = history[at + 1];
          const changes = before === undefined ? [] : memberDifferences(before.example, revision.example);
          return (
            <li key={revision.from}>
              <div class="row">
                <strong>Version {revision.from}</strong>
                <span class="dim">
                  {timeText(revision.at)} by {revision.by}
                  {revision.note === null ? '' : `: ${revision.note}`}
                </span>
                {at > 0 && onTake !== undefined ? (
                  <button type="button" onClick={() => onTake(revision.example)}>
                    Put into the editor
                  </button>
                ) : null}
              </div>
              {before === undefined ? null : <MemberChanges changes={changes} />}
            </li>
          );
        })}
      </ol>
    </section>
  );
}
