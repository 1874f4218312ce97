/** What waits for backends, as the API writes it. */
import { exportStates, type ExportCount, type ExportRow } from '../../model/store/export-store.ts';
import type { EntryStatus, MetricsStatus, ScoresStatus, SpansStatus, ReportedFailure } from '../../model/exporter-status.ts';
import type { JsonObject } from '../../model/json.ts';
import { timeText, type Micros } from '../../model/timestamp.ts';
import { object } from './figures-json.ts';

const text: JsonObject = { type: 'string' };
const count: JsonObject = { type: 'integer', minimum: 0 };
const countOrNull: JsonObject = { ...count, type: ['integer', 'null'] };
const time: JsonObject = { type: 'string', format: 'date-time' };
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
export function entryJson(
  { name, kind, isConfigured, status: standing }: EntryStatus,
  rows: ExportCount | undefined,
  nowMs: number,
): JsonObject {
  return {
    ...nothing,
    name,
    kind,
    sends: standing.sends,
    configured: isConfigured,
    ...(standing.sends === 'metrics'
      ? {}
      : { circuit: standing.circuit, retry_at: timeOrNone(standing.retryAtMs), to_send: standing.toSend, sending: standing.sending }),
    ...(standing.sends === 'scores' ? { not_stored: standing.notStored, ...rowsJson(rows) } : {}),
    ...oldestJson(standing, rows, nowMs),
    fault: standing.fault ?? null,
    sent_at: timeOrNone(standing.sentAtMs),
    last_failure: standing.lastFailure === undefined ? null : failureJson(standing.lastFailure),
  };
}

/** Rows of an entry that is not in the configuration. */
export function strangerJson(rows: ExportCount, nowMs: number): JsonObject {
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
  standing: Pick<ScoresStatus | SpansStatus, 'sends' | 'toSend' | 'oldestAtMs'> | MetricsStatus,
  rows: ExportCount | undefined,
  nowMs: number,
): JsonObject {
  if (standing.sends === 'metrics' || standing.toSend === 0) return {};
  const inStore = standing.sends === 'spans' || rows?.oldestAt === undefined ? Infinity : rows.oldestAt / 1_000;
  const atMs = Math.min(standing.oldestAtMs ?? Infinity, inStore);
  return atMs === Infinity ? {} : { oldest_at: timeOfMs(atMs), oldest_age_seconds: Math.max(0, nowMs - atMs) / 1_000 };
}

function failureJson({ atMs, error, reason, todo }: ReportedFailure): JsonObject {
  return { at: timeOfMs(atMs), error, reason, todo };
}

export function exportJson({
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
