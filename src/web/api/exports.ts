/** The routes of exporters: waiting scores and dead letters. */
import type { EntryStatus, ReportedFailure, ScoresStatus, SpansStatus } from '../../model/exporter-status.ts';
import type { JsonObject } from '../../model/json.ts';
import * as api from '../../model/resource.ts';
import { type ExportCount, type ExportRow, exportStates } from '../../model/store/export-store.ts';
import { type ApiDeps, list, named, nextOf, pages, type Route, runPageOf, textParameter } from './route.ts';

const failure = api.resource<ReportedFailure>()('ExportFailure', {
  at: [api.time, ({ atMs }) => api.ofMs(atMs)],
  error: { ...api.text, description: 'A status with its subject, or a code.' },
  reason: {
    ...api.text,
    description: '`tracejury_reason` of `tracejury_exporter_failures_total`; for metrics, of `tracejury_metrics_pushes_total`.',
  },
  todo: { ...api.text, description: 'Advice; empty when there is none.' },
});

/** An entry of `export` with its rows in the store, or rows without an entry. */
interface ExporterRow {
  readonly name: string;
  readonly entry: EntryStatus | undefined;
  readonly sends: EntryStatus['status']['sends'];
  readonly rows: ExportCount | undefined;
  readonly nowMs: number;
}

/** Metrics do not wait, and have no circuit breaker. */
function queueOf({ entry }: ExporterRow): ScoresStatus | SpansStatus | undefined {
  return entry === undefined || entry.status.sends === 'metrics' ? undefined : entry.status;
}

/** All rows without an entry wait. */
const strangers = ({ entry, rows }: ExporterRow, waiting: (rows: ExportCount) => number): number | undefined =>
  entry === undefined && rows !== undefined ? waiting(rows) : undefined;

const ofScores = ({ sends }: ExporterRow, value: number | undefined): number | undefined => (sends === 'scores' ? (value ?? 0) : undefined);

function oldestMs(row: ExporterRow): number | undefined {
  const toSend = queueOf(row)?.toSend ?? strangers(row, ({ waiting }) => waiting) ?? 0;
  if (toSend === 0) return undefined;
  const inStore = row.sends === 'spans' || row.rows?.oldestAt === undefined ? Infinity : row.rows.oldestAt / 1_000;
  const atMs = Math.min(queueOf(row)?.oldestAtMs ?? Infinity, inStore);
  return atMs === Infinity ? undefined : atMs;
}

export const exporterResource = api.resource<ExporterRow>()('Exporter', {
  name: { ...api.text, description: 'Name of the entry of `export`. An entry of the kind `forward` has two rows.' },
  kind: [
    api.textOrNull('`to` of the entry. Null when it is not in the configuration and only has rows in the store.'),
    ({ entry }) => entry?.kind,
  ],
  sends: {
    enum: ['scores', 'spans', 'metrics'],
    description:
      '`spans`: requests of agents that a `forward` entry sends; its `scores` came too late for their spans. `metrics`: the push of a `metrics` entry.',
  },
  configured: [
    {
      ...api.flag,
      description: 'False when it is not in the configuration. The service does not send its scores; it still forwards its spans.',
    },
    ({ entry }) => entry?.isConfigured ?? false,
  ],
  circuit: [
    {
      enum: ['closed', 'half_open', 'open', null],
      description:
        '`open`: the exporter sends nothing for a while. `half_open`: it tries one item. Null for entries that are not configured, and for metrics, which have no circuit breaker.',
    },
    (row) => queueOf(row)?.circuit,
  ],
  retry_at: [api.orNull(api.time, 'Time of the next attempt while the circuit is open.'), (row) => api.ofMs(queueOf(row)?.retryAtMs)],
  fault: [
    api.textOrNull(
      'Error of the last attempt: a status with its subject, or a code. Null when the last attempt succeeded, or there was none.',
    ),
    ({ entry }) => entry?.status.fault,
  ],
  to_send: [
    api.countOrNull(
      'Queue length. Scores: all in memory and in the store, as `tracejury_exporter_queue`. Spans: requests with spans to forward, as `tracejury_forward_waiting`. Null for metrics, which do not wait.',
    ),
    (row) => queueOf(row)?.toSend ?? strangers(row, ({ waiting }) => waiting),
  ],
  not_stored: [
    api.countOrNull('Scores of `to_send` in memory only: their run is not written yet. Null for other kinds.'),
    (row) => ofScores(row, row.entry?.status.sends === 'scores' ? row.entry.status.notStored : 0),
  ],
  sending: [api.countOrNull('Items of `to_send` in flight. Null for metrics.'), (row) => queueOf(row)?.sending ?? strangers(row, () => 0)],
  waiting: [
    api.countOrNull('Waiting rows of the store, perhaps with rows sent in the last second. Null for other kinds.'),
    (row) => ofScores(row, row.rows?.waiting),
  ],
  dead: [
    api.countOrNull('Dead letters in the store. `to_send` does not count them. Null for other kinds.'),
    (row) => ofScores(row, row.rows?.dead),
  ],
  oldest_at: [
    api.orNull(api.time, 'Time at which the oldest item of `to_send` was scored, or arrived. Null when nothing waits.'),
    (row) => api.ofMs(oldestMs(row)),
  ],
  oldest_age_seconds: [
    { ...api.orNull(api.number), minimum: 0, description: 'Age of that item. Spans always wait for their verdicts, up to `hold`.' },
    (row) => secondsSince(row.nowMs, oldestMs(row)),
  ],
  sent_at: [
    api.orNull(api.time, 'Time at which the backend last accepted an item. Null when it has not since the start of the service.'),
    ({ entry }) => api.ofMs(entry?.status.sentAtMs),
  ],
  last_failure: [
    api.optional(failure, 'The last failed attempt since the start of the service, also after later successes.'),
    ({ entry }) => entry?.status.lastFailure,
  ],
});

function secondsSince(nowMs: number, atMs: number | undefined): number | undefined {
  return atMs === undefined ? undefined : Math.max(0, nowMs - atMs) / 1_000;
}

const storedExport = api.resource<ExportRow>()('Export', {
  id: api.count,
  exporter: api.text,
  trace_id: api.text,
  span_id: api.text,
  tenant: api.text,
  part: { ...api.text, description: '`rules`, or the name of a judge evaluator.' },
  revision: api.count,
  state: { enum: exportStates },
  attempts: { ...api.count, description: 'Failed attempts, without those while the backend was down.' },
  scored_at: [api.time, ({ offeredAt }) => offeredAt],
  not_before: [
    api.orNull(api.time, 'Time of the next attempt; null: as soon as possible.'),
    ({ dueAt, state }) => (dueAt === 0 || state === 'dead' ? null : dueAt),
  ],
  reason: api.textOrNull('Why it is a dead letter.'),
});

export const exportSchemas = api.schemasOf(exporterResource, failure, storedExport);

const exporter = { ...textParameter, description: 'Name of an entry of `export`.' } as const;
/** Dead letters of one request: at most a second of work. */
const retriedMax = 10_000;

export const exportRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/exporters',
    summary:
      'The queue and the backend status of each entry of `export`, also of entries that the configuration no longer has. An entry that forwards spans has two rows: one of spans, one of late scores. Pushed metrics have one.',
    path_parameters: {},
    query_parameters: {},
    answer: list('exporters', exporterResource),
    handle: async (deps) => ({ exporters: await exporterRows(deps), next: null }),
  },
  {
    method: 'get',
    path: '/exports',
    summary: 'Lists scores that wait in the store for a backend, and dead letters, oldest first.',
    path_parameters: {},
    query_parameters: { exporter, state: { enum: exportStates, description: '`waiting`, or `dead`: a dead letter.' }, ...pages },
    answer: list('exports', storedExport),
    async handle({ store }, query) {
      const { state } = query;
      const { limit, after } = runPageOf(query);
      const page = await store.exports.list({
        limit,
        ...named(query, 'exporter', 'exporter'),
        ...(state === 'waiting' || state === 'dead' ? { state } : {}),
        ...(after === undefined ? {} : { after: after.id }),
      });
      return {
        exports: page.exports.map(storedExport.write),
        next: nextOf(page.next === undefined ? undefined : { startedAt: 0, id: page.next }),
      };
    },
  },
  {
    method: 'post',
    path: '/exports/retry',
    summary: `Sends dead letters again: all, those of one exporter, or a single one. It takes the oldest ${retriedMax}; after an answer with as many, send another request.`,
    path_parameters: {},
    query_parameters: { exporter, id: { type: 'integer', minimum: 1, description: '`id` of a dead letter.' } },
    answer: api.object({ retried: { ...api.count, description: 'Dead letters that wait again.' } }),
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

/** Ordered by name. */
export async function exporterRows({
  store,
  clock,
  exporters,
}: Pick<ApiDeps, 'store' | 'clock' | 'exporters'>): Promise<readonly JsonObject[]> {
  const counts = new Map((await store.exports.counts()).map((one) => [one.exporter, one]));
  // After the store, so that rows written meanwhile do not count twice.
  const entries = exporters.statuses();
  const nowMs = clock.nowMs();
  const known = new Set(entries.flatMap(({ name, status }) => (status.sends === 'scores' ? [name] : [])));
  const unknown = [...counts.values()].filter((one) => !known.has(one.exporter));
  const rows: readonly ExporterRow[] = [
    ...entries.map((entry) => ({ name: entry.name, entry, sends: entry.status.sends, rows: counts.get(entry.name), nowMs })),
    ...unknown.map((own) => ({ name: own.exporter, entry: undefined, sends: 'scores' as const, rows: own, nowMs })),
  ];
  return rows.toSorted((one, other) => order(one.name, other.name) || order(one.sends, other.sends)).map(exporterResource.write);
}

function order(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
