/** The route of the settings: what the service runs with, and what it keeps. */
import type { JsonObject } from '../../model/json.ts';
import type { ConfigRemark } from '../../model/service-status.ts';
import { timeText } from '../../model/timestamp.ts';
import { exporterRows } from './exports.ts';
import { count, object, type Route, text, time } from './route.ts';

const seconds = (description: string): JsonObject => ({ type: 'number', minimum: 0, description });

export const settingsRoutes: readonly Route[] = [
  {
    method: 'get',
    path: '/settings',
    summary:
      'The configuration in force with its secrets masked, its warnings, exporters, the size and the retention of the store, and tokens by name.',
    path_parameters: {},
    query_parameters: {},
    answer: { $ref: '#/components/schemas/Settings' },
    async handle(deps) {
      const { store, status } = deps;
      const { file, readAtMs, printed, warnings, waiting, refused } = status.configuration();
      const { bytes, runs, oldestAt } = await store.usage();
      const keep = status.keep();
      return {
        read_at: timeOfMs(readAtMs),
        file: file ?? null,
        configuration: printed ?? null,
        warnings: warnings.map(remarkJson),
        restart_needed: waiting,
        refused: refused.map(remarkJson),
        exporters: await exporterRows(deps),
        storage: {
          bytes,
          runs,
          oldest_run_at: oldestAt === undefined ? null : timeText(BigInt(oldestAt) * 1_000n),
          retention: {
            bytes: keep.bytes,
            runs_seconds: keep.runsMs / 1_000,
            content_seconds: keep.contentMs / 1_000,
            exports_seconds: keep.exportsMs / 1_000,
            export_rows: keep.exports,
          },
        },
        tokens: status.tokens.map(({ name, may, seesOwn }) => ({ name, rights: [...may], sees: seesOwn ? 'own' : 'all' })),
        version: status.version,
        node: status.node,
        started_at: timeOfMs(status.startedAtMs),
      };
    },
  },
];

export const settingsSchemas: { readonly [name: string]: JsonObject } = {
  Settings: object({
    read_at: { ...time, description: 'Time at which the service read the configuration.' },
    file: { type: ['string', 'null'], description: 'Null: the service runs on defaults.' },
    configuration: {
      type: ['object', 'null'],
      description: 'In the form of the file, with all defaults. Secrets are masked. Null: the program that runs the service gave none.',
    },
    warnings: {
      type: 'array',
      items: { $ref: '#/components/schemas/ConfigRemark' },
      description: 'Probable mistakes in the configuration.',
    },
    restart_needed: {
      type: 'array',
      items: text,
      description: 'Keys whose new values take effect after a restart. Until then the service keeps the values from its start.',
    },
    refused: {
      type: 'array',
      items: { $ref: '#/components/schemas/ConfigRemark' },
      description: 'Faults of the last reload, which changed nothing. Empty: the last reload was applied.',
    },
    exporters: { type: 'array', items: { $ref: '#/components/schemas/Exporter' }, description: 'As `GET /exporters` lists them.' },
    storage: object({
      bytes: { ...count, description: 'Bytes that the store uses.' },
      runs: { ...count, description: 'Stored runs.' },
      oldest_run_at: { ...time, type: ['string', 'null'], description: 'Start of the oldest run; null: there is none.' },
      retention: {
        ...object({
          bytes: { ...count, description: '`store.keep.bytes`: beyond it the oldest runs go.' },
          runs_seconds: seconds('`store.keep.runs`.'),
          content_seconds: seconds('`store.keep.content`: of texts and spans.'),
          exports_seconds: seconds('`store.keep.exports`: of waiting scores and dead letters.'),
          export_rows: { ...count, description: '`store.keep.export_rows`.' },
        }),
        description: 'Ages in seconds.',
      },
    }),
    tokens: {
      type: 'array',
      items: object({
        name: text,
        rights: { type: 'array', items: { enum: ['ingest', 'read', 'annotate', 'operate'] } },
        sees: { enum: ['all', 'own'], description: '`own`: the tenant of its name alone.' },
      }),
      description: '`listen.tokens` without their values.',
    },
    version: { ...text, description: 'Version of tracejury.' },
    node: { ...text, description: 'Version of Node.js.' },
    started_at: time,
  }),
  ConfigRemark: object({
    file: text,
    line: { ...count, description: 'From 1; 0: no line.' },
    column: count,
    key: { ...text, description: 'As in `closing.settle`; empty: the whole file.' },
    problem: text,
    todo: text,
  }),
};

function remarkJson({ file, line, column, key, problem, todo }: ConfigRemark): JsonObject {
  return { file, line, column, key, problem, todo };
}

function timeOfMs(ms: number): string {
  return timeText(BigInt(Math.floor(ms * 1_000)) * 1_000n);
}
