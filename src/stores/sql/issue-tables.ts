/** The tables of issues. Times are microseconds since the epoch. */
import type { Generated } from 'kysely';

export interface IssueTables {
  readonly issues: IssuesTable;
  readonly issue_runs: IssueRunsTable;
  readonly issue_hours: IssueHoursTable;
  readonly issue_sessions: IssueSessionsTable;
}

interface IssuesTable {
  /** The beginning of its fingerprint. */
  readonly id: number;
  readonly tenant: string;
  readonly agent: string;
  /** Configured name. */
  readonly evaluator: string;
  readonly tool: string;
  readonly signature: string;
  readonly state: string;
  readonly changed_us: number;
  readonly person: string;
  readonly note: string;
  /** In which version or when it is fixed: version, next or now. */
  readonly fix: string | null;
  readonly fix_version: string | null;
  readonly until_us: number | null;
  readonly until_runs: number | null;
  readonly merged_into: number | null;
  readonly runs: number;
  readonly first_us: number;
  readonly last_us: number;
  readonly first_version: string;
  readonly last_version: string;
  readonly is_told: number;
  /** Newest run of the store at the decision. */
  readonly after_run: Generated<number>;
  /** The hour up to which these runs were counted; 0: they are to be counted again. */
  readonly recent_us: Generated<number>;
  readonly day_runs: Generated<number>;
  readonly week_runs: Generated<number>;
  readonly sessions: Generated<number>;
  /** JSON of `UntoldIssue` without the issue; null when no message is left. */
  readonly untold: string | null;
}

interface IssueRunsTable {
  readonly run_id: number;
  readonly issue: number;
  readonly started_us: number;
  readonly version: string;
}

interface IssueHoursTable {
  readonly issue: number;
  readonly at_us: number;
  readonly version: string;
  readonly runs: number;
}

interface IssueSessionsTable {
  readonly issue: number;
  readonly session: string;
  /** The day of its first run with the failure. */
  readonly at_us: number;
}
