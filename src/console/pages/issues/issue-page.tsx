/** One issue: what fails, since when and where, what its runs have in common, and what to do about it. */
import { useState } from 'preact/hooks';
import type { GetAnswer, Schemas } from '../../api/client.ts';
import { type Loaded, useApi, useGet } from '../../api/use-api.ts';
import { useSend } from '../../api/use-send.ts';
import { pageAddress } from '../../parts/address.ts';
import { AnswerState } from '../../parts/answer-state.tsx';
import { useCopy } from '../../parts/copy.tsx';
import { type Column, DataTable } from '../../parts/data-table.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { Figure } from '../../parts/figure.tsx';
import { countText, timeText, unknownText } from '../../parts/format.ts';
import { KeepRuns } from '../../parts/keep-runs.tsx';
import { LineChart } from '../../parts/line-chart.tsx';
import { PageFrame } from '../../parts/page-frame.tsx';
import { useMay, useOwnName } from '../../parts/session.tsx';
import { Differences } from './differences.tsx';
import { Examples } from './examples.tsx';
import { decide, IgnoreDialog, MergeDialog, ResolveDialog } from './issue-dialogs.tsx';
import { IssueState } from './issue-state.tsx';
import { decisionText, type Difference, type Issue, type IssueAnswer, issueMarkdown, type IssueRun, seenText } from './issue-text.ts';
import './issue-page.css';

const examplesShown = 3;
/** Runs that the buttons keep. */
const keptMax = 50;

export function IssuePage({ params: { id = '' } }: { readonly params: { readonly [name: string]: string } }) {
  const found = useGet('/issues/{id}', { path: { id } });
  const compared = useGet('/issues/{id}/differences', { path: { id } });
  const { value, reload } = found;
  return (
    <PageFrame
      title={<bdi>{value?.issue.title ?? 'Issue'}</bdi>}
      actions={
        value === undefined ? undefined : (
          <Actions answer={value} differences={compared.value?.differences ?? noDifferences} onChanged={reload} />
        )
      }
    >
      <AnswerState of={found} what="the issue" />
      {value === undefined ? null : <IssueView answer={value} compared={compared} />}
    </PageFrame>
  );
}

const noDifferences: readonly Difference[] = [];

type Compared = GetAnswer<'/issues/{id}/differences'>;

interface IssueViewProps {
  readonly answer: IssueAnswer;
  readonly compared: Loaded<Compared>;
}

function IssueView({ answer: { issue, runs, versions }, compared }: IssueViewProps) {
  return (
    <>
      <p>
        <IssueState state={issue.state} /> <bdi>{seenText(issue)}</bdi>
      </p>
      <Decision issue={issue} />
      <Facts issue={issue} compared={compared.value} />
      <Examples issue={issue} runs={runs.slice(0, examplesShown)} />
      <OverTime issue={issue} versions={versions} />
      <Differences found={compared} />
      <RunLinks runs={runs} />
    </>
  );
}

function Decision({ issue }: { readonly issue: Issue }) {
  const text = decisionText(issue);
  if (text === '') return null;
  return (
    <div class={issue.state === 'regressed' ? 'box failed' : 'box'} role="status">
      <div class="text">
        <bdi>{text}</bdi>{' '}
        {issue.merged_into === null ? null : <a href={`/issues/${issue.merged_into}`}>Open the issue that has its runs.</a>}
        {issue.note === '' ? null : (
          <p class="dim">
            <bdi>{issue.note}</bdi>
          </p>
        )}
      </div>
    </div>
  );
}

interface FactsProps {
  readonly issue: Issue;
  readonly compared: Compared | undefined;
}

function Facts({ issue, compared }: FactsProps) {
  const address = pageAddress('/runs', {
    agent: issue.agent ?? undefined,
    evaluator: issue.evaluator,
    verdict: 'fail',
    tool: issue.tool ?? undefined,
    range: '30d',
  });
  return (
    <dl class="facts">
      <div>
        <dt>First seen</dt>
        <dd>{timeText(issue.first_seen)}</dd>
      </div>
      <div>
        <dt>Last seen</dt>
        <dd>{timeText(issue.last_seen)}</dd>
      </div>
      <div>
        <dt>Runs</dt>
        <dd>{countText(issue.runs)}</dd>
      </div>
      <div>
        <dt>Share of judged runs</dt>
        <dd>
          <Figure value={issue.share?.point} low={issue.share?.low} high={issue.share?.high} n={issue.share?.n} />
        </dd>
      </div>
      <div>
        <dt>Sessions of the last 14 days</dt>
        <dd>{issue.sessions === 0 ? unknownText : countText(issue.sessions)}</dd>
      </div>
      <Users issue={issue} compared={compared} />
      <div>
        <dt>Agent</dt>
        <dd>
          <bdi>{issue.agent ?? unknownText}</bdi>
        </dd>
      </div>
      <div>
        <dt>Evaluator</dt>
        <dd>
          <a href={address}>{issue.evaluator}</a>
        </dd>
      </div>
      {issue.tool === null ? null : (
        <div>
          <dt>Tool</dt>
          <dd>
            <bdi>{issue.tool}</bdi>
          </dd>
        </div>
      )}
    </dl>
  );
}

const usersShown = 5;

function Users({ issue, compared }: Pick<FactsProps, 'issue' | 'compared'>) {
  if (compared === undefined || compared.users === 0) return null;
  const most = compared.users_most.slice(0, usersShown);
  return (
    <div>
      <dt>Users of {countText(compared.runs)} runs of the last 14 days</dt>
      <dd>
        {countText(compared.users)}:{' '}
        {most.map(({ user, runs }, at) => (
          <span key={user}>
            {at === 0 ? '' : ', '}
            <a href={pageAddress('/runs', { user, issue: issue.id, range: '30d' })}>
              <bdi>{user}</bdi>
            </a>{' '}
            ({countText(runs)})
          </span>
        ))}
        {compared.users > most.length ? ' and more' : ''}
      </dd>
    </div>
  );
}

const dayMs = 86_400_000;

interface VersionRuns {
  readonly version: string | null;
  readonly runs: number;
  readonly firstSeen: string | undefined;
  /** The share of the runs that the evaluator passes. */
  readonly passes: Schemas['Estimate'] | undefined;
}

/** Newest versions without the failure. */
const otherVersionsMax = 3;

const columns: readonly Column<VersionRuns>[] = [
  { key: 'version', title: 'Version', cell: ({ version }) => <bdi>{version ?? 'no version'}</bdi> },
  { key: 'runs', title: 'Runs with the failure', isNumber: true, cell: ({ runs }) => countText(runs) },
  {
    key: 'passes',
    title: 'All runs that the evaluator passes',
    isNumber: true,
    cell: ({ passes }) => (
      <Figure value={passes?.point} low={passes?.low} high={passes?.high} n={passes?.n} why={passes?.not_estimable?.explanation} />
    ),
  },
  { key: 'first', title: 'Version first seen', cell: ({ firstSeen }) => timeText(firstSeen) },
];

function OverTime({ issue, versions }: { readonly issue: Issue; readonly versions: IssueAnswer['versions'] }) {
  const { value } = useGet(
    '/versions',
    { query: { tenant: issue.tenant, agent: issue.agent ?? undefined } },
    { isOff: issue.agent === null },
  );
  const today = Math.floor(Date.now() / dayMs) * dayMs;
  const times = issue.days.map((_, at) => new Date(today - (issue.days.length - 1 - at) * dayMs).toISOString());
  const releases = (value?.versions ?? [])
    .filter(({ version, first_seen: at }) => version !== null && Date.parse(at) >= Date.parse(times[0] ?? ''))
    .map(({ version, first_seen: at }) => ({ title: version ?? '', time: at }));
  const others = (value?.versions ?? [])
    .filter(({ version }) => versions.every((one) => one.version !== version))
    .slice(0, otherVersionsMax)
    .map(({ version }) => ({ version, runs: 0 }));
  return (
    <section class="stack" aria-labelledby="time-title">
      <h2 id="time-title">Runs over time</h2>
      <LineChart
        title="Runs with the failure by day (UTC)"
        times={times}
        series={[{ title: 'Runs', values: issue.days, text: countText }]}
        marks={releases}
      />
      <DataTable
        caption="Runs with the failure by version"
        columns={columns}
        rows={[...versions, ...others].map(({ version, runs }) => {
          const { first_seen: firstSeen, evaluators = [] } = value?.versions.find((one) => one.version === version) ?? {};
          return { version, runs, firstSeen, passes: evaluators.find(({ name }) => name === issue.evaluator)?.rate };
        })}
        rowKey={({ version }) => version ?? ''}
      />
    </section>
  );
}

function RunLinks({ runs }: { readonly runs: readonly IssueRun[] }) {
  if (runs.length <= examplesShown) return null;
  return (
    <details>
      <summary>The {countText(runs.length)} newest runs</summary>
      <ul class="run-links">
        {runs.map(({ tenant, trace_id: trace, span_id: span, started_at: at, version }) => (
          <li key={`${trace}/${span}`}>
            <a href={pageAddress(`/runs/${trace}/${span}`, { tenant })}>{timeText(at)}</a> <bdi class="dim">{version}</bdi>
          </li>
        ))}
      </ul>
    </details>
  );
}

interface ActionsProps {
  readonly answer: IssueAnswer;
  readonly differences: readonly Difference[];
  readonly onChanged: () => void;
}

function Actions({ answer: { issue, runs }, differences, onChanged }: ActionsProps) {
  const mayDecide = useMay('annotate');
  const api = useApi();
  const by = useOwnName();
  const copy = useCopy();
  const { isSending, error, send } = useSend();
  const [opened, setOpened] = useState<'resolve' | 'ignore' | 'merge'>();
  const close = (): void => setOpened(undefined);
  const done = (): void => {
    close();
    onChanged();
  };
  const isMerged = issue.state === 'merged';

  async function openAgain(): Promise<void> {
    if (await send(() => decide(api, [issue], { state: 'open', by }))) onChanged();
  }

  return (
    <>
      <KeepRuns runs={runs.slice(0, keptMax)} />
      {!mayDecide || isMerged ? null : (
        <>
          <button type="button" onClick={() => setOpened('resolve')}>
            Resolve …
          </button>
          <button type="button" onClick={() => setOpened('ignore')}>
            Ignore …
          </button>
          <button type="button" onClick={() => setOpened('merge')}>
            Merge …
          </button>
          {issue.state === 'open' ? null : (
            <button type="button" disabled={isSending} onClick={() => void openAgain()}>
              Open again
            </button>
          )}
        </>
      )}
      <button
        type="button"
        title="The issue as Markdown for a ticket"
        onClick={() => copy(issueMarkdown({ issue, runs, differences, origin: location.origin }), 'The text for a ticket')}
      >
        Copy as Markdown
      </button>
      {error === undefined ? null : <ErrorBox error={error} />}
      {opened === 'resolve' ? <ResolveDialog issues={[issue]} onClose={close} onDone={done} /> : null}
      {opened === 'ignore' ? <IgnoreDialog issues={[issue]} onClose={close} onDone={done} /> : null}
      {opened === 'merge' ? <MergeDialog issue={issue} onClose={close} onDone={done} /> : null}
    </>
  );
}
