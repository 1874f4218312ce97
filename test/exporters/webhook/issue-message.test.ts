/** Messages of webhooks about issues. */
import { expect, test } from 'vitest';
import { issueMessage, issuesListedMax } from '../../../src/exporters/webhook/issue-message.ts';
import { noTenant, tenant } from '../../../src/model/ids.ts';
import type { IssueNotice, NotifiedIssue } from '../../../src/model/issue-notice.ts';

const issue: NotifiedIssue = {
  id: '0123456789ab',
  tenant: noTenant,
  agent: 'support',
  name: 'tool_error',
  tool: 'refund',
  signature: 'timeout',
  title: 'refund: timeout',
  state: 'regressed',
  changedAt: 1_700_000_000_000_000,
  at: 1_700_000_005_000_000,
  by: '',
  note: 'pool doubled',
  fix: { in: 'version', version: '1.3' },
  runs: 3,
  dayRuns: 0,
  weekRuns: 0,
  sessions: 0,
  firstAt: 1_600_000_000_000_000,
  lastAt: 1_700_000_000_000_000,
  firstVersion: '1.2',
  lastVersion: '',
  isTold: true,
};
const console = 'https://jury.example.org';
const many: readonly NotifiedIssue[] = Array.from({ length: issuesListedMax + 2 }, (_, at) => ({
  ...issue,
  id: `${at}`.padStart(12, '0'),
}));
const bodyOf = (notice: IssueNotice, body: 'json' | 'slack', address?: string): unknown =>
  JSON.parse(issueMessage(notice, { body, ...(address === undefined ? {} : { console: address }) }).body);

test('issue message: JSON for programs has every field, unknown ones as null', () => {
  expect(bodyOf({ kind: 'regressed', issues: [issue] }, 'json', console)).toEqual({
    type: 'tracejury.issue_regressed',
    timestamp: '2023-11-14T22:13:25.000000Z',
    data: {
      issues: [
        {
          id: '0123456789ab',
          title: 'refund: timeout',
          tenant: '',
          agent: 'support',
          evaluator: 'tool_error',
          tool: 'refund',
          signature: 'timeout',
          state: 'regressed',
          changed_at: '2023-11-14T22:13:20.000000Z',
          changed_by: null,
          note: 'pool doubled',
          fixed_in: '1.3',
          runs: 3,
          first_seen: '2020-09-13T12:26:40.000000Z',
          last_seen: '2023-11-14T22:13:20.000000Z',
          first_version: '1.2',
          last_version: null,
          link: `${console}/issues/0123456789ab`,
        },
      ],
    },
  });
});

test.each<{ readonly kind: IssueNotice['kind']; readonly of?: Partial<NotifiedIssue>; readonly text: string }>([
  { kind: 'new', text: '*New issue* of support: refund: timeout\n3 runs, first in version 1.2' },
  { kind: 'new', of: { runs: 1, firstVersion: '' }, text: '*New issue* of support: refund: timeout\n1 run' },
  { kind: 'regressed', of: { lastVersion: '1.4' }, text: '*Issue has come back* of support: refund: timeout\n3 runs, last in version 1.4' },
  {
    kind: 'resolved',
    of: { by: '<@ann>', agent: '' },
    text: '*Issue is resolved* of runs without an agent: refund: timeout\n&lt;@ann&gt;, fixed in version 1.3: pool doubled',
  },
])('issue message: text for a channel, $text', ({ kind, of, text }) => {
  expect(bodyOf({ kind, issues: [{ ...issue, ...of }] }, 'slack')).toEqual({ text, unfurl_links: false, unfurl_media: false });
});

test('issue message: lists the first issues of each tenant and counts the others', () => {
  const own = { ...issue, id: 'ffffffffffff', tenant: tenant('acme') };
  const { data } = bodyOf({ kind: 'new', issues: [...many, own] }, 'json', console) as {
    readonly data: { readonly issues: readonly { readonly id: string; readonly link: string }[]; readonly folded: unknown };
  };
  expect(data.issues).toHaveLength(issuesListedMax);
  expect(data.issues.find(({ id }) => id === own.id)?.link).toBe(`${console}/issues/ffffffffffff?tenant=acme`);
  expect(data.folded).toEqual({ issues: 3 });
  expect((bodyOf({ kind: 'new', issues: many }, 'slack') as { readonly text: string }).text).toMatch(/\nand 2 more issues$/);
});

test('issue message: the same changes have the same id, and others another one', () => {
  const id = (notice: IssueNotice): string => issueMessage(notice, { body: 'json' }).id;
  const notice: IssueNotice = { kind: 'new', issues: many };
  expect(id({ ...notice, issues: many.toReversed().map((one) => ({ ...one, runs: 9 })) })).toBe(id(notice));
  const others: readonly IssueNotice[] = [
    { ...notice, kind: 'resolved' },
    { ...notice, issues: many.slice(1) },
    { ...notice, issues: many.map((one) => ({ ...one, changedAt: 1 })) },
  ];
  expect(new Set([notice, ...others].map(id)).size).toBe(4);
});
