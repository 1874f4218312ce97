/** The routes of alerts: what each looks at, its state, and what people note at it. */
import {
  type Acknowledgement,
  type AlertRow,
  type AlertSilence,
  alertNoteCharsMax,
  alertStates,
  alertUnits,
  type AlertWanted,
  silenceMsMax,
} from '../../model/alert.ts';
import { isJsonObject, type JsonObject, type JsonValue, member, textAt } from '../../model/json.ts';
import type { Tenant } from '../../model/ids.ts';
import * as api from '../../model/resource.ts';
import type { Micros } from '../../model/timestamp.ts';
import { type ApiDeps, bodyOf, type Caller, list, type Parameters, Refusal, type Route, textParameter } from './route.ts';

const bodyBytesMax = 16 * 1024;
const nameCharsMax = 200;
const byDefault = 'console';

const name = { type: 'string', maxLength: 100, description: 'Name of the alert.' } as const;
const tenant = { ...textParameter, description: 'Only alerts of this tenant. All alerts when left out.' } as const;
const inQuery = {
  tenant,
  agent: { ...textParameter, description: 'The agent; empty for runs without one. When left out: all agents.' },
} as const;
const inBody = {
  agent: { type: ['string', 'null'], maxLength: 1_000, description: 'The agent; null for runs without one. When left out: all agents.' },
  by: {
    type: 'string',
    minLength: 1,
    maxLength: nameCharsMax,
    description: 'The person, where the service has no tokens. With tokens it is the name of the token.',
  },
} as const;
const missing = { message: 'There is no such alert, or it does not look at the agent.', todo: 'GET /api/v1/alerts lists them.' };
const silenceSecondsMax = silenceMsMax / 1_000;

/** The clock of the alerts counts whole milliseconds. */
const wholeMs = (ms: number | undefined): Micros | undefined => (ms === undefined ? undefined : Math.floor(ms) * 1_000);

const silence = api.inline<AlertSilence>()({
  at: [api.time, ({ atMs }) => wholeMs(atMs)],
  until: [api.time, ({ untilMs }) => wholeMs(untilMs)],
  by: api.text,
  reason: [api.text, ({ note }) => note],
  all_agents: [api.flag, ({ agent }) => agent === undefined],
});
const acknowledgement = api.inline<Acknowledgement>()({ at: [api.time, ({ atMs }) => wholeMs(atMs)], by: api.text, note: api.text });

const alert = api.resource<AlertRow>()('Alert', {
  name: api.text,
  tenant: api.optional(api.text, 'Null when the alert is about all tenants together.'),
  when: { ...api.text, description: 'The condition, as the configuration writes it.' },
  agent: api.optional(api.text, 'Null when no agent has been looked at, and for runs without an agent.'),
  state: {
    enum: alertStates,
    description: '`pending`: the condition holds, and not yet for as long as `for`. `no_data`: too few runs to say whether it holds.',
  },
  since: [api.optional(api.time, 'When the state began.'), ({ sinceMs }) => wholeMs(sinceMs)],
  looked_at: [
    api.optional(api.time, 'When the service last looked. Null until it has looked once since its start.'),
    ({ lookedAtMs }) => wholeMs(lookedAtMs),
  ],
  firing_since: [
    api.optional(api.time, 'Since when it fires. It stays while there is no data, until the alert is over.'),
    ({ firingMs }) => wholeMs(firingMs),
  ],
  figure: api.optional(api.number),
  threshold: api.optional(api.number),
  unit: { enum: alertUnits, description: 'Unit of the figure and the threshold. `times` means times the budget of the objective.' },
  runs: { ...api.count, description: 'Runs behind the figure.' },
  runs_page: [{ ...api.text, description: 'Page of the console with the runs that the alert is about.' }, ({ runsPath }) => runsPath],
  explanation: api.text,
  version: api.optional(api.text),
  against: api.optional(api.text),
  to: api.many(api.text),
  undelivered: [
    { ...api.count, description: 'Messages that wait for their receiver, or for the end of a silence.' },
    ({ untold }) => untold,
  ],
  silence: api.optional(silence, 'Messages are held back until then.'),
  acknowledged: api.optional(acknowledgement, 'The person who looks after the firing alert.'),
});

export const alertSchemas = api.schemasOf(alert);

export const alertRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/alerts',
    summary: 'The alerts of the configuration and their state for each agent that they look at, with silences and acknowledgements.',
    path_parameters: {},
    query_parameters: { tenant, state: { enum: alertStates, description: 'Alerts in this state.' } },
    answer: list('alerts', alert),
    async handle({ alerts }, { tenant: of, state }) {
      const rows = alerts().filter((row) => (of === undefined || row.tenant === of) && (state === undefined || row.state === state));
      return { alerts: rows.map(alert.write), next: null };
    },
  },
  {
    method: 'post',
    path: '/alerts/{name}/silence',
    summary: `Holds back the messages of an alert for some time, ${silenceMsMax / 86_400_000} days at most. Alerts that still hold at its end are sent then.`,
    path_parameters: { name },
    query_parameters: { tenant },
    body: bodyOf(
      {
        ...inBody,
        seconds: { type: 'integer', minimum: 1, maximum: silenceSecondsMax, description: 'Duration of the silence.' },
        reason: { type: 'string', minLength: 1, maxLength: alertNoteCharsMax },
      },
      ['seconds', 'reason'],
      bodyBytesMax,
    ),
    refusals: { 409: 'There are as many silences as a tenant may have.' },
    answer: list('alerts', alert),
    missing,
    async handle(deps, query, body, caller) {
      const given = isJsonObject(body) ? body : {};
      const untilMs = deps.clock.nowMs() + Number(member(given, 'seconds')) * 1_000;
      const done = await deps.alertNotes.silence(wantedOf(query, given), {
        by: byOf(deps, given, caller),
        note: textAt(given, 'reason') ?? '',
        untilMs,
      });
      if (done === 'full')
        throw new Refusal(409, {
          code: 'too_many_silences',
          message: 'There are as many silences as a tenant may have.',
          todo: 'Silence the alert for all of its agents: leave agent out.',
        });
      return done === 'unknown' ? undefined : ofAlert(deps, query);
    },
  },
  {
    method: 'post',
    path: '/alerts/{name}/acknowledge',
    summary: 'Notes the person who looks after a firing alert. No further message is sent until it is over.',
    may: 'annotate',
    path_parameters: { name },
    query_parameters: { tenant },
    body: bodyOf({ ...inBody, note: { type: 'string', maxLength: alertNoteCharsMax } }, [], bodyBytesMax),
    refusals: { 409: 'The alert does not fire.' },
    answer: list('alerts', alert),
    missing,
    async handle(deps, query, body, caller) {
      const given = isJsonObject(body) ? body : {};
      const done = await deps.alertNotes.acknowledge(wantedOf(query, given), {
        by: byOf(deps, given, caller),
        note: textAt(given, 'note') ?? '',
      });
      if (done === 0)
        throw new Refusal(409, {
          code: 'not_firing',
          message: 'The alert does not fire, so there is nothing to acknowledge.',
          todo: 'GET /api/v1/alerts?state=firing lists those that do.',
        });
      return done === 'unknown' ? undefined : ofAlert(deps, query);
    },
  },
  ...(
    [
      { path: '/alerts/{name}/silence', kind: 'silence', summary: 'Ends a silence now.', what: 'silence' },
      { path: '/alerts/{name}/acknowledge', kind: 'acknowledged', summary: 'Takes an acknowledgement back.', what: 'acknowledgement' },
    ] as const
  ).map(({ path, kind, summary, what }): Route => ({
    method: 'delete',
    path,
    summary,
    ...(kind === 'acknowledged' ? { may: 'annotate' } : {}),
    path_parameters: { name },
    query_parameters: inQuery,
    answer: list('alerts', alert),
    missing: { message: `The alert has no such ${what}.`, todo: 'GET /api/v1/alerts lists them; one for all agents needs no agent.' },
    async handle(deps, query) {
      const isDone = await deps.alertNotes.lift(wantedOf(query, query as JsonObject), kind);
      return isDone ? ofAlert(deps, query) : undefined;
    },
  })),
];

function wantedOf(query: Parameters, given: JsonObject): AlertWanted {
  const agent = member(given, 'agent');
  const only = query['tenant'];
  return {
    alert: String(query['name']),
    agent: agent === undefined ? undefined : agent === null ? '' : String(agent),
    only: only === undefined ? undefined : (String(only) as Tenant),
  };
}

/** With tokens, the name of the token replaces the name in the body. */
function byOf({ queues }: Pick<ApiDeps, 'queues'>, given: JsonObject, { name: own }: Pick<Caller, 'name'>): string {
  return queues.person(own ?? String(member(given, 'by') ?? byDefault));
}

function ofAlert({ alerts }: Pick<ApiDeps, 'alerts'>, query: Parameters): JsonValue {
  return {
    alerts: alerts()
      .filter((row) => row.name === query['name'])
      .map(alert.write),
    next: null,
  };
}
