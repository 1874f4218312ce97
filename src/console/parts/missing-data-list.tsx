/** Missing data in the spans of skipped runs, and the setting that supplies it. */
import { DocText } from './doc-text.tsx';
import { countText } from './format.ts';
import type { SkipReason } from './missing-data.ts';

export function MissingDataList({ reasons }: { readonly reasons: readonly SkipReason[] }) {
  return (
    <ul class="missing-data">
      {reasons.map(({ key, reason, dialect, missing, todo, runs, agents }) => (
        <li key={key}>
          <div>
            <strong>{missing === null ? 'Nothing to score' : `Missing: ${missing}`}</strong>{' '}
            <span class="dim">
              {countText(runs)} {runs === 1 ? 'run' : 'runs'} of {agents.slice(0, 3).join(', ')}
              {agents.length > 3 ? ` and ${agents.length - 3} more` : ''} (<code>{reason}</code>
              {dialect === '' ? '' : `, spans of ${dialect}`})
            </span>
          </div>
          {missing === null ? null : (
            <div>
              <span class="dim">What helps: </span>
              <DocText text={todo ?? 'No setting is known. The page docs/reference/evaluability.md lists the settings of each SDK.'} />
            </div>
          )}
        </li>
      ))}
    </ul>
  );
}
