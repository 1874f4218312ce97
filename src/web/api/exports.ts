/** The routes of exporters: waiting scores and dead letters. */
import type { EntryStatus, MetricsStatus, ReportedFailure, ScoresStatus, SpansStatus } from '../../model/exporter-status.ts';
import type { JsonObject } from '../../model/json.ts';
import { type ExportCount, type ExportRow, exportStates } from '../../model/store/export-store.ts';
import { type Micros, timeText } from '../../model/timestamp.ts';
import {
  type ApiDeps,
  count,
  cursorText,
  limitDefault,
  list,
  named,
  object,
  pages,
  placeOf,
  type Route,
  text,
  textParameter,
  time,
} from './route.ts';

const exporter = { ...textParameter, description: 'Name of an entry of `export`.' } as const;
/** Dead letters of one request: at most a second of work. */
const retriedMax = 10_000;

export const exportRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/exporters',
    summary:
      'The queue and the backend status of each entry of `export`, also of entries that are no longer in the configuration. An entry that forwards spans has two rows: one of spans, one of late scores. Pushed metrics have one.',
    path_parameters: {},
    query_parameters: {},
    answer: list('exporters', 'Exporter'),
    handle: async (deps) => ({ exporters: await exporterRows(deps), next: null }),
  },
  {
    method: 'get',
    path: '/exports',
    summary: 'Lists scores that wait in the store for a backend, and dead letters, oldest first.',
    path_parameters: {},
    query_parameters: { exporter, state: { enum: exportStates, description: '`waiting`, or `dead`: a dead letter.' }, ...pages },
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

/** By name. */
export async function exporterRows({
  store,
  clock,
  exporters,
}: Pick<ApiDeps, 'store' | 'clock' | 'exporters'>): Promise<readonly JsonObject[]> {
  const counts = new Map((await store.exports.counts()).map((one) => [one.exporter, one]));
  // After the store, so that rows written meanwhile do not count twice.
  const entries = exporters.statuses();
  const known = new Set(entries.flatMap(({ name, status }) => (status.sends === 'scores' ? [name] : [])));
  const strangers = [...counts.values()]
    .filter((one) => !known.has(one.exporter))
    .map((one) => ({ name: one.exporter, sends: 'scores', row: strangerJson(one, clock.nowMs()) }));
  const rows = [
    ...entries.map((entry) => ({
      name: entry.name,
      sends: entry.status.sends,
      row: entryJson(entry, counts.get(entry.name), clock.nowMs()),
    })),
    ...strangers,
  ];
  return rows.toSorted((one, other) => order(one.name, other.name) || order(one.sends, other.sends)).map(({ row }) => row);
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

const countOrNull: JsonObject = { ...count, type: ['integer', 'null'] };
const timeOrNull = (description: string): JsonObject => ({ ...time, type: ['string', 'null'], description });

export const exportSchemas: { readonly [name: string]: JsonObject } = {
  Exporter: object({
    name: { ...text, description: 'Of the entry of `export`. An entry of the kind `forward` has two rows.' },
    kind: {
      type: ['string', 'null'],
      description: '`to` of the entry. Null: it is not in the configuration and only has rows in the store.',
    },
    sends: {
      enum: ['scores', 'spans', 'metrics'],
      description:
        '`spans`: requests of agents that a `forward` entry sends; its `scores` came too late for their spans. `metrics`: the push of a `metrics` entry.',
    },
    configured: {
      type: 'boolean',
      description: 'False: it is not in the configuration. The service does not send its scores; it still forwards its spans.',
    },
    circuit: {
      enum: ['closed', 'half_open', 'open', null],
      description:
        'Open: the exporter sends nothing for a while. Half open: it tries one item. Null: not configured, or metrics, which have no circuit breaker.',
    },
    retry_at: timeOrNull('Time of the next attempt while the circuit is open.'),
    fault: {
      type: ['string', 'null'],
      description: 'Error of the last attempt: a status with its subject, or a code. Null: the last attempt succeeded, or there was none.',
    },
    to_send: {
      ...countOrNull,
      description:
        'Queue length. Scores: all in memory and in the store, as `tracejury_exporter_queue`. Spans: requests with spans to forward, as `tracejury_forward_waiting`. Null: metrics, which do not wait.',
    },
    not_stored: {
      ...countOrNull,
      description: 'Scores of `to_send` in memory only: their run is not written yet. Null: not scores.',
    },
    sending: { ...countOrNull, description: 'Items of `to_send` in flight. Null: metrics.' },
    waiting: {
      ...countOrNull,
      description: 'Waiting rows of the store, perhaps with rows sent in the last second. Null: not scores.',
    },
    dead: { ...countOrNull, description: 'Dead letters in the store. `to_send` does not count them. Null: not scores.' },
    oldest_at: timeOrNull('Time at which the oldest item of `to_send` was scored, or came. Null: nothing waits.'),
    oldest_age_seconds: {
      type: ['number', 'null'],
      minimum: 0,
      description: 'Age of that item. Spans always wait for their verdicts, up to `hold`.',
    },
    sent_at: timeOrNull('Time at which the backend last accepted an item. Null: not since the start of the service.'),
    last_failure: {
      anyOf: [{ $ref: '#/components/schemas/ExportFailure' }, { type: 'null' }],
      description: 'The last failed attempt since the start of the service, also after later successes.',
    },
  }),
  ExportFailure: object({
    at: time,
    error: { ...text, description: 'A status with its subject, or a code.' },
    reason: {
      ...text,
      description: '`tracejury_reason` of `tracejury_exporter_failures_total`; for metrics, of `tracejury_metrics_pushes_total`.',
    },
    todo: { ...text, description: 'Advice; empty when there is none.' },
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
    attempts: { ...count, description: 'Failed attempts, without those while the backend was down.' },
    scored_at: time,
    not_before: timeOrNull('Time of the next attempt; null: as soon as possible.'),
    reason: { type: ['string', 'null'], description: 'Why it is a dead letter.' },
  }),
};

/** `rows`: the rows of the entry in the store, if any. */
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
