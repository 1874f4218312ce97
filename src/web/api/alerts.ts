/** The route of alerts: what each looks at, and its state. */
import { type AlertRow, alertStates } from '../../model/alert.ts';
import type { JsonObject } from '../../model/json.ts';
import { timeText } from '../../model/timestamp.ts';
import { count, list, object, type Route, text, time } from './route.ts';

export const alertRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/alerts',
    summary: 'The alerts of the configuration and their state for each agent that they look at.',
    path_parameters: {},
    query_parameters: {},
    answer: list('alerts', 'Alert'),
    ofAllTenants: ['alerts'],
    handle: async ({ alerts }) => ({ alerts: alerts().map(alertJson), next: null }),
  },
];

function alertJson({
  name,
  when,
  agent,
  state,
  sinceMs,
  lookedAtMs,
  firingMs,
  figure,
  threshold,
  runs,
  explanation,
  version,
  against,
  to,
  untold,
}: AlertRow): JsonObject {
  return {
    name,
    when,
    agent: agent ?? null,
    state,
    since: timeOrNull(sinceMs),
    looked_at: timeOrNull(lookedAtMs),
    firing_since: timeOrNull(firingMs),
    figure: figure ?? null,
    threshold: threshold ?? null,
    runs,
    explanation,
    version: version ?? null,
    against: against ?? null,
    to: [...to],
    undelivered: untold,
  };
}

function timeOrNull(ms: number | undefined): string | null {
  return ms === undefined ? null : timeText(BigInt(Math.max(0, Math.floor(ms))) * 1_000_000n);
}

const orNull = (schema: JsonObject, description?: string): JsonObject => ({
  anyOf: [schema, { type: 'null' }],
  ...(description === undefined ? {} : { description }),
});

export const alertSchemas: { readonly [name: string]: JsonObject } = {
  Alert: object({
    name: text,
    when: { ...text, description: 'The condition, as the configuration writes it.' },
    agent: orNull(text, 'Null: no agent has been looked at, or runs without an agent.'),
    state: { enum: alertStates, description: '`no_data`: too few runs to say whether the condition holds.' },
    since: orNull(time, 'When the state began.'),
    looked_at: orNull(time, 'When the service looked last. Null: it has not looked since its start.'),
    firing_since: orNull(time, 'Since when it fires. It stays while there is no data, until the alert is over.'),
    figure: orNull({ type: 'number' }, 'A share, US dollars, tokens, microseconds, or times the budget, by the condition.'),
    threshold: orNull({ type: 'number' }),
    runs: { ...count, description: 'Runs behind the figure.' },
    explanation: text,
    version: orNull(text),
    against: orNull(text),
    to: { type: 'array', items: text },
    undelivered: { ...count, description: 'Messages that wait for their receiver.' },
  }),
};
