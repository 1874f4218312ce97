/** How the state of an issue changes by itself: a new one is reported, a resolved one comes back, and an ignored one opens again. */
import type { Issue, IssueChange, IssueRun } from '../model/store/issue-store.ts';
import type { Micros } from '../model/timestamp.ts';

/** new: enough runs in a short time. regressed: a run that should not have it any more. reopened: the time or the count of `ignored` is over. */
export const issueEvents = ['new', 'regressed', 'reopened'] as const;
export type IssueEvent = (typeof issueEvents)[number];

export interface NewAfter {
  readonly runs: number;
  readonly withinMs: number;
}

/** When a version of an agent was seen first. Empty name: runs without a version. */
export interface SeenVersion {
  readonly version: string;
  readonly firstAt: Micros;
}

/** True when the newest runs are enough within the time. `newest` are ordered from the newest on. */
export function isNews(newest: readonly Pick<IssueRun, 'startedAt'>[], { runs, withinMs }: NewAfter): boolean {
  const [last, first] = [newest[0], newest[runs - 1]];
  return last !== undefined && first !== undefined && last.startedAt - first.startedAt <= withinMs * 1_000;
}

/**
 * Versions whose runs may still have a resolved issue: those that were seen before the fix. A version is older than another one when it was seen
 * earlier. A run without a version counts by its start.
 */
export function olderVersions({ fix, changedAt }: Pick<Issue, 'fix' | 'changedAt'>, seen: readonly SeenVersion[]): readonly string[] {
  if (fix === undefined || fix.in === 'now') return [];
  const fixed = fix.in === 'version' ? seen.find(({ version }) => version === fix.version) : undefined;
  return fixed === undefined ? versionsBefore(changedAt + 1, seen) : versionsBefore(fixed.firstAt, seen);
}

/** Versions that were seen before a time. */
export function versionsBefore(at: Micros, seen: readonly SeenVersion[]): readonly string[] {
  return seen.filter(({ version, firstAt }) => version !== '' && firstAt < at).map(({ version }) => version);
}

/** The event and the change of an issue; undefined when nothing changes. `later`: a run that a resolved issue should not have. */
export function nextIssueState(
  issue: Issue,
  { now, isNew, later }: { readonly now: Micros; readonly isNew: boolean; readonly later: IssueRun | undefined },
): { readonly event: IssueEvent; readonly change: IssueChange } | undefined {
  const { state, until, fix, note, runs, by, changedAt } = issue;
  const kept = { by, note, changedAt, isTold: true };
  if (state === 'open') return isNew && !issue.isTold ? { event: 'new', change: { ...kept, state } } : undefined;
  if (state === 'resolved' && later !== undefined)
    return {
      event: 'regressed',
      change: { ...kept, by: '', changedAt: later.startedAt, state: 'regressed', ...(fix === undefined ? {} : { fix }) },
    };
  const isOver = (until?.at !== undefined && until.at <= now) || (until?.runs !== undefined && runs > until.runs);
  return state === 'ignored' && isOver ? { event: 'reopened', change: { ...kept, by: '', changedAt: now, state: 'open' } } : undefined;
}
