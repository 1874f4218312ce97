/**
 * The part of a store that groups failed verdicts into issues. An issue is a class of failures of one tenant with the same evaluator, agent, tool and
 * signature. Its id follows from these, so it is the same in every process and after every replay.
 */
import { hash } from 'node:crypto';
import type { RunKey } from '../agent-trace.ts';
import type { RunFault } from '../scored-run.ts';
import type { Tenant } from '../ids.ts';
import type { Micros } from '../timestamp.ts';

/** Issues of one agent of one tenant. Failures beyond it are the issue `otherIssue` of their evaluator. */
export const issuesPerAgentMax = 500;
/** Issues of all agents of one tenant. Failures beyond it are the issue `otherIssue` of their evaluator, without an agent. */
export const issuesPerTenantMax = 20_000;
export const otherIssue = 'other failures';

/** 12 hexadecimal digits. */
export type IssueId = string;
export const issueIdPattern = '^[0-9a-f]{12}$';

export function isIssueId(text: string): boolean {
  return new RegExp(issueIdPattern).test(text);
}

export interface IssueKey extends RunFault {
  readonly tenant: Tenant;
  /** Empty for runs without the name of an agent. */
  readonly agent: string;
}

export function issueId({ tenant, agent, name, tool, signature }: IssueKey): IssueId {
  return hash('sha256', JSON.stringify([tenant, agent, name, tool, signature]), 'hex').slice(0, 12);
}

/**
 * open: no person has decided. resolved: a person regards it as fixed. regressed: a later run has it again. ignored: until a time, or until more runs
 * have it. merged: its runs are those of another issue.
 */
export const issueStates = ['open', 'resolved', 'regressed', 'ignored', 'merged'] as const;
export type IssueState = (typeof issueStates)[number];

/** version: fixed in this version. next: in the first version that is seen after the decision. now: for runs that begin after the decision. */
export type IssueFix = { readonly in: 'version'; readonly version: string } | { readonly in: 'next' } | { readonly in: 'now' };

export interface Issue extends IssueKey {
  readonly id: IssueId;
  readonly state: IssueState;
  /** When the state was changed; the first time it was seen when no one has changed it. */
  readonly changedAt: Micros;
  /** The person who changed it; empty when the service did, or when no one has changed it. */
  readonly by: string;
  readonly note: string;
  /** Set while it is resolved or regressed. */
  readonly fix?: IssueFix;
  /** Set while it is ignored: it opens again at this time, or when it has more runs than this. Ignored for good without either. */
  readonly until?: { readonly at?: Micros; readonly runs?: number };
  /** Set while it is merged. */
  readonly into?: IssueId;
  /** Runs that the store has or had. */
  readonly runs: number;
  /** Runs of the last 24 hours, and of the seven days before, by the last `recount`. */
  readonly dayRuns: number;
  readonly weekRuns: number;
  /** Sessions whose first run with the failure began in the days of lists, by the last `recount`. */
  readonly sessions: number;
  /** Starts of its first and last run. */
  readonly firstAt: Micros;
  readonly lastAt: Micros;
  /** Versions of these runs; empty without one. */
  readonly firstVersion: string;
  readonly lastVersion: string;
  /** True when people were notified that it is new. */
  readonly isTold: boolean;
}

/**
 * Issues that are new, in the sense of `newFrom`, since their agent had a version first, and those whose first run has the version. Those that only the
 * versions `before` it have are left out.
 */
export interface IssuesSince {
  readonly version: string;
  readonly agents: readonly { readonly agent: string; readonly at: Micros; readonly before: readonly string[] }[];
}

export interface IssueQuery {
  readonly tenant?: Tenant;
  readonly agent?: string;
  readonly name?: string;
  readonly tool?: string;
  readonly states?: readonly IssueState[];
  /** Issues with a run from this time on. */
  readonly seenFrom?: Micros;
  /** Issues whose first run began at this time or later, and those that have regressed since. */
  readonly newFrom?: Micros;
  readonly since?: IssuesSince;
  readonly limit: number;
  /** Issues before the first one of the answer. */
  readonly after?: number;
}

/** Runs of an issue from a time on. */
export interface IssueHour {
  readonly id: IssueId;
  readonly at: Micros;
  readonly runs: number;
}

export interface IssueRun extends RunKey {
  readonly startedAt: Micros;
  readonly version: string;
  readonly sessionId?: string;
}

/** The properties of a run that may go with a failure. */
export interface ComparedRun {
  readonly version: string | undefined;
  readonly model: string | undefined;
  readonly service: string | undefined;
  readonly user: string | undefined;
  readonly environment: string | undefined;
  /** Hash of the system prompt. */
  readonly prompt: string | undefined;
  readonly inputTokens: number | undefined;
  /** Distinct names of the called tools. */
  readonly tools: readonly string[];
  /** Runs of its session that began earlier, counted up to `earlierRunsMax`; `undefined` without a session. */
  readonly earlierRuns: number | undefined;
  readonly startedAt: Micros;
}

export const earlierRunsMax = 9;

export interface ComparedQuery {
  /** Runs by start: `from` inclusive, `to` exclusive. */
  readonly from: Micros;
  readonly to: Micros;
  /** About how many runs the evaluator judged in this time. */
  readonly judged: number;
  /** About how many runs of each side to return. A side with more of them is drawn by the ids of its runs. */
  readonly limit: number;
}

/** Messages to people. */
export const issueNoticeKinds = ['new', 'regressed', 'resolved'] as const;
export type IssueNoticeKind = (typeof issueNoticeKinds)[number];

/** A decision on an issue; what it leaves out is cleared. */
export interface IssueChange extends Pick<Issue, 'state' | 'changedAt' | 'by' | 'note' | 'fix' | 'until' | 'isTold'> {
  /** The message about it. One that was not sent yet is replaced. */
  readonly notice?: { readonly kind: IssueNoticeKind; readonly at: Micros };
}

/** An issue with a message that is still to be sent. */
export interface UntoldIssue {
  readonly issue: Issue;
  readonly kind: IssueNoticeKind;
  readonly at: Micros;
  /** Exporters that have not taken it; absent before the first attempt. */
  readonly to?: readonly string[];
}

export interface IssueStore {
  /** Those with the most impact first, by the last `recount`. */
  list(query: IssueQuery): Promise<readonly Issue[]>;
  /**
   * Counts the recent runs and the sessions of issues again after an hour has passed, and where runs of an earlier hour were written. Forgets sessions
   * from before the days of lists, or before `sessionsFrom`.
   */
  recount(now: Micros, sessionsFrom?: Micros): Promise<void>;
  issue(id: IssueId, tenant?: Tenant): Promise<Issue | undefined>;
  /** Sums of these issues from a time on, the earliest first. `width`: the time of one sum; an hour by default. */
  hours(ids: readonly IssueId[], from: Micros, width?: number): Promise<readonly IssueHour[]>;
  /** Runs by version. */
  versions(id: IssueId): Promise<readonly { readonly version: string; readonly runs: number }[]>;
  /** Runs in the store, the newest first. */
  runs(id: IssueId, limit: number): Promise<readonly IssueRun[]>;
  /** Runs of an issue, and other runs of its agent that its evaluator judged. Each side is spread evenly over the time. */
  compared(
    issue: Pick<Issue, 'id' | keyof IssueKey>,
    query: ComparedQuery,
  ): Promise<{
    readonly own: readonly ComparedRun[];
    readonly others: readonly ComparedRun[];
  }>;
  /** Issues of one run. */
  issuesOf(run: RunKey): Promise<readonly Issue[]>;
  /** Issues whose state may change: no notice yet, with this many runs; resolved or ignored, with a later run; ignored until before now. */
  pending(query: { readonly runs: number; readonly now: Micros; readonly limit: number }): Promise<readonly Issue[]>;
  /**
   * The first run of an issue that begins after a time and, with a list of versions, has another one. It was stored after the decision: a run from
   * before it may have a start in the future.
   */
  laterRun(id: IssueId, after: Micros, exceptVersions?: readonly string[]): Promise<IssueRun | undefined>;
  /** Writes a decision unless the state is another one by now. Resolves with the stored issue. */
  change(from: Pick<Issue, 'id' | 'state' | 'changedAt'>, change: IssueChange): Promise<Issue | undefined>;
  /** Gives the runs of one issue to another one of the same tenant, agent and evaluator. Later failures follow. */
  merge(id: IssueId, into: IssueId, change: Pick<IssueChange, 'changedAt' | 'by' | 'note'>): Promise<Issue | undefined>;
  /** Issues with a message that is still to be sent, the oldest change first. */
  untold(limit: number): Promise<readonly UntoldIssue[]>;
  /** Notes the exporters that have not taken the message; none: the message is not sent again. Nothing changes when the issue has changed. */
  told(issue: Pick<Issue, 'id' | 'state' | 'changedAt'>, left: readonly string[]): Promise<void>;
  /** Counts of issues by state. */
  counts(query?: Omit<IssueQuery, 'limit' | 'after'>): Promise<readonly { readonly state: IssueState; readonly issues: number }[]>;
}
