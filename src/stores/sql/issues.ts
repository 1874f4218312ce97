/** Issues: classes of failed verdicts, their runs, and what people decide on them. */
import { sql, type Kysely, type RawBuilder, type Selectable } from 'kysely';
import { dayMicros, issueDays, issueDaysFrom } from '../../model/issue-days.ts';
import { isJsonArray, isJsonObject, member, parseJson } from '../../model/json.ts';
import type { SpanId, Tenant, TraceId } from '../../model/ids.ts';
import {
  issueNoticeKinds,
  issueStates,
  type Issue,
  type IssueFix,
  type IssueQuery,
  type IssueRun,
  type IssuesSince,
  type IssueStore,
  type UntoldIssue,
} from '../../model/store/issue-store.ts';
import type { Micros } from '../../model/timestamp.ts';
import { comparedRuns } from './issue-comparison.ts';
import { hourMicros, hourOf, moveRuns, numberOf, textOf } from './issue-writes.ts';
import { oneOf } from './rows.ts';
import type { Tables } from './tables.ts';

type Db = Kysely<Tables>;

/** Days before the last 24 hours, which the trend compares with these. */
const daysBefore = 7;
/** The impact as `issueImpact` has it. */
const impact = sql<number>`day_runs * (day_runs + 1.0) / (week_runs / ${sql.lit(daysBefore)}.0 + 1)`;
/** Then an issue has neither recent runs nor sessions that are counted. */
const quietAfter = (issueDays + 2) * dayMicros;
/** Issues whose recent runs one statement counts. */
const recountedMax = 200;

/** Removes sums of hours before that time, and issues without a run since. */
export async function pruneIssues(db: Db, before: Micros): Promise<void> {
  await db.deleteFrom('issue_hours').where('at_us', '<', hourOf(before)).execute();
  await db.deleteFrom('issues').where('last_us', '<', before).where('state', '!=', 'merged').execute();
  // Later failures of a merged issue follow to its target, as long as that is there.
  await db
    .deleteFrom('issues')
    .where('state', '=', 'merged')
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('issues as target').select('target.id').whereRef('target.id', '=', 'issues.merged_into'))),
    )
    .execute();
}

export function issueStore(db: Db): IssueStore {
  const one = async (on: Db, id: string, tenant?: Tenant): Promise<Issue | undefined> => {
    const row = await on
      .selectFrom('issues')
      .selectAll()
      .where('id', '=', numberOf(id))
      .$if(tenant !== undefined, (select) => select.where('tenant', '=', tenant ?? ''))
      .executeTakeFirst();
    return row === undefined ? undefined : issueOf(row);
  };
  return {
    async list(query) {
      const rows = await wanted(db, query)
        .selectAll('issues')
        .orderBy(impact, 'desc')
        .orderBy('runs', 'desc')
        .orderBy('last_us', 'desc')
        .orderBy('id')
        .offset(query.after ?? 0)
        .limit(query.limit)
        .execute();
      return rows.map(issueOf);
    },
    async recount(now, sessionsFrom = 0) {
      const hour = hourOf(now);
      const runsIn = (from: number, to: number) =>
        sql<number>`(select coalesce(sum(h.runs), 0) from issue_hours as h
          where h.issue = issues.id and h.at_us > ${hour - from * dayMicros} and h.at_us <= ${hour - to * dayMicros})`;
      let left: readonly { readonly id: number }[];
      do {
        left = await db
          .selectFrom('issues')
          .select('id')
          .where('recent_us', '<>', hour)
          .where((eb) => eb.or([eb('day_runs', '>', 0), eb('week_runs', '>', 0), eb('last_us', '>', hour - quietAfter)]))
          .limit(recountedMax)
          .execute();
        const ids = left.map(({ id }) => id);
        await db
          .deleteFrom('issue_sessions')
          .where('issue', 'in', oneOf(ids))
          .where('at_us', '<', Math.max(issueDaysFrom(now), sessionsFrom - (sessionsFrom % dayMicros)))
          .execute();
        await db
          .updateTable('issues')
          .set({
            recent_us: hour,
            day_runs: runsIn(1, 0),
            week_runs: runsIn(1 + daysBefore, 1),
            sessions: sql<number>`(select count(*) from issue_sessions as s where s.issue = issues.id)`,
          })
          .where('id', 'in', oneOf(ids))
          .execute();
      } while (left.length === recountedMax);
    },
    issue: (id, tenant) => one(db, id, tenant),
    async hours(ids, from, width = hourMicros) {
      const at = sql<number>`at_us - at_us % ${sql.lit(width)}`;
      const rows = await db
        .selectFrom('issue_hours')
        .select(['issue', at.as('at'), ({ fn }) => fn.sum<number>('runs').as('runs')])
        .where('issue', 'in', oneOf(ids.map(numberOf)))
        .where('at_us', '>=', hourOf(from))
        .groupBy(['issue', at])
        .orderBy(at)
        .execute();
      return rows.map(({ issue, at: own, runs }) => ({ id: textOf(issue), at: Number(own), runs: Number(runs) }));
    },
    async versions(id) {
      const rows = await db
        .selectFrom('issue_hours')
        .select(['version', ({ fn }) => fn.sum<number>('runs').as('runs')])
        .where('issue', '=', numberOf(id))
        .groupBy('version')
        .orderBy('version')
        .execute();
      return rows.map(({ version, runs }) => ({ version, runs: Number(runs) }));
    },
    async runs(id, limit) {
      return (await runsIn(db, id).orderBy('r.started_us', 'desc').orderBy('r.run_id', 'desc').limit(limit).execute()).map(runOf);
    },
    compared: (issue, query) => comparedRuns(db, issue, query),
    async issuesOf({ tenant, traceId, spanId }) {
      const rows = await db
        .selectFrom('issues')
        .innerJoin('issue_runs as r', 'r.issue', 'issues.id')
        .innerJoin('runs', 'runs.id', 'r.run_id')
        .selectAll('issues')
        .where('runs.trace_id', '=', traceId)
        .where('runs.tenant', '=', tenant)
        .where('runs.span_id', '=', spanId)
        .orderBy('issues.id')
        .execute();
      return rows.map(issueOf);
    },
    async pending({ runs, now, limit }) {
      const rows = await db
        .selectFrom('issues')
        .selectAll()
        .where((eb) =>
          eb.or([
            eb.and([eb('is_told', '=', 0), eb('state', '=', 'open'), eb('runs', '>=', runs)]),
            eb.and([eb('state', '=', 'resolved'), eb('last_us', '>', eb.ref('changed_us'))]),
            eb.and([eb('state', '=', 'ignored'), eb('until_us', '<=', now)]),
            eb.and([eb('state', '=', 'ignored'), eb('until_runs', '<', eb.ref('runs'))]),
          ]),
        )
        // Open issues wait: there may be many that never become news.
        .orderBy(sql`case when state = 'open' then 1 else 0 end`)
        .orderBy('last_us', 'desc')
        .limit(limit)
        .execute();
      return rows.map(issueOf);
    },
    async laterRun(id, after, exceptVersions = []) {
      const from = exceptVersions.length === 0 ? after : await firstHour(db, { id, after, exceptVersions });
      if (from === undefined) return undefined;
      const row = await runsIn(db, id)
        .where('r.started_us', '>', after)
        .where('r.started_us', '>=', from)
        .where(({ eb, selectFrom }) => eb('r.run_id', '>', selectFrom('issues').select('after_run').where('id', '=', numberOf(id))))
        .$if(exceptVersions.length > 0, (select) => select.where('r.version', 'not in', oneOf(exceptVersions)))
        .orderBy('r.started_us')
        .limit(1)
        .executeTakeFirst();
      return row === undefined ? undefined : runOf(row);
    },
    async change({ id, state: from, changedAt: since }, change) {
      const { state, changedAt, by, note, fix, until, isTold, notice } = change;
      await db
        .updateTable('issues')
        .set({
          state,
          changed_us: changedAt,
          person: by,
          note,
          is_told: Number(isTold),
          fix: fix?.in ?? null,
          fix_version: fix?.in === 'version' ? fix.version : null,
          until_us: until?.at ?? null,
          until_runs: until?.runs ?? null,
          merged_into: null,
          after_run: sql<number>`(select coalesce(max(id), 0) from runs)`,
          untold: notice === undefined ? null : JSON.stringify(notice),
        })
        .where('id', '=', numberOf(id))
        .where('state', '=', from)
        .where('changed_us', '=', since)
        .execute();
      return await one(db, id);
    },
    async merge(id, into, { changedAt, by, note }) {
      return await db.transaction().execute(async (tx) => {
        const [source, target] = [await one(tx, id), await one(tx, into)];
        if (source === undefined || target === undefined || id === into) return undefined;
        if (source.state === 'merged' || target.state === 'merged') return undefined;
        const same = source.tenant === target.tenant && source.agent === target.agent && source.name === target.name;
        if (!same) return undefined;
        const [from, to] = [numberOf(id), numberOf(into)];
        await tx
          .updateTable('issues')
          .set({ state: 'merged', changed_us: changedAt, person: by, note, merged_into: to, fix: null, fix_version: null, untold: null })
          .where('id', '=', from)
          .execute();
        // Issues that were merged into the source before.
        await tx.updateTable('issues').set({ merged_into: to }).where('merged_into', '=', from).execute();
        await moveRuns(tx, from, to);
        return await one(tx, into);
      });
    },
    async untold(limit) {
      const rows = await db
        .selectFrom('issues')
        .selectAll()
        .where('untold', 'is not', null)
        .orderBy('changed_us')
        .orderBy('id')
        .limit(limit)
        .execute();
      return rows.map((row) => ({ issue: issueOf(row), ...noticeOf(row.untold ?? '') }));
    },
    async told({ id, state, changedAt }, left) {
      const { untold } = (await db.selectFrom('issues').select('untold').where('id', '=', numberOf(id)).executeTakeFirst()) ?? {};
      if (untold === undefined || untold === null) return;
      await db
        .updateTable('issues')
        .set({ untold: left.length === 0 ? null : JSON.stringify({ ...noticeOf(untold), to: left }) })
        .where('id', '=', numberOf(id))
        .where('state', '=', state)
        .where('changed_us', '=', changedAt)
        .execute();
    },
    async counts(query = {}) {
      const rows = await wanted(db, query)
        .select(['state', ({ fn }) => fn.countAll<number>().as('issues')])
        .groupBy('state')
        .execute();
      return rows.map(({ state, issues }) => ({ state: stateOf(state), issues }));
    },
  };
}

type Wanted = Omit<IssueQuery, 'limit' | 'after'>;

function wanted(db: Db, { tenant, agent, name, tool, states, seenFrom, newFrom, since }: Wanted) {
  return db
    .selectFrom('issues')
    .$if(tenant !== undefined, (select) => select.where('tenant', '=', tenant ?? ''))
    .$if(agent !== undefined, (select) => select.where('agent', '=', agent ?? ''))
    .$if(name !== undefined, (select) => select.where('evaluator', '=', name ?? ''))
    .$if(tool !== undefined, (select) => select.where('tool', '=', tool ?? ''))
    .$if(states !== undefined, (select) => select.where('state', 'in', oneOf(states ?? [])))
    .$if(seenFrom !== undefined, (select) => select.where('last_us', '>=', seenFrom ?? 0))
    .$if(newFrom !== undefined, (select) => select.where(isNewFrom(sql`${newFrom}`)))
    .$if(since !== undefined, (select) => select.where(isNewSince(since ?? { version: '', agents: [] })));
}

function isNewFrom(at: RawBuilder<unknown>): RawBuilder<boolean> {
  return sql<boolean>`(first_us >= ${at} or (state = 'regressed' and changed_us >= ${at}))`;
}

/** The first run of the version may not be summed yet. While a release is rolled out, the version before it has runs as well. */
function isNewSince({ version, agents }: IssuesSince): RawBuilder<boolean> {
  const [firsts, before] = [agents.map(({ agent, at }) => [agent, at]), agents.map((one) => [one.agent, JSON.stringify(one.before)])];
  const isBefore = sql`(agent, h.version) in (select b.key, v.value from json_each(${objectText(before)}) as b, json_each(b.value) as v)`;
  return sql<boolean>`(first_version = ${version} or exists (select 1 from json_each(${objectText(firsts)}) as s
      where s.key = agent and ${isNewFrom(sql`cast(s.value as bigint)`)}))
    and (exists (select 1 from issue_hours as h where h.issue = issues.id and not ${isBefore})
      or not exists (select 1 from issue_hours as h where h.issue = issues.id))`;
}

function objectText(members: readonly (readonly (string | number)[])[]): string {
  return JSON.stringify(Object.fromEntries(members));
}

/** An old version may have many runs after the fix, and the sums name the others without reading these. */
async function firstHour(
  db: Db,
  { id, after, exceptVersions }: { readonly id: string; readonly after: Micros; readonly exceptVersions: readonly string[] },
): Promise<Micros | undefined> {
  const row = await db
    .selectFrom('issue_hours')
    .select('at_us')
    .where('issue', '=', numberOf(id))
    .where('at_us', '>=', hourOf(after))
    .where('version', 'not in', oneOf(exceptVersions))
    .orderBy('at_us')
    .limit(1)
    .executeTakeFirst();
  return row?.at_us;
}

function runsIn(db: Db, id: string) {
  return db
    .selectFrom('issue_runs as r')
    .innerJoin('runs', 'runs.id', 'r.run_id')
    .select(['r.started_us', 'r.version', 'runs.tenant', 'runs.trace_id', 'runs.span_id', 'runs.session_id'])
    .where('r.issue', '=', numberOf(id));
}

function runOf(row: {
  readonly started_us: number;
  readonly version: string;
  readonly tenant: string;
  readonly trace_id: string;
  readonly span_id: string;
  readonly session_id: string | null;
}): IssueRun {
  return {
    tenant: row.tenant as Tenant,
    traceId: row.trace_id as TraceId,
    spanId: row.span_id as SpanId,
    startedAt: row.started_us,
    version: row.version,
    ...(row.session_id === null || row.session_id === '' ? {} : { sessionId: row.session_id }),
  };
}

function stateOf(state: string): Issue['state'] {
  return issueStates.find((one) => one === state) ?? 'open';
}

/** The column `untold`. */
function noticeOf(text: string): Omit<UntoldIssue, 'issue'> {
  const value = parseJson(text) ?? null;
  const notice = isJsonObject(value) ? value : {};
  const [to, at] = [member(notice, 'to') ?? null, member(notice, 'at')];
  return {
    kind: issueNoticeKinds.find((one) => one === member(notice, 'kind')) ?? 'new',
    at: typeof at === 'number' ? at : 0,
    ...(isJsonArray(to) ? { to: to.map(String) } : {}),
  };
}

function fixOf(fix: string | null, version: string | null): IssueFix | undefined {
  return fix === 'version' ? { in: fix, version: version ?? '' } : fix === 'next' || fix === 'now' ? { in: fix } : undefined;
}

function issueOf(row: Selectable<Tables['issues']>): Issue {
  const fix = fixOf(row.fix, row.fix_version);
  const until = { ...(row.until_us === null ? {} : { at: row.until_us }), ...(row.until_runs === null ? {} : { runs: row.until_runs }) };
  return {
    id: textOf(row.id),
    tenant: row.tenant as Tenant,
    agent: row.agent,
    name: row.evaluator,
    tool: row.tool,
    signature: row.signature,
    state: stateOf(row.state),
    changedAt: row.changed_us,
    by: row.person,
    note: row.note,
    ...(fix === undefined ? {} : { fix }),
    ...(Object.keys(until).length === 0 ? {} : { until }),
    ...(row.merged_into === null ? {} : { into: textOf(row.merged_into) }),
    runs: row.runs,
    dayRuns: row.day_runs,
    weekRuns: row.week_runs,
    sessions: row.sessions,
    firstAt: row.first_us,
    lastAt: row.last_us,
    firstVersion: row.first_version,
    lastVersion: row.last_version,
    isTold: row.is_told === 1,
  };
}
