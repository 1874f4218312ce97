/** An issue as Markdown, for a ticket. */
import { expect, test } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import { issueMarkdown } from '../../src/report/issue-markdown.ts';

const issue: JsonObject = {
  id: '25d139890769',
  title: 'refund: <b>timeout</b> @ann',
  tenant: 'acme & sons',
  agent: 'support',
  evaluator: 'tool_error',
  tool: 'refund',
  state: 'regressed',
  changed_at: '2026-11-21T09:30:00.000000Z',
  changed_by: null,
  note: '',
  fixed_in: '1.3',
  ignored_until: null,
  ignored_until_runs: null,
  merged_into: null,
  runs: 1_234,
  share: { kind: 'estimated', point: 0.031, low: 0.022, high: 0.044 },
  first_seen: '2026-11-20T08:00:59.000000Z',
  last_seen: '2026-11-21T09:30:00.000000Z',
  first_version: '1.2',
  last_version: null,
};
const run = { trace_id: 'a'.repeat(32), span_id: 'b'.repeat(16), started_at: '2026-11-21T09:30:00.000000Z', version: null };
const answer: JsonObject = {
  issue,
  versions: [
    { version: '1.2', runs: 34 },
    { version: null, runs: 1_200 },
  ],
  runs: [
    { ...run, input: 'Refund A|1', explanation: 'It took 30 s.' },
    { ...run, input: null, explanation: null },
  ],
  differences: [
    { property: 'session_length', value: '2', share: 0.9, of: 40, other_share: 0.215, other_of: 900, differs: true },
    { property: 'model', value: 'm', share: 0.5, of: 40, other_share: 0.4, other_of: 900, differs: false },
  ],
};

test.each([
  { users: 2, listed: 2, want: '- users: 2: u1 (9), u2 (8)' },
  { users: 30, listed: 7, want: '- users: 30: u1 (9), u2 (8), u3 (7), u4 (6), u5 (5) and more' },
])('issue markdown: $users users of the runs are named, those of the most runs first', ({ users, listed, want }) => {
  const most = Array.from({ length: listed }, (_, at) => ({ user: `u${at + 1}`, runs: 9 - at }));
  expect(issueMarkdown({ ...answer, users, users_most: most }).split('\n')).toContain(want);
});

test('issue markdown: facts, versions, differences and examples, with links to the console', () => {
  expect(issueMarkdown(answer, 'https://jury.example.org/')).toBe(`## refund: &lt;b&gt;timeout&lt;/b&gt; @\u200bann

- issue: 25d139890769
- state: regressed, fixed in version 1.3
- agent: support
- evaluator: tool\\_error
- tool: refund
- runs: 1,234 runs; 3.1 % of the judged runs (2.2 % to 4.4 %)
- first seen: 2026-11-20 08:00, version 1.2
- last seen: 2026-11-21 09:30

| version | runs |
|---|---:|
| 1.2 | 34 |
| (none) | 1200 |

| associated with | runs of the issue | other runs |
|---|---|---|
| session length 2 | 90 % of 40 | 21.5 % of 900 |

### Examples

- [${run.trace_id}/${run.span_id}](https://jury.example.org/runs/${run.trace_id}/${run.span_id}?tenant=acme%20%26%20sons), 2026-11-21 09:30
  - input: Refund A\\|1
  - explanation: It took 30 s.

[The issue](https://jury.example.org/issues/25d139890769?tenant=acme%20%26%20sons)`);
});

test.each<{ readonly name: string; readonly of: JsonObject; readonly line: string }>([
  {
    name: 'resolved',
    of: { state: 'resolved', fixed_in: 'next', changed_by: 'ann' },
    line: 'resolved in the next version, by ann at 2026-11-21 09:30',
  },
  { name: 'resolved for all later runs', of: { state: 'resolved', fixed_in: 'now' }, line: 'resolved' },
  {
    name: 'ignored',
    of: { state: 'ignored', fixed_in: null, ignored_until: '2026-12-01T00:00:00.000000Z', ignored_until_runs: 5 },
    line: 'ignored until 2026-12-01 00:00 or it has more than 5 runs',
  },
  { name: 'merged', of: { state: 'merged', fixed_in: null, merged_into: '0c3e8f21aa97' }, line: 'merged into 0c3e8f21aa97' },
])('issue markdown: the state, $name', ({ of, line }) => {
  expect(issueMarkdown({ ...answer, issue: { ...issue, ...of } })).toContain(`\n- state: ${line}\n`);
});

test.each([
  { sessions: 0, want: undefined },
  { sessions: 2, want: '- sessions: 2 in 14 days' },
])('issue markdown: $sessions sessions', ({ sessions, want }) => {
  const lines = issueMarkdown({ ...answer, issue: { ...issue, sessions } }, undefined).split('\n');
  expect(lines.find((line) => line.startsWith('- sessions'))).toBe(want);
});
