/** Messages to people about issues. */
import type { AlertNotice } from './alert.ts';
import type { Issue, IssueNoticeKind } from './store/issue-store.ts';
import type { Micros } from './timestamp.ts';

/** Issues with the same change. */
export interface IssueNotice {
  readonly kind: IssueNoticeKind;
  /** At least one, without what `redact` removes. */
  readonly issues: readonly NotifiedIssue[];
}

export interface NotifiedIssue extends Issue {
  readonly title: string;
  /** When the service found the change. */
  readonly at: Micros;
}

export type PeopleNotice = AlertNotice | IssueNotice;
