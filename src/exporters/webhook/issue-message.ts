/** Builds the message of a webhook about issues. The same changes of the same issues give the same message. */
import { hash } from 'node:crypto';
import type { IssueNotice, NotifiedIssue } from '../../model/issue-notice.ts';
import { timeOf } from '../../model/resource.ts';
import { inTurns } from '../../model/shares.ts';
import type { IssueNoticeKind } from '../../model/store/issue-store.ts';
import { cutText } from '../delivery/export-outcome.ts';
import type { MessageSettings } from '../settings.ts';
import { plain } from './webhook-message.ts';

/** The message counts further ones. */
export const issuesListedMax = 10;
const textCharsMax = 2_000;

export function issueMessageType(kind: IssueNoticeKind): string {
  return `tracejury.issue_${kind}`;
}

export function issueMessage(
  { kind, issues }: IssueNotice,
  { body, console }: Pick<MessageSettings, 'body' | 'console'>,
): { readonly id: string; readonly body: string } {
  const keys = issues.map((one) => `${one.id} ${one.changedAt}`).toSorted();
  const id = `msg_${hash('sha256', JSON.stringify([kind, ...keys]), 'hex').slice(0, 32)}`;
  const ordered = inTurns(issues, ({ tenant }) => tenant);
  const [listed, folded] = [ordered.slice(0, issuesListedMax), ordered.length - issuesListedMax];
  const link = (issue: NotifiedIssue): string | undefined => linkOf(issue, console);
  return {
    id,
    body: JSON.stringify(
      body === 'slack'
        ? { text: slackText(kind, { listed, folded, link }), unfurl_links: false, unfurl_media: false }
        : {
            type: issueMessageType(kind),
            timestamp: timeOf(Math.max(...issues.map(({ at }) => at))),
            data: {
              issues: listed.map((issue) => issueJson(issue, link(issue))),
              ...(folded > 0 ? { folded: { issues: folded } } : {}),
            },
          },
    ),
  };
}

function issueJson(issue: NotifiedIssue, link: string | undefined): object {
  const { fix } = issue;
  const orNull = (text: string): string | null => (text === '' ? null : cutText(text, textCharsMax));
  return {
    id: issue.id,
    title: cutText(issue.title, textCharsMax),
    tenant: issue.tenant,
    agent: orNull(issue.agent),
    evaluator: issue.name,
    tool: orNull(issue.tool),
    signature: cutText(issue.signature, textCharsMax),
    state: issue.state,
    changed_at: timeOf(issue.changedAt),
    changed_by: orNull(issue.by),
    note: cutText(issue.note, textCharsMax),
    fixed_in: fix?.in === 'version' ? fix.version : (fix?.in ?? null),
    runs: issue.runs,
    first_seen: timeOf(issue.firstAt),
    last_seen: timeOf(issue.lastAt),
    first_version: orNull(issue.firstVersion),
    last_version: orNull(issue.lastVersion),
    ...(link === undefined ? {} : { link }),
  };
}

const slackHeads: { readonly [kind in IssueNoticeKind]: string } = {
  new: 'New issue',
  regressed: 'Issue has come back',
  resolved: 'Issue is resolved',
};

interface SlackIssues {
  readonly listed: readonly NotifiedIssue[];
  readonly folded: number;
  readonly link: (issue: NotifiedIssue) => string | undefined;
}

function slackText(kind: IssueNoticeKind, { listed, folded, link }: SlackIssues): string {
  return [
    ...listed.flatMap((issue) => {
      const [place, title] = [link(issue), plain(issue.title)];
      return [
        `*${slackHeads[kind]}* of ${plain(issue.agent === '' ? 'runs without an agent' : issue.agent)}: ${place === undefined ? title : `<${place}|${title}>`}`,
        slackDetails(kind, issue),
      ];
    }),
    ...(folded > 0 ? [`and ${folded} more ${folded === 1 ? 'issue' : 'issues'}`] : []),
  ].join('\n');
}

function slackDetails(kind: IssueNoticeKind, { by, note, fix, runs, firstVersion, lastVersion }: NotifiedIssue): string {
  const version = (text: string): string => (text === '' ? '' : ` in version ${plain(text)}`);
  const count = `${runs} ${runs === 1 ? 'run' : 'runs'}`;
  if (kind === 'new') return `${count}, first${version(firstVersion)}`.replace(/, first$/, '');
  if (kind === 'regressed') return `${count}, last${version(lastVersion)}`.replace(/, last$/, '');
  return `${plain(by)}${fix?.in === 'version' ? `, fixed${version(fix.version)}` : ''}${note === '' ? '' : `: ${plain(note)}`}`;
}

/** The issue in the console. */
function linkOf({ id, tenant }: NotifiedIssue, console: string | undefined): string | undefined {
  return console === undefined ? undefined : `${console}/issues/${id}${tenant === '' ? '' : `?tenant=${encodeURIComponent(tenant)}`}`;
}
