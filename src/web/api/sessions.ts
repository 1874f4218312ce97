/** The routes of sessions: runs with the same session id. */
import type { Tenant } from '../../model/ids.ts';
import type { JsonObject } from '../../model/json.ts';
import { sessionRunsMax, type SessionRow, type WorstTurns } from '../../model/store/session-list.ts';
import { examinedMax } from '../../model/store/store.ts';
import { timeOf } from './json.ts';
import { count, cursorText, limitDefault, list, object, pages, placeOf, type Route, text, textParameter, time } from './route.ts';
import { filterOf, runFilters, runsPage, searchedRuns, searchedTo, tenant } from './run-list.ts';

const { agent, service, evaluator, verdict, from, to } = runFilters;

export const sessionRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/sessions',
    summary: `Sessions with a run that matches the filter, by the newest such run. Their figures are about all their runs. A page examines at most ${examinedMax} runs.`,
    path_parameters: {},
    query_parameters: { agent, service, tenant, evaluator, verdict, from, to, ...pages },
    answer: list('sessions', 'Session', searchedTo),
    async handle({ store }, query) {
      const { cursor, limit } = query;
      const page = await store.sessions({
        ...filterOf(query),
        limit: typeof limit === 'number' ? limit : limitDefault,
        ...(typeof cursor === 'string' ? { after: placeOf(cursor) } : {}),
      });
      return {
        sessions: page.sessions.map(sessionJson),
        next: page.next === undefined ? null : cursorText(page.next),
        searched_to: page.searchedTo === undefined ? null : timeOf(page.searchedTo),
      };
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
    answer: {
      type: 'object',
      required: ['worst_turns', 'turns', 'whole', 'next'],
      properties: {
        worst_turns: { type: 'array', items: { $ref: '#/components/schemas/WorstTurn' } },
        turns: { type: 'integer', minimum: 0, description: 'Runs of the session.' },
        whole: { type: 'boolean', description: `False: the session has more runs, and these are the newest ${sessionRunsMax}.` },
        next: { type: 'null' },
      },
    },
    async handle({ store }, query) {
      const { tenant: of = '', id } = query;
      const { turns, isWhole, worst } = await store.worstTurns({ tenant: String(of) as Tenant, id: String(id) });
      return { worst_turns: worst.map(worstTurnJson), turns, whole: isWhole, next: null };
    },
  },
];

function sessionJson(session: SessionRow): JsonObject {
  const { id, tenant: of, agents, turns, isWhole, startedAt, endedAt, runMicros, inputTokens, outputTokens, costUsd, worst } = session;
  return {
    id,
    tenant: of,
    agents: [...agents],
    turns,
    whole: isWhole,
    started_at: timeOf(startedAt),
    ended_at: timeOf(endedAt),
    duration_seconds: runMicros / 1_000_000,
    input_tokens: inputTokens ?? null,
    output_tokens: outputTokens ?? null,
    cost_usd: costUsd ?? null,
    worst: worst === undefined ? null : { evaluator: worst.name, verdict: worst.verdict, score: worst.score },
  };
}

function worstTurnJson({ name, scored, turn, score, verdict, traceId, spanId }: WorstTurns['worst'][number]): JsonObject {
  return {
    name,
    scored_turns: scored,
    worst_turn: turn === undefined ? null : turn + 1,
    score: score ?? null,
    passed: verdict === 'pass' ? true : verdict === 'fail' ? false : null,
    trace_id: traceId ?? null,
    span_id: spanId ?? null,
  };
}

const orNull = (type: string, description: string): JsonObject => ({ type: [type, 'null'], description });

export const sessionSchemas: { readonly [name: string]: JsonObject } = {
  Session: object({
    id: text,
    tenant: text,
    agents: { type: 'array', items: text, description: 'Agents of its runs, by name.' },
    turns: { ...count, description: 'Runs of the session.' },
    whole: { type: 'boolean', description: `False: the session has more runs, and the figures are those of the newest ${sessionRunsMax}.` },
    started_at: { ...time, description: 'Start of the first run.' },
    ended_at: { ...time, description: 'End of the last run.' },
    duration_seconds: { type: 'number', minimum: 0, description: 'Sum of the durations of the runs, without the time between them.' },
    input_tokens: orNull('integer', 'Of all runs; null: those of one run are unknown.'),
    output_tokens: orNull('integer', 'Of all runs; null: those of one run are unknown.'),
    cost_usd: orNull('number', 'Of all runs; null: the cost of one run is unknown.'),
    worst: {
      anyOf: [
        object({ evaluator: text, verdict: { enum: ['pass', 'fail', 'raw'] }, score: { type: 'number', minimum: 0, maximum: 1 } }),
        { type: 'null' },
      ],
      description:
        'Of the failed verdicts the one with the lowest score; without a failed one, of all scored verdicts. Null: no run has a score.',
    },
  }),
};
