/** The states of an issue over time. */
import { describe, expect, test } from 'vitest';
import { isNews, nextIssueState, olderVersions } from '../../src/analytics/issue-life.ts';
import { noTenant } from '../../src/model/ids.ts';
import type { Issue, IssueRun } from '../../src/model/store/issue-store.ts';
import { nth } from '../stores/numbered.ts';

const issue: Issue = {
  id: '0123456789ab',
  tenant: noTenant,
  agent: 'support',
  name: 'tool_error',
  tool: 'refund',
  signature: 'timeout',
  state: 'open',
  changedAt: 100,
  by: '',
  note: '',
  runs: 3,
  dayRuns: 0,
  weekRuns: 0,
  sessions: 0,
  firstAt: 10,
  lastAt: 90,
  firstVersion: '1',
  lastVersion: '2',
  isTold: false,
};
const later: IssueRun = { ...nth(1), startedAt: 500, version: '3' };
const seen = [
  { version: '1', firstAt: 10 },
  { version: '2', firstAt: 50 },
  { version: '3', firstAt: 400 },
  { version: '', firstAt: 20 },
];

describe('issues: life', () => {
  test.each([
    { name: 'three runs within an hour are news', starts: [30, 20, 10], is: true },
    { name: 'three runs that are spread are not', starts: [130, 20, 10], is: false },
    { name: 'two runs are not', starts: [20, 10], is: false },
  ])('$name', ({ starts, is }) => {
    expect(
      isNews(
        starts.map((startedAt) => ({ startedAt: startedAt * 1_000 })),
        { runs: 3, withinMs: 100 },
      ),
    ).toBe(is);
  });

  test.each([
    { name: 'fixed in a version: those seen before it', fix: { in: 'version', version: '2' }, older: ['1'] },
    { name: 'fixed in a version without runs: those seen until the decision', fix: { in: 'version', version: '9' }, older: ['1', '2'] },
    { name: 'fixed in the next version: those seen until the decision', fix: { in: 'next' }, older: ['1', '2'] },
    { name: 'fixed now: none', fix: { in: 'now' }, older: [] },
  ] as const)('older versions, $name', ({ fix, older }) => {
    expect(olderVersions({ fix, changedAt: 100 }, seen)).toEqual(older);
  });

  const steps: readonly {
    readonly name: string;
    readonly of: Partial<Issue>;
    readonly facts?: Partial<Parameters<typeof nextIssueState>[1]>;
    readonly event: string | undefined;
    readonly state?: Issue['state'];
  }[] = [
    { name: 'an open issue that is new', of: {}, facts: { isNew: true }, event: 'new', state: 'open' },
    { name: 'an open issue that was reported', of: { isTold: true }, facts: { isNew: true }, event: undefined },
    { name: 'an odd run', of: {}, event: undefined },
    { name: 'a resolved issue with a later run', of: { state: 'resolved' }, facts: { later }, event: 'regressed', state: 'regressed' },
    { name: 'a resolved issue without one', of: { state: 'resolved' }, event: undefined },
    { name: 'ignored until now', of: { state: 'ignored', until: { at: 1_000 } }, event: 'reopened', state: 'open' },
    { name: 'ignored until later', of: { state: 'ignored', until: { at: 1_001 } }, event: undefined },
    { name: 'ignored until it has more runs', of: { state: 'ignored', until: { runs: 2 } }, event: 'reopened', state: 'open' },
    { name: 'ignored with as many runs', of: { state: 'ignored', until: { runs: 3 } }, event: undefined },
    { name: 'ignored for good', of: { state: 'ignored' }, facts: { isNew: true, later }, event: undefined },
    { name: 'regressed', of: { state: 'regressed' }, facts: { isNew: true, later }, event: undefined },
    { name: 'merged', of: { state: 'merged' }, facts: { isNew: true, later }, event: undefined },
  ];
  test.each(steps)('$name', ({ of, facts, event, state }) => {
    const next = nextIssueState({ ...issue, ...of }, { now: 1_000, isNew: false, later: undefined, ...facts });
    expect(next?.event).toBe(event);
    expect(next?.change.state).toBe(state);
  });
});
