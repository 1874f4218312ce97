/** What waits for backends, and what they have refused. */
import type { EntryStatus, MetricsStatus, ReportedFailure, ScoresStatus, SpansStatus } from '../../model/exporter-status.ts';
import type { JsonObject } from '../../model/json.ts';
import { type ExportCount, type ExportRow, exportStates } from '../../model/store/export-store.ts';
import { type Micros, timeText } from '../../model/timestamp.ts';
import { count, cursorText, limitDefault, list, named, object, pages, placeOf, type Route, text, textParameter, time } from './route.ts';

const exporter = { ...textParameter, description: 'Name of an entry of `export`.' } as const;
/** Dead letters of one request: a second of work at most. */
const retriedMax = 10_000;

export const exportRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/exporters',
    summary:
      'What each entry of `export` has still to send, and how its backend does; also of entries that are no longer in the configuration. One that sends spans on has two rows: of these, and of scores that came too late for them. Metrics have one where they are pushed.',
    path_parameters: {},
    query_parameters: {},
    answer: list('exporters', 'Exporter'),
    async handle({ store, clock, exporters }) {
      const counts = new Map((await store.exports.counts()).map((count) => [count.exporter, count]));
      // After the store, so that what was written meanwhile is not told twice.
      const entries = exporters.statuses();
      const known = new Set(entries.flatMap(({ name, status }) => (status.sends === 'scores' ? [name] : [])));
      const strangers = [...counts.values()]
        .filter((count) => !known.has(count.exporter))
        .map((count) => ({ name: count.exporter, sends: 'scores', row: strangerJson(count, clock.nowMs()) }));
      const rows = [
        ...entries.map((entry) => ({
          name: entry.name,
          sends: entry.status.sends,
          row: entryJson(entry, counts.get(entry.name), clock.nowMs()),
        })),
        ...strangers,
      ];
      return {
        exporters: rows.toSorted((one, other) => order(one.name, other.name) || order(one.sends, other.sends)).map(({ row }) => row),
        next: null,
      };
    },
  },
  {
    method: 'get',
    path: '/exports',
    summary: 'Scores that wait in the store for a backend, and dead letters, oldest first.',
    path_parameters: {},
    query_parameters: { exporter, state: { enum: exportStates, description: '`waiting`, or `dead`: given up.' }, ...pages },
    answer: list('exports', 'Export'),
    async handle({ store }, query) {
      const { state, cursor, limit } = query;
      const page = await store.exports.list({
        limit: typeof limit === 'number' ? limit : limitDefault,
        ...named(query, 'exporter', 'exporter'),
        ...(state === 'waiting' || state === 'dead' ? { state } : {}),
        ...(typeof cursor === 'string' ? { after: placeOf(cursor).id } : {}),
      });
      return { exports: page.exports.map(exportJson), next: page.next === undefined ? null : cursorText({ startedAt: 0, id: page.next }) };
    },
  },
  {
    method: 'post',
    path: '/exports/retry',
    summary: `Sends dead letters again: all, those of one exporter, or a single one. It takes the oldest ${retriedMax}; after an answer with as many, send another request.`,
    path_parameters: {},
    query_parameters: { exporter, id: { type: 'integer', minimum: 1, description: '`id` of a dead letter.' } },
    answer: {
      type: 'object',
      required: ['retried'],
      properties: { retried: { type: 'integer', minimum: 0, description: 'Dead letters that wait again.' } },
    },
    async handle({ store, clock, exporters }, query) {
      const { id } = query;
      const retried = await store.exports.retry({
        ...named(query, 'exporter', 'exporter'),
        ...(typeof id === 'number' ? { ids: [id] } : {}),
        now: Math.floor(clock.nowMs() * 1_000),
        limit: retriedMax,
      });
      await exporters.recount();
      return { retried };
    },
  },
];

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

// What waits for backends, as the API writes it.

const countOrNull: JsonObject = { ...count, type: ['integer', 'null'] };
const timeOrNull = (description: string): JsonObject => ({ ...time, type: ['string', 'null'], description });

/** Of the OpenAPI document. */
export const exportSchemas: { readonly [name: string]: JsonObject } = {
  Exporter: object({
    name: { ...text, description: 'Of the entry of `export`. An entry of the kind `forward` has two rows.' },
    kind: {
      type: ['string', 'null'],
      description: '`to` of the entry. Null: it is not in the configuration, and only its rows in the store are known.',
    },
    sends: {
      enum: ['scores', 'spans', 'metrics'],
      description:
        '`spans`: requests of agents that an entry of the kind `forward` sends on; its `scores` are those that came too late to go on them. `metrics`: what an entry of the kind `metrics` pushes.',
    },
    configured: {
      type: 'boolean',
      description: 'False: it is not in the configuration. Nobody sends scores that wait; spans that wait still go on.',
    },
    circuit: {
      enum: ['closed', 'half_open', 'open', null],
      description:
        'Open: the backend is left alone for a while. Half open: it is tried with one item. Null: not configured, or metrics, which are pushed at each interval whatever came of the last one.',
    },
    retry_at: timeOrNull('When it is tried again, while the circuit is open.'),
    fault: {
      type: ['string', 'null'],
      description:
        'Why the backend took nothing the last time: a status with what it is about, or a code. Null: it takes what it gets, or was not tried.',
    },
    to_send: {
      ...countOrNull,
      description:
        'What is still to be sent. Scores: all in memory and in the store, also those that were not read from there yet, as `tracejury_exporter_queue`. Spans: requests of which something has not gone on, as `tracejury_forward_waiting`. Null: metrics, of which nothing waits.',
    },
    not_stored: {
      ...countOrNull,
      description: 'Of these, scores that stand in memory alone: their run is not written yet. Null: not scores.',
    },
    sending: { ...countOrNull, description: 'Of what is to be sent, that which is on its way. Null: metrics.' },
    waiting: {
      ...countOrNull,
      description: 'Rows of the store that wait. What was sent in the last second may be among them. Null: not scores.',
    },
    dead: { ...countOrNull, description: 'Rows that were given up: dead letters. They are not among those to be sent. Null: not scores.' },
    oldest_at: timeOrNull('When the oldest that is to be sent was scored, or came. Null: nothing waits.'),
    oldest_age_seconds: {
      type: ['number', 'null'],
      minimum: 0,
      description: 'How long ago that is. Spans wait for their verdicts, up to `hold`, also while the backend is well.',
    },
    sent_at: timeOrNull('When the backend last took something. Null: not since the service began.'),
    last_failure: {
      anyOf: [{ $ref: '#/components/schemas/ExportFailure' }, { type: 'null' }],
      description: 'The last attempt that failed since the service began, also where others went well since.',
    },
  }),
  ExportFailure: object({
    at: time,
    error: { ...text, description: 'A status with what it is about, or a code.' },
    reason: {
      ...text,
      description: 'As `tracejury_reason` of `tracejury_exporter_failures_total`, or, of metrics, of `tracejury_metrics_pushes_total`.',
    },
    todo: { ...text, description: 'What helps; empty where nobody knows.' },
  }),
  Export: object({
    id: count,
    exporter: text,
    trace_id: text,
    span_id: text,
    tenant: text,
    part: { type: 'string', description: '`rules`, or the name of a judge evaluator.' },
    revision: count,
    state: { enum: exportStates },
    attempts: { ...count, description: 'Failed ones, while the backend was not known to be down.' },
    scored_at: time,
    not_before: timeOrNull('When it is tried again; null: as soon as may be.'),
    reason: { type: ['string', 'null'], description: 'Why it was given up.' },
  }),
};

/** `rows`: of an entry's scores, what the store has of them; undefined: nothing. */
function entryJson({ name, kind, isConfigured, status }: EntryStatus, rows: ExportCount | undefined, nowMs: number): JsonObject {
  return {
    ...nothing,
    name,
    kind,
    sends: status.sends,
    configured: isConfigured,
    ...(status.sends === 'metrics'
      ? {}
      : { circuit: status.circuit, retry_at: timeOrNone(status.retryAtMs), to_send: status.toSend, sending: status.sending }),
    ...(status.sends === 'scores' ? { not_stored: status.notStored, ...rowsJson(rows) } : {}),
    ...oldestJson(status, rows, nowMs),
    fault: status.fault ?? null,
    sent_at: timeOrNone(status.sentAtMs),
    last_failure: status.lastFailure === undefined ? null : failureJson(status.lastFailure),
  };
}

/** Rows of an entry that is not in the configuration. */
function strangerJson(rows: ExportCount, nowMs: number): JsonObject {
  return {
    ...nothing,
    name: rows.exporter,
    sends: 'scores',
    to_send: rows.waiting,
    not_stored: 0,
    sending: 0,
    ...rowsJson(rows),
    ...oldestJson({ sends: 'scores', toSend: rows.waiting, oldestAtMs: undefined }, rows, nowMs),
  };
}

const nothing = {
  name: '',
  kind: null,
  sends: '',
  configured: false,
  circuit: null,
  retry_at: null,
  fault: null,
  to_send: null,
  not_stored: null,
  sending: null,
  waiting: null,
  dead: null,
  oldest_at: null,
  oldest_age_seconds: null,
  sent_at: null,
  last_failure: null,
} as const;

function rowsJson(rows: ExportCount | undefined): JsonObject {
  return { waiting: rows?.waiting ?? 0, dead: rows?.dead ?? 0 };
}

function oldestJson(
  status: Pick<ScoresStatus | SpansStatus, 'sends' | 'toSend' | 'oldestAtMs'> | MetricsStatus,
  rows: ExportCount | undefined,
  nowMs: number,
): JsonObject {
  if (status.sends === 'metrics' || status.toSend === 0) return {};
  const inStore = status.sends === 'spans' || rows?.oldestAt === undefined ? Infinity : rows.oldestAt / 1_000;
  const atMs = Math.min(status.oldestAtMs ?? Infinity, inStore);
  return atMs === Infinity ? {} : { oldest_at: timeOfMs(atMs), oldest_age_seconds: Math.max(0, nowMs - atMs) / 1_000 };
}

function failureJson({ atMs, error, reason, todo }: ReportedFailure): JsonObject {
  return { at: timeOfMs(atMs), error, reason, todo };
}

function exportJson({
  id,
  exporter,
  traceId,
  spanId,
  tenant,
  part,
  revision,
  state,
  attempts,
  offeredAt,
  dueAt,
  reason,
}: ExportRow): JsonObject {
  return {
    id,
    exporter,
    trace_id: traceId,
    span_id: spanId,
    tenant,
    part,
    revision,
    state,
    attempts,
    scored_at: timeOf(offeredAt),
    not_before: dueAt === 0 || state === 'dead' ? null : timeOf(dueAt),
    reason: reason ?? null,
  };
}

function timeOrNone(ms: number | undefined): string | null {
  return ms === undefined ? null : timeOfMs(ms);
}

function timeOfMs(ms: number): string {
  return timeOf(Math.floor(ms * 1_000));
}

function timeOf(micros: Micros): string {
  return timeText(BigInt(Math.max(0, micros)) * 1_000n);
}
