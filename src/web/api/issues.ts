/** The routes of issues: classes of failed verdicts, their runs, and what people decide on them. */
import { issueFigures, type IssueFigures, issueTitle, type JudgedRuns } from '../../analytics/issue-figures.ts';
import { versionsBefore } from '../../analytics/issue-life.ts';
import { dayMicros, issueDays, issueDaysFrom } from '../../model/issue-days.ts';
import { isJsonObject, type JsonObject, member } from '../../model/json.ts';
import { count, many, number, object, optional, resource, schemasOf, text, textOrNull, time, timeOf } from '../../model/resource.ts';
import {
  type Issue,
  type IssueChange,
  type IssueFix,
  issueIdPattern,
  type IssueRun,
  type IssuesSince,
  type IssueState,
  issueStates,
} from '../../model/store/issue-store.ts';
import type { Micros } from '../../model/timestamp.ts';
import { estimate } from './estimate-json.ts';
import {
  type ApiDeps,
  bodyOf,
  type Caller,
  list,
  named,
  nextOf,
  pageOf,
  pages,
  type Parameters,
  parsedTime,
  Refusal,
  type RouteOver,
  tenantOf,
  tenantParameter,
  textParameter,
  timeAt,
} from './route.ts';

const bodyBytesMax = 16 * 1024;
const nameCharsMax = 200;
const noteCharsMax = 1_000;
const byDefault = 'console';
const runsShown = 50;
/** Runs of an issue whose texts are read. */
const examplesShown = 3;

export const id = { type: 'string', pattern: issueIdPattern, description: 'Id of the issue.' } as const;
export const missing = { message: 'There is no such issue.', todo: 'GET /api/v1/issues lists them.' };
const issueText = (description: string): JsonObject => ({ ...text, description });

const orNone = (name: string): string | undefined => (name === '' ? undefined : name);

/** Empty texts of the store are undefined here. */
interface IssueRow extends Pick<Issue, 'id' | 'tenant' | 'signature' | 'state' | 'changedAt' | 'note' | 'runs' | 'sessions'>, IssueFigures {
  readonly title: string;
  readonly evaluator: string;
  readonly agent: string | undefined;
  readonly tool: string | undefined;
  readonly changedBy: string | undefined;
  readonly fixedIn: string | undefined;
  readonly ignoredUntil: Micros | undefined;
  readonly ignoredUntilRuns: number | undefined;
  readonly mergedInto: string | undefined;
  readonly firstSeen: Micros;
  readonly lastSeen: Micros;
  readonly firstVersion: string | undefined;
  readonly lastVersion: string | undefined;
}

const issueResource = resource<IssueRow>()('Issue', {
  id: text,
  title: issueText('The failure in words.'),
  tenant: text,
  agent: optional(text, 'Null for runs without the name of an agent.'),
  evaluator: issueText('Configured name of the evaluator.'),
  tool: optional(text, 'Null for a failure that is not of a tool.'),
  signature: issueText('The part that all failures of the issue have in common.'),
  state: {
    enum: issueStates,
    description: '`regressed`: it was resolved, and a later run has it again. `merged`: its runs count with the issue `merged_into`.',
  },
  changed_at: { ...time, description: 'When the state was changed.' },
  changed_by: optional(text, 'Null when the service changed it, or when no one has.'),
  note: text,
  fixed_in: optional(
    text,
    'The version in which it is fixed. `next`: the first version that is seen after the decision. `now`: all runs that begin after the decision.',
  ),
  ignored_until: optional(time, 'It opens again at this time.'),
  ignored_until_runs: optional(count, 'It opens again when it has more runs than this.'),
  merged_into: optional(text),
  runs: { ...count, description: 'Runs with the failure, also those that the store no longer has.' },
  first_seen: time,
  last_seen: time,
  first_version: optional(text),
  last_version: optional(text),
  days: many(count, `Runs with the failure in each of the last ${issueDays} days (UTC), today last.`),
  sessions: { ...count, description: 'Sessions whose first run with the failure began in these days.' },
  trend: {
    ...number,
    description: 'Runs of the last 24 hours, divided by those of an average day in the week before; 1 is added to both.',
  },
  impact: { ...number, description: 'Runs of the last 24 hours, times the trend.' },
  share: optional(
    estimate,
    'Share of the runs that the evaluator judged in these days. Null when a raised sample makes the share unknown.',
  ),
});

/** A run of an issue. The newest ones are shown as examples. */
interface IssueExample extends IssueRun {
  readonly input: string | undefined;
  readonly explanation: string | undefined;
}

const issueRun = resource<IssueExample>()('IssueRun', {
  trace_id: text,
  span_id: text,
  tenant: text,
  started_at: time,
  version: [textOrNull(), ({ version }) => orNone(version)],
  session_id: optional(text),
  input: optional(text, `First characters of the input. Only for the ${examplesShown} newest runs, while the store has their texts.`),
  explanation: optional(text, `Explanation of the verdict. Only for the ${examplesShown} newest runs.`),
});

export const issueSchemas = schemasOf(issueResource, issueRun);

function rowOf(issue: Issue, figures: IssueFigures): IssueRow {
  const { name, agent, tool, by, fix, until, into, firstAt, lastAt, firstVersion, lastVersion, ...same } = issue;
  return {
    ...same,
    ...figures,
    title: issueTitle(issue),
    evaluator: name,
    agent: orNone(agent),
    tool: orNone(tool),
    changedBy: orNone(by),
    fixedIn: fix?.in === 'version' ? fix.version : fix?.in,
    ignoredUntil: until?.at,
    ignoredUntilRuns: until?.runs,
    mergedInto: into,
    firstSeen: firstAt,
    lastSeen: lastAt,
    firstVersion: orNone(firstVersion),
    lastVersion: orNone(lastVersion),
  };
}

export type IssueApiDeps = Pick<ApiDeps, 'store' | 'clock' | 'refreshVersions' | 'redactedText'>;

function nowOf({ clock }: IssueApiDeps): Micros {
  return Math.floor(clock.nowMs() * 1_000);
}

/** Figures of the issues of a page. */
async function rowsOf(deps: IssueApiDeps, issues: readonly Issue[]): Promise<readonly IssueRow[]> {
  const { store } = deps;
  const now = nowOf(deps);
  const from = issueDaysFrom(now);
  const ids = issues.map((one) => one.id);
  const hours = await store.issues.hours(ids, from, dayMicros);
  const judged: JudgedRuns[] = [];
  for (const tenant of new Set(issues.map((one) => one.tenant)))
    judged.push({ tenant, rows: (await store.rollups('evaluator', { from, to: now, now, byAgent: true, byName: true, tenant })).rows });
  const figures = issueFigures(issues, { now, hours, judged });
  return issues.flatMap((issue) => {
    const own = figures.get(issue.id);
    return own === undefined ? [] : [rowOf(issue, own)];
  });
}

/** A version of agents, for the issues that are new since then. */
interface SinceVersion {
  /** Its runs, over all agents. */
  readonly runs: number;
  /** When each agent had it first, and the versions before it. */
  readonly agents: IssuesSince['agents'];
}

async function sinceVersion({ store }: IssueApiDeps, version: string, query: Parameters): Promise<SinceVersion> {
  const figures = await store.versions.figures({ ...tenantOf(query), ...named(query, 'agent', 'agent'), kinds: ['run'] });
  const own = figures.filter((one) => one.version === version);
  const others = Map.groupBy(
    figures.filter((one) => one.version !== version),
    ({ agent }) => agent,
  );
  return {
    runs: own.reduce((sum, { runs }) => sum + runs, 0),
    agents: own.map(({ agent, firstAt: at }) => ({ agent, at, before: versionsBefore(at, others.get(agent) ?? []) })),
  };
}

/** Routes that need no more than a store. */
export const issueRoutes: readonly RouteOver<IssueApiDeps>[] = [
  {
    method: 'get',
    path: '/issues',
    summary: 'Issues: failed verdicts of one evaluator, agent and tool with the same signature. Those with the most impact first.',
    path_parameters: {},
    query_parameters: {
      tenant: tenantParameter,
      agent: { ...textParameter, description: 'Name of the agent.' },
      evaluator: { ...textParameter, description: 'Configured name of the evaluator.' },
      tool: { ...textParameter, description: 'Name of the tool.' },
      state: { enum: issueStates, description: 'Issues in this state. When left out: all but those that are merged.' },
      since: { ...textParameter, description: 'Issues with a run that began at this time or later, in RFC 3339.' },
      new_since: {
        ...textParameter,
        description: 'Issues whose first run began at this time or later, in RFC 3339, and those that have regressed since then.',
      },
      since_version: {
        ...textParameter,
        description:
          'Issues that began after their agent had this version first, and those that have regressed since then. Those that only earlier versions have are left out.',
      },
      ...pages,
    },
    answer: list('issues', issueResource, {
      since_version: optional(
        object({
          version: text,
          runs: { ...count, description: 'Runs of this version. With 0 nothing is known about the version.' },
          first_seen: optional(time),
          new: { ...count, description: 'Open issues on all pages.' },
          regressed: { ...count, description: 'Regressed issues on all pages.' },
        }),
        'The version of `since_version`. Null without it.',
      ),
    }),
    async handle(deps, query) {
      await deps.refreshVersions();
      await deps.store.issues.recount(nowOf(deps));
      const version = query['since_version'];
      const since = typeof version === 'string' ? await sinceVersion(deps, version, query) : undefined;
      const [seenFrom, newFrom] = [timeAt(query, 'since'), timeAt(query, 'new_since')];
      const state = issueStates.find((one) => one === query['state']);
      const wanted = {
        ...tenantOf(query),
        ...named(query, 'agent', 'agent'),
        ...named(query, 'evaluator', 'name'),
        ...named(query, 'tool', 'tool'),
        states: state === undefined ? issueStates.filter((one) => one !== 'merged') : [state],
        ...(seenFrom === undefined ? {} : { seenFrom }),
        ...(newFrom === undefined ? {} : { newFrom }),
        ...(since === undefined ? {} : { since: { version: String(version), agents: since.agents } }),
      };
      const { limit, after = 0 } = pageOf(query);
      const found = await deps.store.issues.list({ ...wanted, limit: limit + 1, after });
      const counts = since === undefined ? [] : await deps.store.issues.counts(wanted);
      const issuesIn = (own: IssueState): number => counts.find((one) => one.state === own)?.issues ?? 0;
      return {
        issues: (await rowsOf(deps, found.slice(0, limit))).map(issueResource.write),
        next: nextOf(found.length > limit ? after + limit : undefined),
        since_version:
          since === undefined
            ? null
            : {
                version: String(version),
                runs: since.runs,
                first_seen: since.agents.length === 0 ? null : timeOf(Math.min(...since.agents.map(({ at }) => at))),
                new: issuesIn('open'),
                regressed: issuesIn('regressed'),
              },
      };
    },
  },
  {
    method: 'get',
    path: '/issues/{id}',
    summary: `One issue with the ${runsShown} newest of its runs in the store, and its runs by version.`,
    path_parameters: { id },
    query_parameters: { tenant: tenantParameter },
    answer: object({
      issue: issueResource.schema,
      runs: many(issueRun.schema),
      versions: many(object({ version: optional(text), runs: count })),
    }),
    missing,
    handle: shown,
  },
  {
    method: 'patch',
    path: '/issues/{id}',
    summary: 'Changes the state of an issue: resolves, ignores, opens or merges it.',
    may: 'annotate',
    path_parameters: { id },
    query_parameters: { tenant: tenantParameter },
    body: bodyOf(
      {
        state: { enum: ['open', 'resolved', 'ignored', 'merged'] },
        version: { ...textParameter, description: 'With `resolved`: the version in which it is fixed. Default: all runs from now on.' },
        next_version: { type: 'boolean', description: 'With `resolved`: fixed in the first version that is seen from now on.' },
        until: { type: 'string', maxLength: 40, description: 'With `ignored`: opens again at this time, in RFC 3339.' },
        until_runs: {
          type: 'integer',
          minimum: 1,
          maximum: Number.MAX_SAFE_INTEGER,
          description: 'With `ignored`: opens again when it has more runs than this.',
        },
        into: { ...id, description: 'With `merged`: the issue of the same agent and evaluator that takes its runs.' },
        note: { type: 'string', maxLength: noteCharsMax },
        by: {
          type: 'string',
          minLength: 1,
          maxLength: nameCharsMax,
          description: 'The person, where the service has no tokens. With tokens it is the name of the token.',
        },
      },
      ['state'],
      bodyBytesMax,
    ),
    refusals: {
      409: 'The issue has changed meanwhile, or cannot be merged into the other one.',
      422: 'A member does not go with the state, or is not a time.',
    },
    answer: object({
      issue: issueResource.schema,
      runs: many(issueRun.schema),
      versions: many(object({ version: optional(text), runs: count })),
    }),
    missing,
    async handle(deps, query, body, caller) {
      const issue = await issueIn(deps, query);
      if (issue === undefined) return undefined;
      await change(deps, issue, { given: isJsonObject(body) ? body : {}, caller });
      return await shown(deps, query);
    },
  },
];

export function issueIn({ store }: IssueApiDeps, query: Parameters): Promise<Issue | undefined> {
  return store.issues.issue(String(query['id']), tenantOf(query).tenant);
}

async function shown(deps: IssueApiDeps, query: Parameters): Promise<JsonObject | undefined> {
  await deps.store.issues.recount(nowOf(deps));
  const issue = await issueIn(deps, query);
  if (issue === undefined) return undefined;
  const [row] = await rowsOf(deps, [issue]);
  const runs = await deps.store.issues.runs(issue.id, runsShown);
  const examples = await Promise.all(runs.slice(0, examplesShown).map((one) => deps.store.run(one)));
  const versions = await deps.store.issues.versions(issue.id);
  return row === undefined
    ? undefined
    : {
        issue: issueResource.write(row),
        runs: runs.map((one, at) =>
          issueRun.write({
            ...one,
            input: examples[at]?.excerpt,
            explanation: examples[at]?.verdicts.find(({ name }) => name === issue.name)?.explanation,
          }),
        ),
        versions: versions.map(({ version, runs: own }) => ({ version: orNone(version) ?? null, runs: own })),
      };
}

async function change(
  { store, clock, redactedText }: IssueApiDeps,
  issue: Issue,
  { given, caller }: { readonly given: JsonObject; readonly caller: Pick<Caller, 'name'> },
): Promise<void> {
  const state = issueStates.find((one) => one === member(given, 'state')) ?? 'open';
  refuseStrangers(state, given);
  const by = caller.name ?? textAt(given, 'by') ?? byDefault;
  const kept = { changedAt: Math.floor(clock.nowMs() * 1_000), by, note: redactedText(textAt(given, 'note') ?? '') };
  if (state === 'merged') {
    const merged = await store.issues.merge(issue.id, textAt(given, 'into') ?? '000000000000', kept);
    if (merged !== undefined) return;
    throw new Refusal(409, {
      code: 'not_merged',
      message: 'An issue is merged into another one of the same agent and evaluator, which is not merged itself.',
      todo: `GET /api/v1/issues?evaluator=${encodeURIComponent(issue.name)} lists those of the evaluator.`,
    });
  }
  const fix = state === 'resolved' ? fixIn(given) : undefined;
  const until = state === 'ignored' ? untilIn(given) : undefined;
  const wanted: IssueChange = {
    ...kept,
    state,
    isTold: true,
    ...(state === 'resolved' ? { notice: { kind: state, at: kept.changedAt } } : {}),
    ...(fix === undefined ? {} : { fix }),
    ...(until === undefined ? {} : { until }),
  };
  const changed = await store.issues.change(issue, wanted);
  if (changed?.changedAt === wanted.changedAt && changed.state === state) return;
  throw new Refusal(409, {
    code: 'changed_meanwhile',
    message: `The issue is ${changed?.state ?? 'gone'} by now.`,
    todo: `Read it again: GET /api/v1/issues/${issue.id}.`,
  });
}

const membersOf: { readonly [state: string]: readonly string[] } = {
  resolved: ['version', 'next_version'],
  ignored: ['until', 'until_runs'],
  merged: ['into'],
};

function refuseStrangers(state: string, given: JsonObject): void {
  const own = membersOf[state] ?? [];
  const stranger = Object.values(membersOf)
    .flat()
    .find((name) => !own.includes(name) && Object.hasOwn(given, name));
  const lacksTarget = state === 'merged' && !Object.hasOwn(given, 'into');
  const hasTwo = Object.hasOwn(given, 'version') && member(given, 'next_version') === true;
  if (stranger === undefined && !lacksTarget && !hasTwo) return;
  throw new Refusal(422, {
    code: 'unfit_member',
    message: lacksTarget
      ? 'into is missing: the issue that takes the runs.'
      : hasTwo
        ? 'version and next_version exclude each other.'
        : `${stranger ?? ''} does not go with the state ${state}.`,
    todo: own.length === 0 ? `Leave ${stranger ?? ''} out.` : `The state ${state} takes ${own.join(' and ')}.`,
  });
}

function fixIn(given: JsonObject): IssueFix {
  const version = textAt(given, 'version');
  if (version !== undefined) return { in: 'version', version };
  return member(given, 'next_version') === true ? { in: 'next' } : { in: 'now' };
}

function untilIn(given: JsonObject): Issue['until'] {
  const [at, runs] = [textAt(given, 'until'), member(given, 'until_runs')];
  const time = at === undefined ? undefined : parsedTime(at);
  if (at !== undefined && (time === undefined || time > Number.MAX_SAFE_INTEGER))
    throw new Refusal(422, {
      code: 'not_a_time',
      message: `until is ${JSON.stringify(at)}, which is not a time before the year 2255.`,
      todo: 'Write a date or a time in RFC 3339: 2026-11-21, or 2026-11-21T09:30:00Z.',
    });
  return { ...(time === undefined ? {} : { at: time }), ...(typeof runs === 'number' ? { runs } : {}) };
}

function textAt(given: JsonObject, name: string): string | undefined {
  const value = member(given, name);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
