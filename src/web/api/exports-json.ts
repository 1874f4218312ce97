/** What waits for backends, as the API writes it. */
import { exportStates, type ExportCount, type ExportRow } from '../../model/export-store.ts';
import type { ExporterStanding, ToldFailure } from '../../model/exporter-standing.ts';
import type { JsonObject } from '../../model/json.ts';
import { timeText } from '../../model/time-text.ts';
import type { Micros } from '../../stores/store.ts';
import { object } from './figures-json.ts';

const text: JsonObject = { type: 'string' };
const count: JsonObject = { type: 'integer', minimum: 0 };
const time: JsonObject = { type: 'string', format: 'date-time' };
const timeOrNull = (description: string): JsonObject => ({ ...time, type: ['string', 'null'], description });

/** Of the OpenAPI document. */
export const exportSchemas: { readonly [name: string]: JsonObject } = {
  Exporter: object({
    name: text,
    configured: { type: 'boolean', description: 'False: nobody sends what waits.' },
    circuit: { enum: ['closed', 'half_open', 'open', null], description: 'Open: the backend is left alone for a while. Half open: it is tried with one item. Null: not configured.' },
    retry_at: timeOrNull('When it is tried again, while the circuit is open.'),
    fault: { type: ['string', 'null'], description: 'Why the backend took nothing the last time: a status with what it is about, or a code. Null: it takes what it gets, or was not tried.' },
    to_send: { ...count, description: 'Scores that are still to be sent: all in memory and in the store, also those that were not read from there yet. As `tracejury_exporter_queue`.' },
    not_stored: { ...count, description: 'Of these, those that stand in memory alone: their run is not written yet.' },
    sending: { ...count, description: 'Of these, those that are on their way.' },
    waiting: { ...count, description: 'Rows of the store that wait. What was sent in the last second may be among them.' },
    dead: { ...count, description: 'Rows that were given up: dead letters. They are not among those to be sent.' },
    oldest_at: timeOrNull('When the oldest that is to be sent was scored.'),
    oldest_age_seconds: { type: ['number', 'null'], minimum: 0, description: 'How long ago that is.' },
    sent_at: timeOrNull('When the backend last took something. Null: not since the service began.'),
    last_failure: { anyOf: [{ $ref: '#/components/schemas/ExportFailure' }, { type: 'null' }], description: 'The last attempt that failed since the service began, also where others went well since.' },
  }),
  ExportFailure: object({
    at: time, error: { ...text, description: 'A status with what it is about, or a code.' }, reason: { ...text, description: 'As `tracejury_reason` of `tracejury_exporter_failures_total`.' }, todo: { ...text, description: 'What helps; empty where nobody knows.' },
  }),
  Export: object({
    id: count, exporter: text, trace_id: text, span_id: text, tenant: text, part: { type: 'string', description: '`rules`, or the name of a judge evaluator.' }, revision: count, state: { enum: exportStates },
    attempts: { ...count, description: 'Failed ones, while the backend was not known to be down.' }, scored_at: time, not_before: timeOrNull('When it is tried again; null: as soon as may be.'), reason: { type: ['string', 'null'], description: 'Why it was given up.' },
  }),
};

export interface ToldExporter {
  /** Undefined: it is not configured. */
  readonly standing: ExporterStanding | undefined;
  /** Of its rows in the store; undefined: it has none. */
  readonly count: ExportCount | undefined;
  readonly nowMs: number;
}

export function exporterJson(name: string, { standing, count: rows, nowMs }: ToldExporter): JsonObject {
  const toSend = standing?.toSend ?? rows?.waiting ?? 0;
  const oldestAtMs = toSend === 0 ? Infinity : Math.min(standing?.oldestAtMs ?? Infinity, rows?.oldestAt === undefined ? Infinity : rows.oldestAt / 1_000);
  return {
    name,
    configured: standing !== undefined,
    circuit: standing?.circuit ?? null,
    retry_at: timeOrNone(standing?.retryAtMs),
    fault: standing?.fault ?? null,
    to_send: toSend,
    not_stored: standing?.notStored ?? 0,
    sending: standing?.sending ?? 0,
    waiting: rows?.waiting ?? 0,
    dead: rows?.dead ?? 0,
    oldest_at: oldestAtMs === Infinity ? null : timeOfMs(oldestAtMs),
    oldest_age_seconds: oldestAtMs === Infinity ? null : Math.max(0, nowMs - oldestAtMs) / 1_000,
    sent_at: timeOrNone(standing?.sentAtMs),
    last_failure: standing?.lastFailure === undefined ? null : failureJson(standing.lastFailure),
  };
}

function failureJson({ atMs, error, reason, todo }: ToldFailure): JsonObject {
  return { at: timeOfMs(atMs), error, reason, todo };
}

export function exportJson({ id, exporter, traceId, spanId, tenant, part, revision, state, attempts, offeredAt, dueAt, reason }: ExportRow): JsonObject {
  return { id, exporter, trace_id: traceId, span_id: spanId, tenant, part, revision, state, attempts, scored_at: timeOf(offeredAt), not_before: dueAt === 0 || state === 'dead' ? null : timeOf(dueAt), reason: reason ?? null };
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
