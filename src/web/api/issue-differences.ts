/** The route that compares the runs of an issue with the other runs of its agent. */
import {
  comparedProperties,
  comparedValuesMax,
  type IssueDifference,
  issueDifferences,
  shareOf,
  usersOf,
} from '../../analytics/issue-differences.ts';
import { issueDays, issueDaysFrom } from '../../model/issue-days.ts';
import { count, flag, inline, many, number, numberOrNull, object, resource, share, text, time, timeOf } from '../../model/resource.ts';
import { id, type IssueApiDeps, issueIn, missing } from './issues.ts';
import { type RouteOver, tenantParameter } from './route.ts';

/** About how many runs of each side are read. */
const runsMax = 2_000;
/** Rows of an answer; all are tested. */
const rowsMax = 50;
/** Users of an answer, those of the most runs. */
const usersMax = 20;

const difference = resource<IssueDifference>()('IssueDifference', {
  property: {
    enum: comparedProperties,
    description:
      '`tool`: a tool that the run called. `prompt`: hash of the system prompt. `session_length`: runs of the session up to this run. `hour`: when the run began.',
  },
  value: text,
  runs: [{ ...count, description: 'Runs of the issue with the value.' }, ({ own }) => own.hits],
  of: [{ ...count, description: 'Runs of the issue whose value is known.' }, ({ own }) => own.of],
  share: [share, ({ own }) => shareOf(own)],
  other_runs: [{ ...count, description: 'Other runs with the value.' }, ({ others }) => others.hits],
  other_of: [{ ...count, description: 'Other runs whose value is known.' }, ({ others }) => others.of],
  other_share: [share, ({ others }) => shareOf(others)],
  lift: numberOrNull('`share` divided by `other_share`. Null when no other run has the value.'),
  p: { ...number, description: 'Two-sided p-value of Fisher’s exact test.' },
  p_adjusted: [{ ...number, description: 'The p-value adjusted by Holm’s method over all tested rows.' }, ({ adjusted }) => adjusted],
  differs: { ...flag, description: 'True when `p_adjusted` is 0.05 or less. It is an association: the value need not cause the failure.' },
});

const affected = inline<ReturnType<typeof usersOf>[number]>()({ user: text, runs: count });

export const issueDifferenceSchemas = { [difference.name]: difference.whole };

export const issueDifferenceRoutes: readonly RouteOver<IssueApiDeps>[] = [
  {
    method: 'get',
    path: '/issues/{id}/differences',
    summary: `Properties of the issue’s runs of the last ${issueDays} days, compared with the other runs of its agent that its evaluator judged. It reads about ${runsMax} runs of each side, and compares at most ${comparedValuesMax} values of a property. The answer has at most ${rowsMax} rows.`,
    path_parameters: { id },
    query_parameters: { tenant: tenantParameter },
    answer: object({
      from: time,
      to: time,
      runs: { ...count, description: 'Runs of the issue that were read.' },
      other_runs: { ...count, description: 'Other runs that were read.' },
      users: { ...count, description: 'Distinct users of these runs of the issue. 0: no run names one.' },
      users_most: many(affected.schema, `The users of the most runs, at most ${usersMax}.`),
      tested: { ...count, description: 'Number of tested rows. The answer has the first ones.' },
      differences: many(difference.schema, 'The clearest difference first.'),
    }),
    missing,
    async handle(deps, query) {
      const issue = await issueIn(deps, query);
      if (issue === undefined) return undefined;
      const now = Math.floor(deps.clock.nowMs() * 1_000);
      const [from, to] = [issueDaysFrom(now), now + 1];
      const { tenant, agent, name } = issue;
      const period = { from, to, now, tenant, agent, name, byAgent: true, byName: true };
      const { rows: sums } = await deps.store.rollups('evaluator', period);
      const judged = sums.reduce((sum, { counts: { pass, fail } }) => sum + pass + fail, 0);
      const compared = await deps.store.issues.compared(issue, { from, to, judged, limit: runsMax });
      const rows = issueDifferences(issue, compared);
      const users = usersOf(compared.own);
      return {
        from: timeOf(from),
        to: timeOf(now),
        runs: compared.own.length,
        other_runs: compared.others.length,
        users: users.length,
        users_most: users.slice(0, usersMax).map(affected.write),
        tested: rows.length,
        differences: rows.slice(0, rowsMax).map(difference.write),
      };
    },
  },
];
