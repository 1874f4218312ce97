/** The routes of sessions: runs with the same session id. */
import type { Tenant } from '../../model/ids.ts';
import * as api from '../../model/resource.ts';
import { sessionRunsMax, type SessionRow, type WorstTurns } from '../../model/store/session-list.ts';
import { examinedMax } from '../../model/store/store.ts';
import { hasPassed } from './run-json.ts';
import { list, nextOf, pages, type Route, runPageOf, textParameter } from './route.ts';
import { filterOf, runFilters, runsPage, searchedJson, searchedRuns, searchedTo, tenant } from './run-list.ts';

const { agent, service, evaluator, verdict, from, to } = runFilters;

const session = api.resource<SessionRow>()('Session', {
  id: api.text,
  tenant: api.text,
  agents: api.many(api.text, 'Agents of its runs, by name.'),
  turns: { ...api.count, description: 'Runs of the session.' },
  whole: [
    { ...api.flag, description: `False when the session has more runs: the figures are those of the newest ${sessionRunsMax}.` },
    ({ isWhole }) => isWhole,
  ],
  started_at: { ...api.time, description: 'Start of the first run.' },
  ended_at: { ...api.time, description: 'End of the last run.' },
  duration_seconds: [
    api.inSeconds({ ...api.number, minimum: 0, description: 'Sum of the durations of the runs, without the time between them.' }),
    ({ runMicros }) => runMicros,
  ],
  input_tokens: api.orNull(api.integer, 'Sum of all runs. Null when those of one run are unknown.'),
  output_tokens: api.orNull(api.integer, 'Sum of all runs. Null when those of one run are unknown.'),
  cost_usd: api.numberOrNull('Sum of all runs. Null when the cost of one run is unknown.'),
  worst: api.optional(
    api.inline<NonNullable<SessionRow['worst']>>()({
      evaluator: [api.text, ({ name }) => name],
      verdict: { enum: ['pass', 'fail', 'raw'] },
      score: api.share,
    }),
    'The failed verdict with the lowest score; without a failed one, the lowest of all scored verdicts. Null when no run has a score.',
  ),
});

export const worstTurn = api.resource<WorstTurns['worst'][number]>()('WorstTurn', {
  name: api.text,
  scored_turns: [{ ...api.count, description: 'Turns that the evaluator scored.' }, ({ scored }) => scored],
  worst_turn: [
    {
      ...api.orNull(api.integer),
      minimum: 1,
      description: 'Number of the turn with the lowest score; the first one of equal scores. Null when the evaluator scored none.',
    },
    ({ turn }) => (turn === undefined ? null : turn + 1),
  ],
  score: api.orNull(api.share),
  passed: [api.orNull(api.flag, 'Null when there is no threshold, or no score.'), ({ verdict }) => hasPassed(verdict)],
  trace_id: api.textOrNull(),
  span_id: api.textOrNull(),
});

export const sessionSchemas = api.schemasOf(session);

export const sessionRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/sessions',
    summary: `Sessions with a run that matches the filter, by the newest such run. Their figures are about all their runs. A page examines at most ${examinedMax} runs.`,
    path_parameters: {},
    query_parameters: { agent, service, tenant, evaluator, verdict, from, to, ...pages },
    answer: list('sessions', session, searchedTo),
    async handle({ store }, query) {
      const page = await store.sessions({ ...filterOf(query), ...runPageOf(query) });
      return { sessions: page.sessions.map(session.write), next: nextOf(page.next), ...searchedJson(page) };
    },
  },
  {
    method: 'get',
    path: '/sessions/{id}',
    summary: 'The runs of a session, newest first.',
    path_parameters: { id: { ...textParameter, minLength: 1, description: 'Session id.' } },
    query_parameters: { tenant, ...pages },
    answer: searchedRuns,
    handle: ({ store }, query) => runsPage(store, filterOf({ tenant: query['tenant'], session: query['id'] }), query),
  },
  {
    method: 'get',
    path: '/sessions/{id}/worst-turns',
    summary: 'The run of a session with the lowest score, by evaluator. The runs are the turns, by start.',
    path_parameters: { id: { ...textParameter, minLength: 1, description: 'Session id.' } },
    query_parameters: { tenant },
    answer: api.object({
      worst_turns: api.many(worstTurn.schema),
      turns: { ...api.count, description: 'Runs of the session.' },
      whole: { ...api.flag, description: `False when the session has more runs: these are the newest ${sessionRunsMax}.` },
      next: { type: 'null' },
    }),
    async handle({ store }, query) {
      const { tenant: of = '', id } = query;
      const { turns, isWhole, worst } = await store.worstTurns({ tenant: String(of) as Tenant, id: String(id) });
      return { worst_turns: worst.map(worstTurn.write), turns, whole: isWhole, next: null };
    },
  },
];
