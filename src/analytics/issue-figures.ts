/** Figures of issues for lists: their runs by day, their trend and share, and the order of their impact. */
import type { Tenant } from '../model/ids.ts';
import { dayMicros, issueDays, issueDaysFrom } from '../model/issue-days.ts';
import type { Issue, IssueHour, IssueId } from '../model/store/issue-store.ts';
import type { Rollups } from '../model/store/rollup-store.ts';
import type { Micros } from '../model/timestamp.ts';
import type { Estimate } from '../statistics/estimate.ts';
import { proportion } from '../statistics/proportion.ts';

const weekDays = 7;

export interface IssueFigures {
  /** Runs by day, today last. */
  readonly days: readonly number[];
  /** Runs of the last 24 hours against an average day of the week before, each with 1 added. */
  readonly trend: number;
  /** Share of the runs that the evaluator judged; undefined when that is unknown. */
  readonly share: Estimate | undefined;
  /** Runs of the last 24 hours, times the trend. */
  readonly impact: number;
}

/** Trend and impact; both grow with the runs of the last 24 hours. Lists are in this order, so stores compute it as well. */
function issueImpact({ dayRuns, weekRuns }: Issue): Pick<IssueFigures, 'trend' | 'impact'> {
  const trend = (dayRuns + 1) / (weekRuns / weekDays + 1);
  return { trend, impact: dayRuns * trend };
}

/** Verdicts of one tenant by agent and evaluator, from `issueDaysFrom` on. */
export interface JudgedRuns {
  readonly tenant: Tenant;
  readonly rows: Rollups<'evaluator'>['rows'];
}

export function issueFigures(
  issues: readonly Issue[],
  { now, hours, judged }: { readonly now: Micros; readonly hours: readonly IssueHour[]; readonly judged: readonly JudgedRuns[] },
): ReadonlyMap<IssueId, IssueFigures> {
  const from = issueDaysFrom(now);
  const byIssue = Map.groupBy(hours, ({ id }) => id);
  const verdicts = new Map(
    judged.flatMap(({ tenant, rows }) => rows.map((row) => [JSON.stringify([tenant, row.agent, row.name]), row.counts] as const)),
  );
  return new Map(
    issues.map((issue) => {
      const { id, tenant, agent, name } = issue;
      const days = Array.from({ length: issueDays }, () => 0);
      for (const { at, runs } of byIssue.get(id) ?? []) {
        const day = Math.floor((at - from) / dayMicros);
        if (day >= 0 && day < issueDays) days[day] = (days[day] ?? 0) + runs;
      }
      const { pass = 0, fail = 0, raised = 0 } = verdicts.get(JSON.stringify([tenant, agent, name])) ?? {};
      const hits = days.reduce((sum, runs) => sum + runs, 0);
      // Runs that were chosen because a rule failed do not represent all runs.
      const share = raised > 0 || pass + fail < hits ? undefined : proportion({ hits, of: pass + fail });
      return [id, { days, ...issueImpact(issue), share }];
    }),
  );
}

/** The failure in words. A label, such as that of a judge, stands behind the name of its evaluator. */
export function issueTitle({ tool, signature, name }: Pick<Issue, 'tool' | 'signature' | 'name'>): string {
  const what = signature === 'fail' || signature === '' ? `${name} fails` : signature;
  if (tool !== '') return `${tool}: ${what}`;
  return LABEL.test(what) ? `${name}: ${what}` : what;
}

const LABEL = /^[^\s:]+$/;
