import { describe, expect, test } from 'vitest';
import {
  decisionText,
  differenceName,
  type Difference,
  type Issue,
  issueMarkdown,
  issuesQuery,
  seenText,
  versionsText,
} from '../../../../src/console/pages/issues/issue-text.ts';

const issue: Issue = {
  id: '25d139890769',
  title: 'refund_order: /amount must be number',
  tenant: '',
  agent: 'support',
  evaluator: 'tool_call_validity',
  tool: 'refund_order',
  signature: '/amount must be number',
  state: 'open',
  changed_at: '2026-11-20T10:00:00Z',
  changed_by: null,
  note: '',
  fixed_in: null,
  ignored_until: null,
  ignored_until_runs: null,
  merged_into: null,
  runs: 12,
  sessions: 2,
  first_seen: '2026-11-20T10:00:00Z',
  last_seen: '2026-11-21T10:00:00Z',
  first_version: '1.1',
  last_version: '1.2',
  days: [0, 12],
  trend: 1,
  impact: 12,
  share: { point: 0.25, low: 0.2, high: 0.3, confidence: 0.95, n: 48, effective_n: 48, not_estimable: null },
};

const difference = (given: Partial<Difference>): Difference => ({
  property: 'version',
  value: '1.1',
  runs: 12,
  of: 12,
  share: 1,
  other_runs: 10,
  other_of: 40,
  other_share: 0.25,
  lift: 4,
  p: 1e-6,
  p_adjusted: 1e-5,
  differs: true,
  ...given,
});

test('seenText: names evaluator, runs, agent, versions and share', () => {
  expect(seenText(issue)).toBe(
    'tool_call_validity fails in 12 runs of support, version 1.1 to 1.2: 25 % of the runs that it judged in the last 14 days.',
  );
  expect(seenText({ ...issue, runs: 1, agent: null, share: null, first_version: null, last_version: null })).toBe(
    'tool_call_validity fails in 1 run of agents without a name.',
  );
});

test.each([
  { first: null, last: null, text: '' },
  { first: '1', last: '1', text: '1' },
  { first: null, last: '2', text: '2' },
  { first: '1', last: '2', text: '1 to 2' },
])('versionsText: $first and $last', ({ first, last, text }) => {
  expect(versionsText({ first_version: first, last_version: last })).toBe(text);
});

test.each([
  { given: {}, text: /^$/ },
  { given: { state: 'resolved', fixed_in: '1.3', changed_by: 'ann' }, text: /^Resolved in version 1\.3 by ann at 2026-/ },
  { given: { state: 'resolved', fixed_in: 'next' }, text: /^Resolved in the next version at / },
  { given: { state: 'regressed', fixed_in: 'now' }, text: /^It was resolved for runs that begin later, and a run has it again since / },
  { given: { state: 'ignored', ignored_until_runs: 1_000 }, text: /^Ignored until it has more than 1,000 runs at / },
  { given: { state: 'merged' }, text: /^Merged at / },
] as const)('decisionText: $given', ({ given, text }) => {
  expect(decisionText({ ...issue, ...given })).toMatch(text);
});

test('differenceName: shortens the hash of a prompt', () => {
  expect(differenceName(difference({ property: 'prompt', value: '0123456789abcdef' }))).toEqual({
    title: 'System prompt',
    value: '0123456789ab',
  });
});

test('issuesQuery: a state that is none counts as not given', () => {
  expect(issuesQuery({ agent: 'a', state: 'sleeping' })).toMatchObject({ agent: 'a', state: undefined });
  expect(issuesQuery({ state: 'merged' })).toMatchObject({ state: 'merged' });
});

describe('issueMarkdown', () => {
  const run = {
    trace_id: 'a'.repeat(32),
    span_id: 'b'.repeat(16),
    tenant: 'shop',
    started_at: '',
    version: null,
    session_id: null,
    input: null,
    explanation: null,
  };

  test('has the title, three examples and the clear differences', () => {
    const text = issueMarkdown({
      issue,
      runs: [run, run, run, run],
      differences: [difference({}), difference({ value: '1.0', differs: false })],
      origin: 'http://127.0.0.1:4380',
    });
    expect(text.split('\n')[0]).toBe('## refund\\_order: /amount must be number');
    expect(text.match(/\/runs\//g)).toHaveLength(3);
    expect(text).toContain(`http://127.0.0.1:4380/runs/${run.trace_id}/${run.span_id}?tenant=shop`);
    expect(text).toContain('- Version 1.1: 100 % here, 25 % in other runs');
    expect(text).not.toContain('Version 1.0');
  });

  test('words of runs make no markup', () => {
    const hostile = '](http://evil) <img src=x> `code` @team #1\n# heading | cell';
    const text = issueMarkdown({
      issue: { ...issue, title: hostile },
      runs: [],
      differences: [difference({ value: hostile })],
      origin: '',
    });
    expect(text).not.toMatch(/(?<!\\)[<`@|[\]]/);
    expect(text.split('\n').filter((line) => line.startsWith('# '))).toEqual([]);
  });
});
