/** Issues that are new in the time of the page, and those that have come back. */
import { useGet } from '../../api/use-api.ts';
import { pageAddress } from '../../parts/address.ts';
import { ErrorBox } from '../../parts/error-box.tsx';
import { countText, timeText } from '../../parts/format.ts';
import { IssueState } from '../issues/issue-state.tsx';
import { type Issue, issueAddress, versionsText } from '../issues/issue-text.ts';

const everyMs = 30_000;
/** The list of issues has the others. */
const shownMax = 5;
/** Issues that are read. */
const readMax = 50;

export function NewIssues({ since }: { readonly since: string }) {
  const { value, error, reload } = useGet('/issues', { query: { new_since: since, limit: readMax } }, { everyMs });
  if (error !== undefined) return <ErrorBox error={error} onRetry={reload} />;
  const issues = (value?.issues ?? []).filter(({ state }) => state === 'open' || state === 'regressed');
  if (issues.length === 0) return null;
  const ordered = issues.toSorted((one, other) => Number(other.state === 'regressed') - Number(one.state === 'regressed'));
  return (
    <section class="card stack" aria-labelledby="new-issues-title">
      <h2 id="new-issues-title">New issues</h2>
      <ul class="plain-list">
        {ordered.slice(0, shownMax).map((issue) => (
          <li key={issue.id}>
            <IssueState state={issue.state} />{' '}
            <a href={issueAddress(issue)}>
              <bdi>{issue.title}</bdi>
            </a>{' '}
            <span class="dim small">{newsText(issue)}</span>
          </li>
        ))}
      </ul>
      {issues.length <= shownMax && value?.next === null ? null : (
        <p>
          <a href={pageAddress('/issues', { new_since: since })}>Show all new issues.</a>
        </p>
      )}
    </section>
  );
}

function newsText(issue: Issue): string {
  const versions = versionsText(issue);
  const since = issue.state === 'regressed' ? `back since ${timeText(issue.changed_at)}` : `since ${timeText(issue.first_seen)}`;
  const of = issue.agent === null ? '' : ` of ${issue.agent}`;
  return `${countText(issue.runs)} ${issue.runs === 1 ? 'run' : 'runs'}${of}, ${since}${versions === '' ? '' : `, version ${versions}`}`;
}
