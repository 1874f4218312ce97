/** The routes of sessions: runs with the same session id. */
import type { Tenant } from '../../model/ids.ts';
import {
  count,
  flag,
  inline,
  inSeconds,
  integer,
  many,
  number,
  numberOrNull,
  object,
  optional,
  orNull,
  resource,
  schemasOf,
  share,
  text,
  textOrNull,
  time,
} from '../../model/resource.ts';
import { sessionRunsMax, type SessionRow, type WorstTurns } from '../../model/store/session-list.ts';
import { examinedMax } from '../../model/store/store.ts';
import { hasPassed } from './run-json.ts';
import { list, nextOf, pages, type Route, runPageOf, textParameter } from './route.ts';
import { filterOf, runFilters, runsPage, searchedJson, searchedRuns, searchedTo, tenant } from './run-list.ts';

const { agent, service, evaluator, verdict, from, to } = runFilters;

const session = resource<SessionRow>()('Session', {
  id: text,
  tenant: text,
  agents: many(text, 'Agents of its runs, by name.'),
  turns: { ...count, description: 'Runs of the session.' },
  whole: [
    { ...flag, description: `False: the session has more runs, and the figures are those of the newest ${sessionRunsMax}.` },
    ({ isWhole }) => isWhole,
  ],
  started_at: { ...time, description: 'Start of the first run.' },
  ended_at: { ...time, description: 'End of the last run.' },
  duration_seconds: [
    inSeconds({ ...number, minimum: 0, description: 'Sum of the durations of the runs, without the time between them.' }),
    ({ runMicros }) => runMicros,
  ],
  input_tokens: orNull(integer, 'Of all runs; null: those of one run are unknown.'),
  output_tokens: orNull(integer, 'Of all runs; null: those of one run are unknown.'),
  cost_usd: numberOrNull('Of all runs; null: the cost of one run is unknown.'),
  worst: optional(
    inline<NonNullable<SessionRow['worst']>>()({
      evaluator: [text, ({ name }) => name],
      verdict: { enum: ['pass', 'fail', 'raw'] },
      score: share,
    }),
    'Of the failed verdicts the one with the lowest score; without a failed one, of all scored verdicts. Null: no run has a score.',
  ),
});

export const worstTurn = resource<WorstTurns['worst'][number]>()('WorstTurn', {
  name: text,
  scored_turns: [{ ...count, description: 'Turns that the evaluator scored.' }, ({ scored }) => scored],
  worst_turn: [
    {
      ...orNull(integer),
      minimum: 1,
      description: 'Number of the turn with the lowest score; the first one of equal scores. Null: the evaluator scored none.',
    },
    ({ turn }) => (turn === undefined ? null : turn + 1),
  ],
  score: orNull(share),
  passed: [orNull(flag, 'Null: there is no threshold, or no score.'), ({ verdict }) => hasPassed(verdict)],
  trace_id: textOrNull(),
  span_id: textOrNull(),
});

export const sessionSchemas = schemasOf(session);

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
    answer: object({
      worst_turns: many(worstTurn.schema),
      turns: { ...count, description: 'Runs of the session.' },
      whole: { ...flag, description: `False: the session has more runs, and these are the newest ${sessionRunsMax}.` },
      next: { type: 'null' },
    }),
    async handle({ store }, query) {
      const { tenant: of = '', id } = query;
      const { turns, isWhole, worst } = await store.worstTurns({ tenant: String(of) as Tenant, id: String(id) });
      return { worst_turns: worst.map(worstTurn.write), turns, whole: isWhole, next: null };
    },
  },
];
